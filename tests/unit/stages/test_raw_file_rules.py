"""The rules by which a file is read: again after a release that knows its format, later while somebody writes it."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from sourcebook.files.listing import FileEntry
from sourcebook.files.source import Source
from sourcebook.model.selection import EVERYTHING
from sourcebook.stages.raw_files.rules import KnownFile, is_moving, is_settled, wants_reading

SOURCE = Source(1, "/library", ("**/*",), (), 1_000)
LONG_AGO = 1_600_000_000_000_000_000


def listed(name: str) -> FileEntry:
    return FileEntry(f"/library/{name}", f"/library/{name}", 100, str(LONG_AGO))


def recorded(name: str, media_type: str) -> KnownFile:
    return KnownFile(
        uri=f"/library/{name}",
        size=100,
        modified=str(LONG_AGO),
        live=True,
        retry_due=False,
        failed=False,
        hashed_ns=time.time_ns(),
        skip_reason=None,
        media_type=media_type,
        sha256=b"",
    )


@pytest.mark.parametrize(
    ("name", "media_type", "is_read"),
    [
        ("lock.srt", "text/plain", True),
        ("notes.org", "text/plain", True),
        ("lock.dbk", "text/plain", True),
        ("lock.fb2", "text/plain", True),
        ("lock.tgz", "application/gzip", True),
        ("lock.gz", "application/gzip", False),
        ("levels.ipynb", "application/json", True),
        ("lock.srt", "application/x-subrip", False),
        ("lock.srt", "application/pdf", False),
        ("notes.txt", "text/plain", False),
        ("data.json", "application/json", False),
    ],
)
def test_a_file_of_mere_text_is_read_again_where_its_format_is_known_now(
    name: str, media_type: str, is_read: bool
) -> None:
    """The name and the recorded media type decide; after reading, the new media type is recorded and all is settled."""
    entry, known = listed(name), recorded(name, media_type)
    assert is_settled(entry, known, SOURCE) is not is_read
    assert wants_reading(entry, known, SOURCE, EVERYTHING) is is_read


@pytest.mark.parametrize(
    ("seconds", "moves"), [(0, True), (9, True), (-9, True), (11, False), (-11, False), (-86_400, False)]
)
def test_a_file_is_moving_that_changed_of_late(seconds: float, moves: bool) -> None:
    """By the time that its file system or store says; a time ahead by more is a wrong clock's."""
    ago = time.time() - seconds
    local = str(int(ago * 1e9))
    for modified in (local, f"{local} 17", str(datetime.fromtimestamp(ago, UTC)), str(_naive(ago))):
        entry = FileEntry("/library/a.md", "/library/a.md", 1, modified)
        assert is_moving(entry, 10.0) == moves, modified
        assert not is_moving(entry, 0.0)


def _naive(moment: float) -> datetime:
    """Return a time without a zone, which stores mean in UTC."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=moment)).replace(tzinfo=None)


@pytest.mark.parametrize("modified", ["", "3f2a9c", "blob 12ab", '"0x8DC0123456789"', "20261128T1"])
def test_what_says_no_time_is_never_moving(modified: str) -> None:
    """Objects of a store, blobs of a repository and uploads appear whole."""
    assert not is_moving(FileEntry("s3://b/a.md", "b/a.md", 1, modified), 1e12)

"""Files whose format was mere text to an earlier version are read again once, although they are unchanged."""

import time

import pytest

from sourcebook.files.listing import FileEntry
from sourcebook.files.source import Source
from sourcebook.model.selection import EVERYTHING
from sourcebook.stages.raw_files.rules import KnownFile, is_settled, wants_reading

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

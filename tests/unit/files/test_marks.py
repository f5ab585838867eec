"""The marks by which an edit of a file or of a stored object is noticed without reading."""

import os
from pathlib import Path

import fsspec
import pytest

from sourcebook.files.listing import FileEntry, Listing, _marks
from sourcebook.files.source import Source
from sourcebook.files.walk import Status


def entry(location: str) -> FileEntry:
    listing = Listing(Source(1, location, ("**/*",), (), 1_000_000), {}, b"")
    (found,) = [entry for folder in listing for entry in folder.entries or ()]
    return found


@pytest.mark.parametrize("prefix", ["", "file://"])
def test_an_edit_that_keeps_size_and_time_differs(tmp_path: Path, prefix: str) -> None:
    """Behind a URL as well: fsspec's own file system tells the change time."""
    path = tmp_path / "docs" / "a.md"
    path.parent.mkdir()
    path.write_text("green")
    before, status = entry(f"{prefix}{path.parent}"), path.stat()
    path.write_text("white")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    after = entry(f"{prefix}{path.parent}")
    assert (before.size, before.modified) == (after.size, after.modified)
    assert before.touched != after.touched


def test_times_that_no_64_bits_hold_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("x")
    far = Status(1, 2**63 - 1, -(2**63), 2**64 - 1)
    assert Status.unpacked(far.packed) == far
    os.utime(path, (2**34, 2**34))
    if path.stat().st_mtime == 2**34:  # the file system keeps such times
        assert entry(str(tmp_path)).modified == str(2**63 - 1)


@pytest.mark.parametrize(
    ("details", "modified", "touched"),
    [
        ({"ETag": '"5c1e"', "LastModified": "today", "VersionId": "3"}, '"5c1e"', ""),
        ({"LastModified": "today", "created": "long ago", "md5Hash": "9c=="}, "today", "created=long ago md5Hash=9c=="),
        ({"generation": 4}, "", "generation=4"),
        ({}, "", ""),
    ],
)
def test_a_mark_of_content_suffices_and_times_take_what_there_is_beside(
    details: dict[str, object], modified: str, touched: str
) -> None:
    assert _marks(details) == (modified, None, touched)


def test_an_object_that_is_written_again_differs() -> None:
    system = fsspec.filesystem("memory")
    system.pipe("/marks/a.md", b"green")
    before = entry("memory://marks")
    system.pipe("/marks/a.md", b"white")
    after = entry("memory://marks")
    assert before.modified != after.modified

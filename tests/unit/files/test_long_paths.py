"""Files whose address no index of the database holds: named and not read, and the others are listed."""

import os
from pathlib import Path

from sourcebook.files.listing import LONGEST_URI, FileEntry, ListedFolder, Listing, folder_uri, within_index
from sourcebook.files.source import Source


def test_a_file_deep_below_is_skipped_by_name(tmp_path: Path) -> None:
    """Each has an address of its own, the same at every listing, within the folder that is listed."""
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(5):
            os.mkdir("深" * 70, dir_fd=here)
            below = os.open("深" * 70, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
            for name in ("a.md", "b.md"):
                os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=here))
    finally:
        os.close(here)
    folders = list(Listing(_source(tmp_path), {}, b""))
    entries = [entry for folder in folders for entry in folder.entries or ()]
    assert entries == [entry for folder in Listing(_source(tmp_path), {}, b"") for entry in folder.entries or ()]
    assert len({entry.uri for entry in entries}) == 10
    assert max(len(entry.uri) for entry in entries) <= LONGEST_URI
    assert all(folder_uri(entry.uri) == folder.uri for folder in folders for entry in folder.entries or ())
    skipped = [entry for entry in entries if entry.skip_reason]
    assert 0 < len(skipped) < 10
    assert all("shorten the names of its folders" in (entry.skip_reason or "") for entry in skipped)


def test_what_is_short_stays_as_it_is() -> None:
    folder = ListedFolder("file:///a/", b"", 1, [FileEntry("file:///a/b.md", "/a/b.md")])
    assert within_index(folder) is folder
    assert within_index(ListedFolder("file:///" + "é" * 1_000 + "/", b"", 0, None)).uri.count("é") == 1_000


def _source(root: Path) -> Source:
    return Source(id=1, location=str(root), include=("**",), exclude=(), max_bytes=1 << 20)

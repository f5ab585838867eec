"""Read one file whole, together with what the store says of the bytes that were read."""

import os
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from sourcebook.files.source import Source


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of a file and its mark of change at the moment they were read."""

    content: bytes
    modified: str
    """As in `FileEntry.modified`; empty where the store does not say."""


def read_file(source: Source, uri: str) -> FileContent:
    """Read the file a URI names.

    Raises:
        OSError: it cannot be read.
    """
    if source.is_local:
        with open(local_path(uri), "rb") as file:  # noqa: PTH123 - the path may hold bytes that are not UTF-8
            return FileContent(file.read(), str(os.fstat(file.fileno()).st_mtime_ns))
    system, _ = source.file_system()
    return FileContent(bytes(system.cat_file(uri)), "")


def local_path(uri: str) -> str:
    """Return the local path of a `file://` URI."""
    return os.fsdecode(unquote_to_bytes(uri.removeprefix("file://")))


def file_name(uri: str) -> str:
    """Return the last part of a URI's path, readable."""
    path = unquote(uri.removeprefix("file://"), errors="replace") if uri.startswith("file://") else urlsplit(uri).path
    return PurePosixPath(path).name or uri


def name_as_title(uri: str) -> str:
    """Return a title for a document that has none: its file name without the ending."""
    return PurePosixPath(file_name(uri)).stem.replace("_", " ").strip() or file_name(uri)

"""List a source: what lies there now, by name, size and the store's mark of change. No content is read."""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote_from_bytes

from sourcebook.errors import ListingError
from sourcebook.files.patterns import path_filter, visits_hidden_folders
from sourcebook.files.source import Source

_PLAIN = re.compile(r"[A-Za-z0-9/._~!$&'()*+,;=:@-]*").fullmatch


class FileEntry(NamedTuple):
    """One file as the listing sees it. A tuple, because there are many and making one is on the hot path."""

    uri: str
    path: str
    """Where to open it: a local path, or a path within the remote file system."""
    size: int = 0
    modified: str = ""
    """mtime in nanoseconds for a local file; ETag or modification time elsewhere."""
    skip_reason: str | None = None
    """Why it will not be read: not a regular file, or a link that leads nowhere."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What one look at a source found."""

    entries: dict[str, FileEntry]
    """By URI."""
    error: str | None = None
    """Why the listing is not complete; then nothing may be called gone."""


def file_uri(path: str) -> str:
    """Return the `file://` URI of an absolute local path; any byte a name may hold is kept by percent-encoding."""
    return "file://" + _quoted(path)


def _quoted(path: str) -> str:
    return path if _PLAIN(path) else quote_from_bytes(os.fsencode(path), safe="/~!$&'()*+,;=:@")


def list_source(source: Source) -> Listing:
    """List a source; an unreachable or unreadable part makes the listing incomplete instead of raising."""
    try:
        if source.is_local:
            errors: list[str] = []
            entries = {entry.uri: entry for entry in _list_folder(source, errors)}
            return Listing(entries, _readable("; ".join(errors[:3])) or None)
        return Listing({entry.uri: entry for entry in _list_remote(source)})
    except ListingError as error:
        return Listing({}, _readable(str(error)))


def _readable(text: str) -> str:
    """Return a text that Postgres can hold, whatever bytes a file name in it has."""
    return text.encode("utf-8", "replace").decode().replace("\0", "?")


def _list_folder(source: Source, errors: list[str]) -> Iterator[FileEntry]:
    root = source.location
    if Path(root).is_file():
        status = os.stat(root)  # noqa: PTH116 - the loop below is the hot path, and this is its sibling
        yield FileEntry(file_uri(root), root, status.st_size, str(status.st_mtime_ns))
        return
    if not Path(root).is_dir():
        raise ListingError(f"the folder {root} does not exist or is not mounted")
    takes = path_filter(source.include, source.exclude)
    hidden = visits_hidden_folders(source.include)
    prefix = len(root.rstrip("/")) + 1
    # Folders to read, each with the (device, inode) of itself and all above it: a link back up is a loop.
    top = os.stat(root)  # noqa: PTH116
    pending: list[tuple[str, frozenset[tuple[int, int]]]] = [(root, frozenset([(top.st_dev, top.st_ino)]))]
    while pending:
        folder, above = pending.pop()
        try:
            children = sorted(os.scandir(folder), key=lambda child: child.name, reverse=True)
        except OSError as error:
            errors.append(f"the folder {folder} cannot be listed: {error.strerror}")
            continue
        folder_uri = file_uri(folder).rstrip("/") + "/"
        while children:
            child = children.pop()  # what it keeps of its file goes with it
            path = child.path
            try:
                status = child.stat()
            except OSError as error:
                if takes(path[prefix:]):
                    reason = "symbolic link that leads nowhere" if child.is_symlink() else f"{error.strerror}"
                    yield FileEntry(file_uri(path), path, skip_reason=reason)
                continue
            if stat.S_ISREG(status.st_mode):
                if takes(path[prefix:]):
                    uri = folder_uri + _quoted(child.name)
                    yield FileEntry(uri, path, status.st_size, str(status.st_mtime_ns))
            elif stat.S_ISDIR(status.st_mode):
                identity = (status.st_dev, status.st_ino)
                if identity in above:
                    yield FileEntry(file_uri(path), path, skip_reason="symbolic link to a folder above it: a loop")
                elif hidden or not child.name.startswith("."):
                    pending.append((path, above | {identity}))
            elif takes(path[prefix:]):
                yield FileEntry(file_uri(path), path, skip_reason="not a regular file")


def _list_remote(source: Source) -> Iterator[FileEntry]:
    takes = path_filter(source.include, source.exclude)
    try:
        system, root = source.file_system()
        reachable = system.exists(root)
        found: dict[str, dict[str, Any]] = system.find(root, detail=True) if reachable else {}
    except Exception as error:  # each file system has its own errors; all mean that it is not listed
        raise ListingError(f"{source.location} cannot be listed: {error}") from error
    if not reachable:
        raise ListingError(f"{source.location} does not exist or cannot be reached")
    base = root.rstrip("/")
    for path, details in sorted(found.items()):
        if takes(path[len(base) :].lstrip("/") or Path(path).name):
            yield FileEntry(system.unstrip_protocol(path), path, int(details.get("size") or 0), _modified(details))


def _modified(details: dict[str, Any]) -> str:
    """Return a remote store's mark of change: the strongest it gives."""
    for key in ("ETag", "etag", "md5", "LastModified", "last_modified", "mtime", "modified", "updated", "created"):
        if details.get(key):
            return str(details[key])
    return ""

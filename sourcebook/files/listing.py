"""The listing of a source: name, size and modification mark of each file. No content is read."""

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote_from_bytes

from wcmatch import glob

from sourcebook.errors import ListingError
from sourcebook.files.source import Source

_GLOB_FLAGS = glob.GLOBSTAR | glob.BRACE | glob.FORCEUNIX
_PLAIN = re.compile(r"[A-Za-z0-9/._~!$&'()*+,;=:@-]*").fullmatch


class FileEntry(NamedTuple):
    """One listed file; a tuple, because one is built for every file of a source."""

    uri: str
    path: str
    """The local path, or the path within the remote file system."""
    size: int = 0
    modified: str = ""
    """mtime of a local file in nanoseconds; ETag or modification time of a remote file."""
    skip_reason: str | None = None
    """Reason why the file is not read, such as a broken symbolic link; None otherwise."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a source, and whether the listing is complete."""

    entries: dict[str, FileEntry]
    """Listed files by URI."""
    error: str | None = None
    """Reason why the listing is incomplete; no file counts as gone then. None where it is complete."""


def file_uri(path: str) -> str:
    """Return the `file://` URI of an absolute local path; percent-encoding keeps every byte of a name."""
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
    """Return a text that Postgres can store, whatever bytes the file names in it contain."""
    return text.encode("utf-8", "replace").decode().replace("\0", "?")


def _list_folder(source: Source, errors: list[str]) -> Iterator[FileEntry]:
    root = source.location
    if Path(root).is_file():
        status = os.stat(root)  # noqa: PTH116 - as in the loop below, which is the hot path
        yield FileEntry(file_uri(root), root, status.st_size, str(status.st_mtime_ns))
        return
    if not Path(root).is_dir():
        raise ListingError(f"the folder {root} does not exist or is not mounted")
    takes = _path_filter(source.include, source.exclude)
    hidden = _visits_hidden_folders(source.include)
    prefix = len(root.rstrip("/")) + 1
    # Folders to read, each with the (device, inode) pairs of itself and its parents: a link to one of them is a loop.
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
            child = children.pop()  # frees the cached stat result of the entry
            path = child.path
            try:
                status = child.stat()
            except OSError as error:
                if takes(path[prefix:]):
                    reason = "broken symbolic link" if child.is_symlink() else f"{error.strerror}"
                    yield FileEntry(file_uri(path), path, skip_reason=reason)
                continue
            if stat.S_ISREG(status.st_mode):
                if takes(path[prefix:]):
                    uri = folder_uri + _quoted(child.name)
                    yield FileEntry(uri, path, status.st_size, str(status.st_mtime_ns))
            elif stat.S_ISDIR(status.st_mode):
                identity = (status.st_dev, status.st_ino)
                if identity in above:
                    yield FileEntry(file_uri(path), path, skip_reason="symbolic link to a parent folder: a loop")
                elif hidden or not child.name.startswith("."):
                    pending.append((path, above | {identity}))
            elif takes(path[prefix:]):
                yield FileEntry(file_uri(path), path, skip_reason="not a regular file")


def _list_remote(source: Source) -> Iterator[FileEntry]:
    takes = _path_filter(source.include, source.exclude)
    try:
        system, root = source.file_system()
        reachable = system.exists(root)
        found: dict[str, dict[str, Any]] = system.find(root, detail=True) if reachable else {}
    except Exception as error:  # each file system has errors of its own
        raise ListingError(f"{source.location} cannot be listed: {error}") from error
    if not reachable:
        raise ListingError(f"{source.location} does not exist or cannot be reached")
    base = root.rstrip("/")
    for path, details in sorted(found.items()):
        if takes(path[len(base) :].lstrip("/") or Path(path).name):
            yield FileEntry(system.unstrip_protocol(path), path, int(details.get("size") or 0), _modified(details))


def _modified(details: dict[str, Any]) -> str:
    """Return the strongest modification mark that a remote store gives."""
    for key in ("ETag", "etag", "md5", "LastModified", "last_modified", "mtime", "modified", "updated", "created"):
        if details.get(key):
            return str(details[key])
    return ""


def _path_filter(include: Sequence[str], exclude: Sequence[str]) -> Callable[[str], bool]:
    """Return a predicate: whether a source includes a path relative to its root, with `/` between the parts.

    `*` stays within one part, `**` crosses parts, `{a,b}` is either. A name that begins with a dot is included only
    where a pattern spells the dot, which leaves out `.git`. A pattern that names a folder excludes its whole content.
    """
    wanted = _compiled_globs(include, _GLOB_FLAGS)
    unwanted = _compiled_globs(
        [*exclude, *(f"{pattern.rstrip('/')}/**" for pattern in exclude)], _GLOB_FLAGS | glob.DOTGLOB
    )

    def takes(path: str) -> bool:
        return wanted(path) and not unwanted(path)

    return takes


def _visits_hidden_folders(include: Sequence[str]) -> bool:
    """Return whether some pattern can match below a folder whose name begins with a dot."""
    return any(re.search(r"(^|[/{,])\.[^./]", pattern) for pattern in include)


def _compiled_globs(patterns: Sequence[str], flags: int) -> Callable[[str], bool]:
    if not patterns:
        return lambda path: False
    return glob.compile(list(patterns), flags=flags).match

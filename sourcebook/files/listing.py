"""The listing of a source, folder by folder: name, size and modification mark of each file. No content is read."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote_from_bytes

from sourcebook.errors import FailureClass, ListingError, failure_class_of
from sourcebook.files.posix_readers import PosixReaders
from sourcebook.files.source import FetchedRepository, PathFilter, Source, UploadedFile
from sourcebook.files.store_errors import store_error
from sourcebook.files.walk import FOLDER, Status, WalkedFolder, walk
from sourcebook.model.storable import storable_text

LONGEST_URI = 2_500
"""Bytes of an address, at most: a row of an index has 2,704, with the name of the collection."""
_LONGEST_NAME = 90
"""Bytes of the last part of an address in place of a longer one."""
_SURE = LONGEST_URI // 4
"""Characters of an address that is not too long, whatever they are."""
_OF_CONTENT = ("ETag", "etag", "md5")
"""Fields of a listed object that differ with its content."""
_OF_TIME = ("LastModified", "last_modified", "mtime", "modified", "updated", "created")
_BESIDE = ("VersionId", "version_id", "generation", "md5Hash", "sha256", "sha", "checksum", "ino")
_PLAIN = re.compile(r"[A-Za-z0-9/._~!$&'()*+,;=:@-]*").fullmatch


class FileEntry(NamedTuple):
    """One listed file."""

    uri: str
    path: str
    """The local path, or the path within the remote file system."""
    size: int = 0
    modified: str = ""
    """mtime of a local file in nanoseconds; ETag or modification time of a remote file; hash of a repository's blob, or
    of an upload, with its tags."""
    skip_reason: str | None = None
    """Reason why the file is not read, such as a broken symbolic link; None otherwise."""
    touched: str = ""
    """Change time and inode of a local file, every time and version that a remote store gives beside `modified`: where
    they alone differ, the content is read. Empty where `modified` says enough."""


@dataclass(frozen=True, slots=True)
class KnownFolder:
    """The last settled listing of a folder."""

    digest: bytes | None
    """Digest of that listing; None where its files have to be compared one by one."""
    files: int


@dataclass(frozen=True, slots=True)
class ListedFolder:
    """The files directly in one folder."""

    uri: str
    """URI with a slash at the end, as `folder_uri` returns it."""
    digest: bytes
    """Digest over name, size and marks of every file, included or not, and over the source's settings."""
    files: int
    """Number of files that the source includes."""
    entries: list[FileEntry] | None
    """Files that the source includes; None where the digest equals the known one."""


def within_index(folder: ListedFolder) -> ListedFolder:
    """Return a folder with addresses that an index of the database holds; a file with a longer one is not read."""
    if len(folder.uri) <= _SURE and not any(len(entry.uri) > _SURE for entry in folder.entries or ()):
        return folder
    base = shortened(folder.uri)
    entries = folder.entries and [
        entry
        if base == folder.uri and len(entry.uri.encode()) <= LONGEST_URI
        else FileEntry(
            base + shortened(entry.uri[len(folder.uri) :], _LONGEST_NAME),
            entry.path,
            skip_reason=too_long(len(entry.uri.encode())),
        )
        for entry in folder.entries
    ]
    return replace(folder, uri=base, entries=entries)


def too_long(size: int) -> str:
    """Return the reason why a file with an address of some bytes is not read."""
    return (
        f"its path has {size:,} bytes as an address, of which an index of the database holds {LONGEST_URI:,}; "
        "shorten the names of its folders"
    )


def shortened(text: str, most: int = LONGEST_URI - 100) -> str:
    """Return a text of at most some bytes, which is another one for each text."""
    whole = text.encode()
    if len(whole) <= most:
        return text
    digest = blake2b(whole, digest_size=16).hexdigest()
    return f"{whole[: most - 40].decode(errors='ignore')}~{digest}{'/' if text.endswith('/') else ''}"


def file_uri(path: str) -> str:
    """Return the `file://` URI of an absolute local path; percent-encoding keeps every byte of a name."""
    return "file://" + _quoted(path)


def folder_uri(uri: str) -> str:
    """Return the URI of the folder of a file, with a slash at the end; the database's `folder_of` agrees with it."""
    return uri[: uri.rfind("/") + 1]


def _quoted(path: str) -> str:
    return path if _PLAIN(path) else quote_from_bytes(os.fsencode(path), safe="/~!$&'()*+,;=:@")


class Listing:
    """A listing of a source, which yields its folders.

    An unreachable or unreadable part makes the listing incomplete instead of raising.

    Args:
        source: the source.
        known: settled listings by the URI of their folders. A folder with an equal digest is yielded without entries.
        settings: bytes that change with every setting on which a comparison with the ledger depends; at most 64.
        readers: who may read the files, where that is part of the listing.
    """

    def __init__(
        self,
        source: Source,
        known: Mapping[str, KnownFolder],
        settings: bytes,
        readers: PosixReaders | None = None,
    ) -> None:
        self._readers = readers
        self._source = source
        self._known = known
        self._settings = settings
        self._filter = PathFilter(source.include, source.exclude)
        self._errors: list[str] = []
        self.failure_class = FailureClass.UNREADABLE
        """Class of `error`."""

    @property
    def error(self) -> str | None:
        """Reason why the listing is incomplete, known after the last folder; no file counts as gone then."""
        return storable_text("; ".join(self._errors[:3])) or None

    def __iter__(self) -> Iterator[ListedFolder]:
        try:
            if self._source.repository is not None:
                folders = self._repository(self._source.repository)
            elif self._source.uploads is not None:
                folders = self._uploads(self._source.uploads)
            else:
                folders = self._local() if self._source.is_local else self._remote()
            yield from map(within_index, folders)
        except ListingError as error:
            self._errors = [str(error)]
            self.failure_class = error.failure_class

    def _local(self) -> Iterator[ListedFolder]:
        root = self._source.location
        if Path(root).is_file():
            status = Status.of(os.stat(root))  # noqa: PTH116 - the path may contain bytes that are not UTF-8
            lines = [status.packed.hex(), *self._marks(WalkedFolder(os.path.dirname(root)), [status])]  # noqa: PTH120
            yield self._folder(folder_uri(file_uri(root)), lines, [_entry(file_uri(root), root, status)])
            return
        prefix = len(root.rstrip("/")) + 1
        folders = walk(self._source, self._filter, self._errors)
        folder = next(folders, None)
        while folder is not None:
            listed = self._walked(folder, prefix) if folder.lines else None
            if listed is not None:
                yield listed
            try:
                folder = folders.send(bool(listed and listed.files))
            except StopIteration:
                return

    def _walked(self, folder: WalkedFolder, prefix: int) -> ListedFolder:
        uri = file_uri(folder.path).rstrip("/") + "/"
        folder.lines.sort()
        digest = self._digest([*folder.lines, *self._marks(folder)])
        known = self._known.get(uri)
        if known is not None and known.digest == digest:
            return ListedFolder(uri, digest, known.files, None)
        base = folder.path.rstrip("/") + "/"
        entries = []
        for line in folder.lines:
            name, mark, *unread = line.split("/", 3)
            path = base + name
            if (unread and unread[0] == FOLDER) or self._filter.takes(path[prefix:]):
                entries.append(
                    FileEntry(uri + _quoted(name), path, skip_reason=unread[1])
                    if unread
                    else _entry(uri + _quoted(name), path, Status.unpacked(bytes.fromhex(mark)))
                )
        return ListedFolder(uri, digest, len(entries), entries)

    def _marks(self, folder: WalkedFolder, statuses: Iterable[Status] = ()) -> list[str]:
        """Return what differs in a folder where others may read its files, beside the lines of these."""
        if self._readers is None:
            return []
        marks = (line.split("/", 2)[1] for line in folder.lines)
        changed = [each.changed for each in statuses]
        changed += [Status.unpacked(bytes.fromhex(mark)).changed for mark in marks if mark]
        links = [f"{folder.path.rstrip('/')}/{name}" for name in folder.links]
        return [self._readers.mark(folder.path, changed, links)]

    def _remote(self) -> Iterator[ListedFolder]:
        location = self._source.location
        try:
            system, root = self._source.file_system()
            system.invalidate_cache()  # a process that goes on for days would list what it listed first
            reachable = system.exists(root)
            found: dict[str, dict[str, Any]] = system.find(root, detail=True) if reachable else {}
        except Exception as error:  # each file system has errors of its own
            told = store_error(error, location)
            raise ListingError(f"the listing failed: {told.strerror or told}", failure_class_of(told)) from error
        if not reachable:
            raise ListingError(f"{location} does not exist or cannot be reached", FailureClass.MISSING)
        base = root.rstrip("/")
        yield from self._by_folder(
            FileEntry(
                storable_text(system.unstrip_protocol(path)), path, int(details.get("size") or 0), *_marks(details)
            )
            for path, details in found.items()
            if self._filter.takes(path[len(base) :].lstrip("/") or Path(path).name)
        )

    def _repository(self, repository: FetchedRepository) -> Iterator[ListedFolder]:
        if repository.error is not None:
            raise ListingError(repository.error, repository.failure_class or FailureClass.UNREADABLE)
        if repository.tree is None:
            raise ListingError(f"{self._source.location} has not been fetched yet", FailureClass.MISSING)
        base = self._source.location + "/"
        yield from self._by_folder(
            FileEntry(base + _quoted(file.path), file.path, file.size, f"blob {file.blob}", file.skip_reason)
            for file in repository.tree.files()
            if self._filter.takes(file.path)
        )

    def _uploads(self, uploads: Mapping[str, UploadedFile]) -> Iterator[ListedFolder]:
        yield from self._by_folder(
            FileEntry(uri, file.name, file.size, f"sha256 {file.sha256.hex()} {json.dumps(file.tags)}")
            for uri, file in uploads.items()
        )

    def _by_folder(self, found: Iterable[FileEntry]) -> Iterator[ListedFolder]:
        folders: dict[str, list[FileEntry]] = {}
        for entry in found:
            folders.setdefault(folder_uri(entry.uri), []).append(entry)
        for uri, entries in sorted(folders.items()):
            entries.sort(key=attrgetter("uri"))
            yield self._folder(uri, [repr(tuple(entry)) for entry in entries], entries)

    def _folder(self, uri: str, lines: list[str], entries: list[FileEntry]) -> ListedFolder:
        digest = self._digest(lines)
        known = self._known.get(uri)
        unchanged = known is not None and known.digest == digest
        return ListedFolder(uri, digest, len(entries), None if unchanged else entries)

    def _digest(self, lines: list[str]) -> bytes:
        """Sort the lines and return their digest; no line contains a zero byte."""
        lines.sort()
        text = "\0".join(lines).encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=16, key=self._settings).digest()


def _entry(uri: str, path: str, status: Status) -> FileEntry:
    return FileEntry(uri, path, status.size, str(status.modified), touched=status.touched)


def _marks(details: dict[str, Any]) -> tuple[str, None, str]:
    """Return the strongest modification mark that a remote store gives, and the further ones where it is but a time."""
    marks = [name for name in (*_OF_CONTENT, *_OF_TIME) if details.get(name)]
    strongest = storable_text(str(details[marks[0]])) if marks else ""
    if marks and marks[0] in _OF_CONTENT:
        return strongest, None, ""
    beside = [f"{name}={details[name]}" for name in (*marks[1:], *_BESIDE) if details.get(name)]
    return strongest, None, storable_text(" ".join(beside))

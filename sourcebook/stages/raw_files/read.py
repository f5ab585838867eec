"""The reading of listed files: their hashes and types."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sourcebook.database.refusals import Refusal
from sourcebook.errors import FailureClass, failure_class_of
from sourcebook.files.listing import FileEntry
from sourcebook.files.reading import digest_file
from sourcebook.files.source import Source
from sourcebook.git.tree import LFS_POINTER
from sourcebook.model.media_types import SOURCE_RECORD
from sourcebook.parsing.registry import file_type

_MOST_BYTES = 2**63 - 1
_POINTER = "pointer of Git LFS, which keeps the content elsewhere"


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file after reading: its hash and type, or why it was skipped or failed."""

    entry: FileEntry
    sha256: bytes | None = None
    media_type: str | None = None
    skip_reason: str | None = None
    failure: str | None = None
    failure_class: FailureClass | None = None
    hashed_at: float | None = None


def read_files(source: Source, entries: Iterable[FileEntry]) -> Iterator[ReadFile]:
    """Hash files one by one, as the caller asks for them."""
    for entry in entries:
        yield _read_one(source, entry)


def unstorable_file(file: ReadFile, refusal: Refusal) -> ReadFile:
    """Return a file with a value that the database does not take as a failed one, without what may be that value."""
    entry = file.entry._replace(size=min(max(file.entry.size, 0), _MOST_BYTES))
    return ReadFile(entry, failure=refusal.reason, failure_class=refusal.failure_class)


def _read_one(source: Source, entry: FileEntry) -> ReadFile:
    if entry.skip_reason is not None:
        return ReadFile(entry, skip_reason=entry.skip_reason)
    if source.records is not None:
        if failed := source.records.failures.get(entry.uri):
            return ReadFile(entry, failure=failed[0], failure_class=failed[1])
        return ReadFile(entry, bytes.fromhex(entry.modified), SOURCE_RECORD, hashed_at=time.time())
    most = source.most_bytes(entry.path)
    if entry.size > most:
        setting = "max_bytes of its source" if most == source.max_bytes else "speech.max_bytes of its collection"
        return ReadFile(entry, skip_reason=f"{entry.size:,} bytes, more than {setting} allows ({most:,})")
    hashed_at = time.time()
    try:
        found = digest_file(source, entry.uri, entry.size)
    except FileNotFoundError as error:
        if source.uploads is not None:
            return ReadFile(entry, failure=f"{error.strerror}", failure_class=FailureClass.MISSING)
        return ReadFile(entry, failure="it vanished between listing and reading", failure_class=FailureClass.MISSING)
    except OSError as error:
        reason = f"it cannot be read: {error.strerror or error}"
        return ReadFile(entry, failure=reason, failure_class=failure_class_of(error))
    if source.repository is not None and found.head.startswith(LFS_POINTER):
        return ReadFile(entry, found.sha256, skip_reason=_POINTER, hashed_at=hashed_at)
    file = file_type(entry.path, found.head)
    return ReadFile(entry, found.sha256, file.media_type, file.skip_reason, hashed_at=hashed_at)

"""The stage `raw_files`: the inventory of a collection's folders.

Reads: the folders of the collection; size and modification time first, and the content only of files that differ.
Writes: `raw_file` (size, modification time, sha256, media type, failure), and the last listing in `source`.
Stale: a file that is new, changed, returned, gone, due for a retry, or skipped under other settings.

Renamed and returned files are recognised later, by the stage `documents`, from the hashes recorded here.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from psycopg import Connection

from sourcebook.config.speech import SpeechSettings
from sourcebook.database.batches import batched
from sourcebook.database.queries import queries
from sourcebook.database.statistics import refresh_statistics
from sourcebook.files.listing import FileEntry, Listing, list_source
from sourcebook.files.reading import digest_file
from sourcebook.files.source import Source
from sourcebook.model.progress import Progress, silent
from sourcebook.model.report import StageReport
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.parsing.registry import file_type, is_taken

BATCH = 256
"""Files per transaction."""
_RACY_NANOSECONDS = 2_000_000_000
"""Nanoseconds between modification and hashing of a file within which a later write may leave its time unchanged."""


class KnownFile(NamedTuple):
    """The ledger's row of one file; a tuple, because one is built for every file of a source."""

    uri: str
    size: int
    modified: str
    live: bool
    retry_due: bool
    failed: bool
    hashed_ns: int | None
    skip_reason: str | None
    media_type: str | None
    sha256: bytes | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between a source and the ledger."""

    source: Source
    listing: Listing
    to_read: list[FileEntry]
    """Files that are new, changed, returned or due for a retry."""
    known: dict[str, KnownFile]
    """The ledger's rows of the files to read, by URI; new files have none."""
    gone: list[str]
    """URIs of files that are gone; empty where the listing is incomplete."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file after reading: its hash and type, or why it was skipped or failed."""

    entry: FileEntry
    sha256: bytes | None = None
    media_type: str | None = None
    skip_reason: str | None = None
    failure: str | None = None
    hashed_at: float | None = None


def collection_sources(connection: Connection, collection: str, selection: Selection = EVERYTHING) -> list[Source]:
    """Return the live folders of a collection, or those that the selection names."""
    rows = connection.execute(
        queries["collection_sources"],
        {
            "collection": collection,
            "locations": list(selection.sources),
            "max_recording_bytes": SpeechSettings().max_bytes,
        },
    )
    return [
        Source(number, place, tuple(include), tuple(exclude), most, most_of_recordings, error)
        for number, place, include, exclude, most, most_of_recordings, error in rows
    ]


def compare(connection: Connection, source: Source, selection: Selection = EVERYTHING) -> Difference:
    """List a source and compare it with the ledger, in one query.

    Content is read only of files that were hashed within two seconds of their modification: an equal modification time
    proves nothing for these. Where their content is unchanged, the ledger records that.
    """
    listing = list_source(source)
    entries = listing.entries
    everything = selection == EVERYTHING
    to_read: list[FileEntry] = []
    confirmed: list[str] = []
    gone: list[str] = []
    known: dict[str, KnownFile] = {}
    seen: set[str] = set()
    # One pass over the ledger in batches of rows; unchanged files leave nothing in memory.
    with connection.transaction(), connection.cursor(name="known_files", binary=True) as cursor:
        cursor.itersize = 5_000
        cursor.execute(
            queries["known_files"], {"source_id": source.id, "retry_now": selection.only_failed or selection.force}
        )
        for row in cursor:
            file = KnownFile._make(row)
            entry = entries.get(file.uri)
            if entry is None:
                if file.live:
                    gone.append(file.uri)
                continue
            seen.add(entry.uri)
            if everything and _is_settled(entry, file, source):
                continue
            if _wants_reading(entry, file, source, selection):
                to_read.append(entry)
                known[entry.uri] = file
            elif _is_racy(entry, file):
                if _has_hash(source, entry, file.sha256):
                    confirmed.append(entry.uri)
                else:
                    to_read.append(entry)
                    known[entry.uri] = file
    if len(seen) < len(entries):
        to_read += [
            entry
            for uri, entry in entries.items()
            if uri not in seen and _wants_reading(entry, None, source, selection)
        ]
    if confirmed:
        connection.execute(queries["confirm_files"], {"source_id": source.id, "uris": confirmed})
    return Difference(source, listing, to_read, known, [] if listing.error else gone)


def update_raw_files(
    connection: Connection, collection: str, selection: Selection = EVERYTHING, progress: Progress = silent
) -> StageReport:
    """Update the inventory of a collection.

    A source that cannot be listed completely loses no files and is reported as failed.
    """
    report = StageReport()
    connection.execute(queries["remove_files_of_removed_sources"], {"collection": collection})
    for source in collection_sources(connection, collection, selection):
        difference = compare(connection, source, selection)
        connection.execute(queries["record_listing"], {"source_id": source.id, "error": difference.listing.error})
        if difference.listing.error:
            report.fail(source.location, difference.listing.error)
        done = 0
        for batch in batched(_read(source, difference.to_read), BATCH):
            _record(connection, source, batch)
            for file in batch:
                _count(report, file, difference.known.get(file.entry.uri))
            done += len(batch)
            progress(done, len(difference.to_read))
        for uris in batched(difference.gone, 1000):
            connection.execute(queries["remove_files"], {"source_id": source.id, "uris": list(uris)})
        report.removed += len(difference.gone)
        report.unchanged += len(difference.listing.entries) - len(difference.to_read)
    refresh_statistics(connection, queries["analyze_raw_files"], report)
    row = connection.execute(queries["raw_files_version"], {"collection": collection}).fetchone()
    return report.finish(row[0] if row else "")


def _is_settled(entry: FileEntry, known: KnownFile, source: Source) -> bool:
    """Return whether a file is unchanged without any doubt, as nearly every file of a source is."""
    return (
        known.live
        and entry.modified == known.modified
        and entry.size == known.size
        and entry.skip_reason is None
        and known.skip_reason is None
        and not known.failed
        and (entry.size <= source.least_most_bytes or entry.size <= source.most_bytes(entry.path))
        and not _is_racy(entry, known)
    )


def _wants_reading(entry: FileEntry, known: KnownFile | None, source: Source, selection: Selection) -> bool:
    if selection.documents and entry.uri not in selection.documents:
        return False
    if known is None:
        return not selection.only_failed
    if known.retry_due:
        return True
    if selection.only_failed or (known.failed and _same(entry, known)):
        return False
    if not known.live or selection.force or not _same(entry, known):
        return True
    return _rules_changed(entry, known, source)


def _rules_changed(entry: FileEntry, known: KnownFile, source: Source) -> bool:
    """Return whether an unchanged file is to be skipped now, or no longer."""
    skipped_unread = entry.skip_reason is not None or entry.size > source.most_bytes(entry.path)
    if known.skip_reason is None:
        return skipped_unread
    if known.media_type is None:
        return not skipped_unread
    return is_taken(known.media_type)


def _same(entry: FileEntry, known: KnownFile) -> bool:
    return entry.size == known.size and entry.modified == known.modified


def _is_racy(entry: FileEntry, known: KnownFile) -> bool:
    if known.hashed_ns is None or not known.live or known.failed or not entry.modified.isdigit():
        return False
    return abs(int(entry.modified) - known.hashed_ns) < _RACY_NANOSECONDS


def _has_hash(source: Source, entry: FileEntry, sha256: bytes | None) -> bool:
    try:
        return digest_file(source, entry.uri, entry.size).sha256 == sha256
    except OSError:
        return False


def _read(source: Source, entries: Iterable[FileEntry]) -> Iterator[ReadFile]:
    for entry in entries:
        yield _read_one(source, entry)


def _read_one(source: Source, entry: FileEntry) -> ReadFile:
    if entry.skip_reason is not None:
        return ReadFile(entry, skip_reason=entry.skip_reason)
    most = source.most_bytes(entry.path)
    if entry.size > most:
        setting = "max_bytes of its source" if most == source.max_bytes else "speech.max_bytes of its collection"
        return ReadFile(entry, skip_reason=f"{entry.size:,} bytes, more than {setting} allows ({most:,})")
    hashed_at = time.time()
    try:
        found = digest_file(source, entry.uri, entry.size)
    except FileNotFoundError:
        return ReadFile(entry, failure="it vanished between listing and reading")
    except OSError as error:
        return ReadFile(entry, failure=f"it cannot be read: {error.strerror or error}")
    file = file_type(entry.path, found.head)
    return ReadFile(entry, found.sha256, file.media_type, file.skip_reason, None, hashed_at)


def _record(connection: Connection, source: Source, files: tuple[ReadFile, ...]) -> None:
    connection.execute(
        queries["record_files"],
        {
            "source_id": source.id,
            "uris": [file.entry.uri for file in files],
            "sizes": [file.entry.size for file in files],
            "modified": [file.entry.modified for file in files],
            "sha256s": [file.sha256 for file in files],
            "media_types": [file.media_type for file in files],
            "hashed_at": [file.hashed_at for file in files],
            "skip_reasons": [file.skip_reason for file in files],
            "failures": [file.failure for file in files],
        },
    )


def _count(report: StageReport, file: ReadFile, known: KnownFile | None) -> None:
    if file.failure is not None:
        report.fail(file.entry.uri, file.failure)
    elif known is None or not known.live:
        report.added += 1
    elif (file.sha256, file.skip_reason) == (known.sha256, known.skip_reason) and not known.failed:
        report.unchanged += 1
    else:
        report.changed += 1
    if file.skip_reason is not None:
        report.count("skipped")

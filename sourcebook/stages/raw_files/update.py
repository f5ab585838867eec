"""The stage `raw_files`: the inventory of a collection's folders.

Reads: the folders of the collection; size and modification time first, and the content only of files that differ.
Writes: `raw_file` (size, modification time, sha256, media type, failure), and the last listing in `source`.
Stale: a file that is new, changed, returned, gone, due for a retry, or skipped under other settings.

A folder without a difference is settled: the ledger keeps a digest of its listing. As long as a later listing has the
same digest and no row of the folder changed, the folder needs no row of the inventory.

Renamed and returned files are recognised later, by the stage `documents`, from the hashes recorded here.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

from psycopg import Connection

from sourcebook.database.batches import batched, batched_by_size
from sourcebook.database.lock import in_turn
from sourcebook.database.queries import queries
from sourcebook.database.stage_runs import refresh_statistics
from sourcebook.errors import FailureClass
from sourcebook.files.listing import FileEntry, KnownFolder, ListedFolder, Listing, folder_uri
from sourcebook.files.posix_readers import PosixReaders
from sourcebook.files.reading import has_hash
from sourcebook.files.source import Source
from sourcebook.indexing.damage import find_suspicion, heightened, note_comparison
from sourcebook.indexing.mending import mend_files
from sourcebook.model.progress import Progress, silent
from sourcebook.model.report import StageReport
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.model.shard import is_first
from sourcebook.model.work import reading_work
from sourcebook.stages.changes import kept_count
from sourcebook.stages.observed_stage import observed_stage
from sourcebook.stages.raw_files.guard import guarded, guarded_again
from sourcebook.stages.raw_files.permissions import permit_files, readers_of, unsaid
from sourcebook.stages.raw_files.read import read_files
from sourcebook.stages.raw_files.record import count, record
from sourcebook.stages.raw_files.record_difference import compare_records
from sourcebook.stages.raw_files.rules import (
    KnownFile,
    confirmed_time,
    is_moving,
    is_other_mode,
    is_settled,
    settings_digest,
    wants_reading,
    wants_second_look,
    was_renumbered,
)
from sourcebook.stages.raw_files.shards import Difference as Difference
from sourcebook.stages.raw_files.shards import of_shard, record_listing
from sourcebook.stages.raw_files.sources import collection_sources
from sourcebook.stages.raw_files.web_views import record_web_view

BATCH = 256
"""Files per transaction."""
MOST_LOOKS, MOST_BYTES = 2_000, 256_000_000
"""Files and bytes whose content a comparison reads; it may be that of a sensor or of `sourcebook status`."""
_FEWEST_OF_A_MOUNT = 20
"""Files with another inode and the same times, more than half of those compared, that are not read for it; and files
with another mode."""
_FOLDERS = 1_000
"""Folders per query."""
_FILES = 5_000
"""Files per query, except those of a larger folder."""


@observed_stage("raw_files")
def update_raw_files(
    connection: Connection,
    collection: str,
    selection: Selection = EVERYTHING,
    progress: Progress = silent,
    *,
    differences: Iterable[Difference] | None = None,
) -> StageReport:
    """Update the inventory of a collection.

    A source that cannot be listed completely loses no files and is reported as failed.

    Args:
        connection: in autocommit mode.
        collection: name of the collection.
        selection: sources and files to update.
        progress: called with (done, total) files.
        differences: of the sources, as `compare` has just found them; by default the sources are compared here.
    """
    report = StageReport()
    suspicion = find_suspicion(connection, collection)
    selection = heightened(selection, suspicion)
    if selection.thorough and (suspicion or is_first(selection.shard)):
        with in_turn(connection, selection.shard, "proof"):
            damaged = mend_files(connection, collection)
        if damaged:
            report.count("damaged", damaged)
            differences = None  # they were found before
    with in_turn(connection, selection.shard, "removed sources"):
        connection.execute(queries["remove_files_of_removed_sources"], {"collection": collection})
    if differences is None:
        sources = collection_sources(connection, collection, selection)
        differences = (compare(connection, source, selection) for source in sources)
    # A source that seems to lose much comes last: its files may be in another one now.
    for difference in sorted(of_shard(differences, selection.shard), key=lambda each: bool(each.held)):
        source, done = difference.source, 0
        for batch in batched(read_files(source, difference.to_read), BATCH):
            for file in record(connection, source, batch):
                count(report, file, difference.known.get(file.entry.uri))
            done += len(batch)
            progress(done, len(difference.to_read))
        difference = guarded_again(connection, difference, selection.shard)
        record_listing(connection, difference, selection.shard)
        if difference.error is None and is_first(selection.shard):
            record_web_view(connection, source)
        if difference.error and difference.failure_class:
            report.fail(source.location, difference.error, difference.failure_class)
        if difference.unsaid:
            report.fail(source.location, difference.unsaid, FailureClass.FORBIDDEN)
        for uris in batched(difference.gone, 1000):
            connection.execute(queries["remove_files"], {"source_id": source.id, "uris": list(uris)})
        report.removed += len(difference.gone)
        report.work += reading_work(done, sum(entry.size or 0 for entry in difference.to_read))
        report.unchanged += difference.files - len(difference.to_read)
        settle(connection, source, difference.new_folders)
    refresh_statistics(connection, queries["analyze_raw_files"], report)
    _, version = kept_count(connection, collection, "raw_files", recount=selection.thorough, shard=selection.shard)
    if not selection.is_partial:
        note_comparison(connection, suspicion, selection.shard)
    return report.finish(version)


def compare(connection: Connection, source: Source, selection: Selection = EVERYTHING) -> Difference:
    """List a source and compare it with the ledger.

    Rows are read only of folders that differ from their settled listing. Content is read only of files whose size and
    modification time are as they were, but prove nothing: those with another change time or inode, and those that were
    hashed within two seconds of their modification. Where their content is unchanged, the ledger records that. After
    `MOST_LOOKS` of them, as after a copy of the whole folder, the others count as files to read: an update reads them
    batch by batch, and parses none whose hash is the same.

    Args:
        connection: in autocommit mode.
        source: the source.
        selection: the files and the kind of difference that are looked for.
    """
    if source.records is not None:
        return guarded(connection, compare_records(connection, source, source.records, selection), selection)
    comparison = _Comparison(connection, source, selection)
    rows = connection.execute(queries["listed_folders"], {"source_id": source.id})
    left = {uri: (KnownFolder(digest, files), revision) for uri, digest, files, revision in rows}
    comparison.revisions = {uri: revision for uri, (_, revision) in left.items()}
    by_digest = comparison.settles and not selection.thorough and not source.wants_acls
    settled = {uri: folder for uri, (folder, _) in left.items()} if by_digest else {}
    listing = Listing(source, settled, settings_digest(source), comparison.posix)
    files = 0

    def differing() -> Iterator[ListedFolder]:
        nonlocal files
        for folder in listing:
            files += folder.files
            left.pop(folder.uri, None)
            if folder.entries is not None:
                yield folder

    for batch in batched_by_size(differing(), _FOLDERS, _FILES, size=attrgetter("files")):
        comparison.compare(batch)
    if listing.error is None:
        for uris in batched(left, _FOLDERS):
            comparison.compare_absent(uris)
    for seen in batched(comparison.confirmed, _FILES):
        connection.execute(
            queries["confirm_files"],
            {
                "source_id": source.id,
                "uris": [entry.uri for entry, _ in seen],
                "hashed_at": [None if seen_ns is None else seen_ns / 1e9 for _, seen_ns in seen],
                "touched": [entry.touched for entry, _ in seen],
            },
        )
    found = Difference(
        source,
        listing.error,
        listing.failure_class if listing.error else None,
        files,
        comparison.to_read,
        comparison.known,
        [] if listing.error else comparison.gone,
        comparison.new_folders,
        moving=comparison.moving,
        unsaid=None if listing.error else unsaid(connection, source, comparison.readers),
    )
    return guarded(connection, found, selection)


def settle(connection: Connection, source: Source, folders: Sequence[ListedFolder]) -> None:
    """Settle those of the folders that agree with the ledger after an update, without reading any file."""
    for batch in batched_by_size(folders, _FOLDERS, _FILES, size=attrgetter("files")):
        comparison = _Comparison(connection, source, EVERYTHING, reads=False)
        rows = connection.execute(
            queries["listed_folders_among"], {"source_id": source.id, "folders": [folder.uri for folder in batch]}
        )
        comparison.revisions = {uri: revision for uri, _, _, revision in rows}
        comparison.compare(batch)


class _Comparison:
    """Differences between folders and the ledger, as found so far."""

    def __init__(self, connection: Connection, source: Source, selection: Selection, *, reads: bool = True) -> None:
        self._connection = connection
        self._source = source
        self._selection = selection
        self._reads = reads
        self.readers = readers_of(source) if reads else None
        self.posix = self.readers if isinstance(self.readers, PosixReaders) else None
        """Readers of the files; None where that decides nothing."""
        self.settles = not (selection.documents or selection.only_failed or selection.force)
        self.revisions: dict[str, int] = {}
        """Revisions of the folders of the ledger, read before any of their rows."""
        self.to_read: list[FileEntry] = []
        self.moving: list[str] = []
        self.known: dict[str, KnownFile] = {}
        self.gone: list[str] = []
        self.confirmed: list[tuple[FileEntry, int | None]] = []
        """Files whose content is unchanged as a second look says, with its time in nanoseconds."""
        self._looks = self._bytes = 0
        self.new_folders: list[ListedFolder] = []

    def compare(self, folders: Sequence[ListedFolder]) -> None:
        """Compare listed folders with their rows."""
        entries = {entry.uri: entry for folder in folders for entry in folder.entries or ()}
        permitted = permit_files(self._connection, self._source, self.readers, entries.values())
        wanted: set[str] = set()
        differing: set[str] = set()
        unsure: list[tuple[FileEntry, KnownFile]] = []
        rows = 0
        for file in self._rows([folder.uri for folder in folders]):
            entry = entries.pop(file.uri, None)
            rows += 1
            if entry is None:
                if not file.live:
                    continue
                self.gone.append(file.uri)
            elif self.settles and not self._selection.deep and is_settled(entry, file, self._source):
                if file.touched is None and entry.touched and not self._source.is_local:
                    self.confirmed.append((entry, file.hashed_ns))  # as first seen: a look would cost a transfer
                continue
            elif wants_reading(entry, file, self._source, self._selection):
                wanted.add(file.uri)
                self.known[file.uri] = file
            elif len(permitted) > _FEWEST_OF_A_MOUNT and file.uri in permitted and is_other_mode(entry, file):
                self.confirmed.append((entry, file.hashed_ns))
                continue
            elif wants_second_look(entry, file, self._selection) or (self._selection.deep and file.sha256 is not None):
                if self._selection.shard is None or self._selection.shard.takes(file.uri):
                    unsure.append((entry, file))
            elif not file.failed:
                continue
            differing.add(folder_uri(file.uri))
        for entry, file in self._to_look_at(
            unsure, rows
        ):  # after the rows: no transaction is open while a remote file is read
            now_ns = time.time_ns()
            if self._may_look_at(entry) and has_hash(self._source, entry.uri, entry.size, file.sha256):
                if wants_second_look(entry, file) or entry.touched != (file.touched or ""):
                    seen_ns = confirmed_time(entry, file, now_ns) if entry.modified.isdigit() else now_ns
                    is_proved = file.uri in permitted and is_other_mode(entry, file)
                    self.confirmed.append((entry, file.hashed_ns if is_proved else seen_ns))
            else:
                wanted.add(file.uri)
                self.known[file.uri] = file
        wanted.update(
            uri for uri, entry in entries.items() if wants_reading(entry, None, self._source, self._selection)
        )
        if not wanted and not differing:
            self._settle(folders)
            return
        differing.update(folder_uri(uri) for uri in entries)
        self._settle([folder for folder in folders if folder.uri not in differing])
        for folder in folders:
            found = []
            for entry in folder.entries or ():
                if entry.uri in wanted:
                    is_left = is_moving(entry, self._selection.at_rest)
                    self.moving.append(entry.uri) if is_left else found.append(entry)
            self.to_read += found
            if found and len(found) == folder.files:
                self.new_folders.append(folder)

    def _to_look_at(
        self, unsure: list[tuple[FileEntry, KnownFile]], rows: int
    ) -> Iterator[tuple[FileEntry, KnownFile]]:
        """Yield the files whose content has to be read; where most inodes are new, they are but numbers of a mount."""
        numbers = 0 if self._selection.deep else sum(was_renumbered(entry, file) for entry, file in unsure)
        is_new_mount = numbers > _FEWEST_OF_A_MOUNT and 2 * numbers > rows
        for entry, file in unsure:
            if is_new_mount and was_renumbered(entry, file):
                self.confirmed.append((entry, file.hashed_ns))
            else:
                yield entry, file

    def _may_look_at(self, entry: FileEntry) -> bool:
        """Return whether the content of one more file may be read here."""
        self._looks += 1
        self._bytes += entry.size
        return self._reads and (self._selection.deep or (self._looks <= MOST_LOOKS and self._bytes <= MOST_BYTES))

    def compare_absent(self, uris: Sequence[str]) -> None:
        """Compare folders that the listing does not have with their rows."""
        gone = [file.uri for file in self._rows(uris) if file.live]
        self.gone += gone
        occupied = {folder_uri(uri) for uri in gone}
        empty = [uri for uri in uris if uri not in occupied]
        if empty:
            self._connection.execute(
                queries["forget_folders"],
                {
                    "source_id": self._source.id,
                    "uris": empty,
                    "revisions": [self.revisions[uri] for uri in empty],
                },
            )

    def _rows(self, folders: Sequence[str]) -> Iterator[KnownFile]:
        """Yield the rows of folders in batches; unchanged files leave nothing in memory."""
        retry_now = self._selection.only_failed or self._selection.force
        with self._connection.transaction(), self._connection.cursor(name="known_files", binary=True) as cursor:
            cursor.itersize = _FILES
            cursor.execute(
                queries["known_files"],
                {"source_id": self._source.id, "folders": list(folders), "retry_now": retry_now},
            )
            yield from map(KnownFile._make, cursor)

    def _settle(self, folders: Sequence[ListedFolder]) -> None:
        if not self.settles or not folders:
            return
        self._connection.execute(
            queries["settle_folders"],
            {
                "source_id": self._source.id,
                "uris": [folder.uri for folder in folders],
                "digests": [folder.digest for folder in folders],
                "files": [folder.files for folder in folders],
                "revisions": [self.revisions.get(folder.uri) for folder in folders],
            },
        )

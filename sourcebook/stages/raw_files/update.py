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
from psycopg.types.json import Jsonb

from sourcebook.database.batches import batched, batched_by_size
from sourcebook.database.lock import in_turn
from sourcebook.database.queries import queries
from sourcebook.database.stage_runs import refresh_statistics
from sourcebook.errors import FailureClass
from sourcebook.files.listing import FileEntry, KnownFolder, ListedFolder, Listing, folder_uri
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
from sourcebook.stages.raw_files.read import ReadFile, read_files
from sourcebook.stages.raw_files.rules import (
    KnownFile,
    confirmed_time,
    is_moving,
    is_racy,
    is_settled,
    settings_digest,
    wants_reading,
)
from sourcebook.stages.raw_files.shards import Difference as Difference
from sourcebook.stages.raw_files.shards import of_shard, record_listing
from sourcebook.stages.raw_files.sources import collection_sources

BATCH = 256
"""Files per transaction."""
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
    for difference in of_shard(differences, selection.shard):
        source = difference.source
        record_listing(connection, difference, selection.shard)
        if difference.error and difference.failure_class:
            report.fail(source.location, difference.error, difference.failure_class)
        done = 0
        for batch in batched(read_files(source, difference.to_read), BATCH):
            _record(connection, source, batch)
            for file in batch:
                _count(report, file, difference.known.get(file.entry.uri))
            done += len(batch)
            progress(done, len(difference.to_read))
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

    Rows are read only of folders that differ from their settled listing. Content is read only of files that were
    hashed within two seconds of their modification: an equal modification time proves nothing for these. Where their
    content is unchanged, the ledger records that.

    Args:
        connection: in autocommit mode.
        source: the source.
        selection: the files and the kind of difference that are looked for.
    """
    comparison = _Comparison(connection, source, selection)
    rows = connection.execute(queries["listed_folders"], {"source_id": source.id})
    left = {uri: (KnownFolder(digest, files), revision) for uri, digest, files, revision in rows}
    comparison.revisions = {uri: revision for uri, (_, revision) in left.items()}
    settled = (
        {uri: folder for uri, (folder, _) in left.items()} if comparison.settles and not selection.thorough else {}
    )
    listing = Listing(source, settled, settings_digest(source))
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
    if comparison.confirmed:
        connection.execute(
            queries["confirm_files"],
            {
                "source_id": source.id,
                "uris": list(comparison.confirmed),
                "hashed_at": list(comparison.confirmed.values()),
            },
        )
    return Difference(
        source,
        listing.error,
        listing.failure_class if listing.error else None,
        files,
        comparison.to_read,
        comparison.known,
        [] if listing.error else comparison.gone,
        comparison.new_folders,
        comparison.moving,
    )


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
        self.settles = not (selection.documents or selection.only_failed or selection.force)
        self.revisions: dict[str, int] = {}
        """Revisions of the folders of the ledger, read before any of their rows."""
        self.to_read: list[FileEntry] = []
        self.moving: list[str] = []
        self.known: dict[str, KnownFile] = {}
        self.gone: list[str] = []
        self.confirmed: dict[str, float] = {}
        """Times of hashing in seconds, by the URIs of files whose content was hashed again and is unchanged."""
        self.new_folders: list[ListedFolder] = []

    def compare(self, folders: Sequence[ListedFolder]) -> None:
        """Compare listed folders with their rows."""
        entries = {entry.uri: entry for folder in folders for entry in folder.entries or ()}
        wanted: set[str] = set()
        differing: set[str] = set()
        racy: list[tuple[FileEntry, KnownFile]] = []
        for file in self._rows([folder.uri for folder in folders]):
            entry = entries.pop(file.uri, None)
            if entry is None:
                if not file.live:
                    continue
                self.gone.append(file.uri)
            elif self.settles and not self._selection.deep and is_settled(entry, file, self._source):
                continue
            elif wants_reading(entry, file, self._source, self._selection):
                wanted.add(file.uri)
                self.known[file.uri] = file
            elif is_racy(entry, file) or (self._selection.deep and file.sha256 is not None):
                if self._selection.shard is None or self._selection.shard.takes(file.uri):
                    racy.append((entry, file))
            elif not file.failed:
                continue
            differing.add(folder_uri(file.uri))
        for entry, file in racy:  # after the rows: no transaction is open while a remote file is read
            now_ns = time.time_ns()
            if self._reads and has_hash(self._source, entry.uri, entry.size, file.sha256):
                if is_racy(entry, file):
                    self.confirmed[file.uri] = confirmed_time(entry, file, now_ns) / 1e9
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


def _record(connection: Connection, source: Source, files: tuple[ReadFile, ...]) -> None:
    if source.uploads is None:
        _record_files(connection, source, files)
        return
    uris = [file.entry.uri for file in files]
    tags = [list(source.uploads[uri].tags) for uri in uris]
    with connection.transaction():
        _record_files(connection, source, files)
        connection.execute(queries["tag_files"], {"source_id": source.id, "uris": uris, "tags": Jsonb(tags)})


def _record_files(connection: Connection, source: Source, files: tuple[ReadFile, ...]) -> None:
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
            "failure_classes": [file.failure_class for file in files],
        },
    )


def _count(report: StageReport, file: ReadFile, known: KnownFile | None) -> None:
    if file.failure is not None:
        report.fail(file.entry.uri, file.failure, file.failure_class or FailureClass.OTHER)
    elif known is None or not known.live:
        report.added += 1
    elif (file.sha256, file.skip_reason) == (known.sha256, known.skip_reason) and not known.failed:
        report.unchanged += 1
    else:
        report.changed += 1
    if file.skip_reason is not None:
        report.count("skipped")

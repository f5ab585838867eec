"""The look at the sources of records of a collection, which precedes the comparison of their records with the ledger.

A look reads what differs from the last one, makes each record into the bytes of its document, and keeps these in the
table `source_record`, as a mirror keeps the commits of a repository. A look that fails leaves that as it is. Records
are gone only after a look that listed every record.
"""

import hashlib
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from psycopg import Connection, Error
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from sourcebook.config.records import RecordSource
from sourcebook.database.batches import batched_by_size
from sourcebook.database.queries import queries
from sourcebook.errors import ConfigurationError, FailureClass, ListingError
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.records.mapping import RecordMapping
from sourcebook.records.record import DELETED, Checkpoint, Deleted, Known, RenderedRecord, Row
from sourcebook.records.values import mark_of, plain_text
from sourcebook.stages.ingest_redaction import collection_redactor, redaction_identity
from sourcebook.stages.raw_files.record_files import RecordFiles
from sourcebook.stages.raw_files.record_rows import BATCH, BATCH_BYTES, keep_records, known_children, lose_records

_log = logging.getLogger("sourcebook.records")
_LARGE_SHARE: Final = 5
"""One in so many rows, from which all rows are read at once instead of those with some keys."""
_RACY_SECONDS: Final = 2.0
"""Seconds after the first look that finds it in which a row with the latest mark may change and keep it."""


def fetch_records(
    connection: Connection,
    collection: str,
    selection: Selection = EVERYTHING,
    *,
    only_due: bool = False,
    only_known: bool = False,
) -> None:
    """Look at the sources of records of a collection, and record what each look has brought.

    Args:
        connection: to the ledger.
        collection: name of the collection.
        selection: the sources; a deep one reads every record.
        only_due: whether a source is left out that was looked at within its setting `refresh`.
        only_known: whether a source is left out that was never looked at: the first look may take long.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        scope = {"collection": collection, "locations": list(selection.sources)}
        if not cursor.execute(queries["record_sources"], scope).fetchall():
            return
        with turn(connection, collection):
            for row in cursor.execute(queries["record_sources"], scope).fetchall():
                is_known = bool(row["state"].keys() - {"upstream"})
                if (row["is_due"] or not only_due) and (is_known or not only_known):
                    _look(connection, collection, row, selection)


def awaited_assets(connection: Connection, collection: str) -> list[tuple[int, list[str], dict[str, int]]]:
    """Return the sources of records that depend on assets: id, keys, and the last known event of each key."""
    rows = connection.execute(queries["awaited_assets"], {"collection": collection}).fetchall()
    return [(source_id, keys, known) for source_id, keys, known in rows]


def wake_records(connection: Connection, source_id: int, latest: dict[str, int]) -> None:
    """Let a source of records be looked at now, as assets upstream have new events."""
    connection.execute(queries["wake_records"], {"source_id": source_id, "upstream": Jsonb({"upstream": latest})})


def mapping_of(connection: Connection, collection: str, settings: RecordSource) -> RecordMapping:
    """Return the mapping of a source to what the ledger holds of its records.

    Raises:
        ConfigurationError: its template cannot be read, or the rules of redaction.
    """
    redactor = collection_redactor(connection, collection)
    redact = None if redactor is None else lambda text: redactor.redact(text).text
    read_file = None if settings.files is None else RecordFiles(settings.files, settings.max_bytes).read
    return RecordMapping(settings, redact, redaction_identity(connection, collection), read_file)


def _look(connection: Connection, collection: str, row: dict[str, Any], selection: Selection) -> None:
    """Look at one source of records, and record where the look ended."""
    source_id, settings = row["id"], RecordSource.model_validate(row["settings"])
    try:
        mapping = mapping_of(connection, collection, settings)
        looking = _Look(connection, source_id, settings, row["state"], mapping, selection.deep, selection.accept)
        looking.run()
        found = {**looking.state, "error": None, "failure_class": None}
    except (ListingError, ConfigurationError) as error:
        failure_class = error.failure_class if isinstance(error, ListingError) else FailureClass.UNSUPPORTED
        kept = connection.execute(queries["record_state"], {"source_id": source_id}).fetchone()
        found = {**(kept[0] or {} if kept else {}), "error": str(error), "failure_class": failure_class}
    seconds = settings.refresh.total_seconds()
    connection.execute(queries["record_look"], {"source_id": source_id, "state": Jsonb(found), "seconds": seconds})


@contextmanager
def turn(connection: Connection, collection: str) -> Iterator[None]:
    """Look while nobody else looks at the records of a collection."""
    scope = {"collection": collection, "part": "records"}
    while connection.execute(queries["begin_turn"], scope).fetchone() != (True,):
        time.sleep(0.05)
    try:
        yield
    finally:
        with suppress(Error):
            connection.execute(queries["end_turn"], scope)


@dataclass(slots=True)
class _Look:
    connection: Connection
    source_id: int
    settings: RecordSource
    state: dict[str, Any]
    mapping: RecordMapping
    deep: bool
    accept: bool
    is_anew: bool = field(init=False)
    """Whether every record is read again: by other settings, or because somebody asked."""
    known: dict[str, Known] = field(init=False, default_factory=dict)
    children: dict[str, set[str]] = field(init=False, default_factory=dict)
    """Known attachments of each record."""
    seen: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self.is_anew = self.deep or self.state.get("rules") != self.mapping.digest
        if self.is_anew:
            self.state = {"rules": self.mapping.digest, "upstream": self.state.get("upstream", {})}

    def run(self) -> None:
        if self.settings.table is not None:
            self._table()
        elif self.settings.python is not None or self.settings.api is not None:
            self._program()

    def _table(self) -> None:
        from sourcebook.records.tables import open_table

        key, updated = self.settings.key, self.settings.updated
        with open_table(self.settings) as table:
            if updated is None:
                self._know()
                self._keep(self._each_once(table.rows(key, None)))
                self._lose_unseen()
                return
            listed = list(table.marks(key, updated))
            self._check_number(len(listed))
            digest, latest = _digest(listed), mark_of(latest_of([value for _, value in listed]))
            is_settled = self.state.get("settled") and self.state.get("latest") == latest
            if digest == self.state.get("listing") and is_settled and not self.is_anew:
                return
            self._know()
            wanted: list[object] = []
            repeated: set[str] = set()
            for row_key, value in listed:
                uri, mark = self.mapping.uri(row_key), mark_of(value)
                if uri is None or uri in self.seen:
                    repeated.add(uri or self.mapping.keyless)
                    continue
                self.seen.add(uri)
                if self._wants(uri, mark, latest, is_settled=bool(is_settled)):
                    wanted.append(row_key)
                else:
                    self.seen |= self.children.get(uri, set())
            partly = not self.is_anew and len(wanted) * _LARGE_SHARE < len(listed)
            self._keep(self._each_once(table.rows(key, wanted if partly else None), repeated))
        failed = [self.mapping.repeated(uri) for uri in repeated if uri != self.mapping.keyless]
        if self.mapping.keyless in repeated:
            failed.append(self.mapping.rendered({}))
        self.seen |= {each.uri for each in failed}
        self._keep(failed)
        self._lose_unseen()
        first = self.state.get("latest_at", 0.0) if self.state.get("latest") == latest else time.time()
        is_settled = is_settled or time.time() - first >= _RACY_SECONDS
        listing = None if repeated else digest
        self.state |= {"listing": listing, "latest": latest, "latest_at": first, "settled": is_settled}

    def _wants(self, uri: str, mark: str | None, latest: str | None, *, is_settled: bool) -> bool:
        known = self.known.get(uri)
        if known is None or mark is None or (mark == latest and not is_settled):
            return True
        version, known_mark, is_live = known
        return known_mark != mark or not (is_live or version == DELETED)

    def _program(self) -> None:
        self._know()
        batch: list[RenderedRecord] = []
        gone: set[str] = set()
        size = 0
        for number, change in enumerate(self._changes(), 1):
            self._check_number(number)
            match change:
                case Deleted(key=key):
                    uri = self.mapping.uri(key) or ""
                    gone |= {uri, *self.children.pop(uri, ())}
                case Checkpoint():
                    self._settle(batch, gone, change)
                    batch, gone, size = [], set(), 0
                case _:
                    record, *attached = self._rendered(change)
                    batch += [record, *attached]
                    size += sum(len(each.content or b"") for each in (record, *attached))
                    known = self.children.pop(record.uri, set())
                    left = {each.uri for each in attached} | (known if record.failure is not None else set())
                    self.children[record.uri] = left
                    self.seen |= {record.uri, *left}
                    gone = (gone | known) - {record.uri, *left}
            if len(batch) >= BATCH or size > BATCH_BYTES:
                self._keep(batch)
                batch, size = [], 0
        self._settle(batch, gone, None)

    def _changes(self) -> Iterator[Row | Deleted | Checkpoint]:
        api, cursor = self.settings.api, self.state.get("cursor")
        if api is None:
            from sourcebook.records.programs import changes_of

            begin = len(self.settings.location) + 1
            failed = [uri for uri, (version, _, live) in self.known.items() if live and version.startswith("failed ")]
            return changes_of(self.settings, cursor, {unquote(uri[begin:].partition("/")[0]) for uri in failed})
        from sourcebook.records.apis import items_of

        is_old = time.time() - self.state.get("listed_at", 0.0) > api.relist.total_seconds()
        return items_of(self.settings, None if is_old else cursor)

    def _settle(self, batch: Sequence[RenderedRecord], gone: Iterable[str], checkpoint: Checkpoint | None) -> None:
        """Record what was yielded together with the point from which the next look goes on."""
        with self.connection.transaction():
            self._keep({record.uri: record for record in batch}.values())
            self._lose(gone)
            if checkpoint is None:
                return
            if checkpoint.complete:
                self._check_emptiness()
                self._lose_unseen()
                self.seen = set()
                self.state["listed_at"] = time.time()
            self.state["cursor"] = checkpoint.cursor
            scope = {"source_id": self.source_id, "state": Jsonb(self.state), "seconds": 0}
            self.connection.execute(queries["record_look"], scope)

    def _each_once(self, rows: Iterable[Row], repeated: Iterable[str] = ()) -> Iterator[RenderedRecord]:
        """Yield rows as records; those that share a key are one failure."""
        held, found = {*repeated}, set[str]()
        for number, row in enumerate(rows, 1):
            self._check_number(number)
            record, *attached = self._rendered(row)
            if record.uri in held:
                continue
            if record.uri in found and record.uri != self.mapping.keyless:
                held.add(record.uri)
                record = self.mapping.repeated(record.uri)
            found.add(record.uri)
            self.seen.add(record.uri)
            yield record
            if record.failure is not None:
                self.seen |= self.children.get(record.uri, set())
                continue
            self.seen |= {each.uri for each in attached}
            yield from attached

    def _rendered(self, row: Row) -> list[RenderedRecord]:
        """Return a record with its attachments; files are not read again where a record is as it was."""
        known = {} if self.is_anew else self.known
        record = self.mapping.rendered(row, known)
        if record.failure is not None or record.is_deleted:
            return [record]
        return [record, *self.mapping.attachments(row, record.uri, known)]

    def _check_emptiness(self) -> None:
        """Do not believe an API that lists nothing where it had records: many answer errors with an empty list."""
        live = sum(is_live for _, _, is_live in self.known.values())
        if live and self.settings.api is not None and not self.seen and not self.accept:
            raise ListingError(
                f"it lists no record, where {live:,} were known, which stay: sourcebook ingest --accept takes the loss",
                FailureClass.HELD,
            )

    def _check_number(self, number: int) -> None:
        if number > self.settings.max_records:
            raise ListingError(
                f"it has more than {self.settings.max_records:,} records, as its setting max_records allows: what was "
                "read is kept, and nothing is removed",
                FailureClass.TOO_LARGE,
            )

    def _know(self) -> None:
        with self.connection.cursor(binary=True) as cursor:
            rows = cursor.execute(queries["known_records"], {"source_id": self.source_id}).fetchall()
            self.known = {uri: (version, mark, is_live) for uri, version, mark, is_live in rows}
        self.children = known_children(self.known, self.settings)

    def _keep(self, records: Iterable[RenderedRecord]) -> None:
        """Write the records that differ from those that are known."""
        differing = (
            record
            for record in records
            if self.known.get(record.uri) != (record.version, record.mark, not record.is_deleted)
        )
        for batch in batched_by_size(differing, BATCH, BATCH_BYTES, size=lambda record: len(record.content or b"")):
            keep_records(self.connection, self.source_id, batch)
            self.known |= {each.uri: (each.version, each.mark, not each.is_deleted) for each in batch}

    def _lose_unseen(self) -> None:
        """Mark the records as gone that a complete listing does not have."""
        self._lose([uri for uri, (_, _, live) in self.known.items() if live and uri not in self.seen])

    def _lose(self, uris: Iterable[str]) -> None:
        lost = list(uris)
        lose_records(self.connection, self.source_id, lost)
        self.known |= {uri: (self.known[uri][0], None, False) for uri in lost if uri in self.known}


def _digest(listed: list[tuple[object, object]]) -> str:
    """Sort keys and marks, and return a digest; where it is another, the records are compared."""
    with suppress(TypeError):  # keys of several types
        listed.sort()
    return hashlib.sha256(repr(listed).encode("utf-8", "replace")).hexdigest()[:32]


def latest_of(values: Sequence[object]) -> object:
    """Return the latest of times, versions or numbers, also of numbers that are texts; None where there is none."""
    present: list[Any] = [value for value in values if value is not None]
    if all(isinstance(value, str) and value.isdecimal() for value in present):
        return max(present, key=int, default=None)
    try:
        return max(present, default=None)
    except TypeError:  # of several types
        return max(present, key=plain_text)

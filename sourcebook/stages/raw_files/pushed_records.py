"""Records that assets and programs hand over: kept as a look at a table keeps its rows."""

from collections.abc import Iterable, Iterator, Sequence

from psycopg import Connection

from sourcebook.config.records import RecordSource
from sourcebook.database.batches import batched_by_size
from sourcebook.database.queries import queries
from sourcebook.errors import UnknownSourceError
from sourcebook.records.record import RenderedRecord, Row
from sourcebook.stages.raw_files.record_rows import BATCH, BATCH_BYTES, keep_records, known_children, lose_records
from sourcebook.stages.raw_files.source_records import mapping_of, turn


def push_records(
    connection: Connection,
    collection: str,
    source: str | None = None,
    *,
    records: Iterable[Row] = (),
    deleted: Sequence[object] = (),
) -> int:
    """Insert or replace records of a source with `pushed: true`, and delete others; the next run publishes it.

    Args:
        connection: in autocommit mode.
        collection: name of the collection.
        source: name of the source; None: the only one that records are handed to.
        records: mappings from the fields of records to values.
        deleted: keys of records that are gone.

    Returns:
        The number of records that were handed over.

    Raises:
        UnknownSourceError: the collection has no such source, or several.
        ConfigurationError: its template cannot be read.
    """
    source_id, settings = _pushed(connection, collection, source)
    mapping = mapping_of(connection, collection, settings)
    number = 0
    with turn(connection, collection):
        connection.execute(queries["begin_pushed_records"], {"source_id": source_id})
        children: dict[str, set[str]] = {}
        if settings.attachments is not None:
            rows = connection.execute(queries["known_records"], {"source_id": source_id})
            children = known_children((row[0] for row in rows), settings)
        gone = [uri for key in deleted if (uri := mapping.uri(key)) is not None]

        def rendered() -> Iterator[RenderedRecord]:
            nonlocal number
            for row in records:
                record = mapping.rendered(row)
                number += 1
                yield record
                if record.failure is None:
                    attached = [] if record.is_deleted else mapping.attachments(row, record.uri)
                    yield from attached
                    left = {each.uri for each in attached}
                    gone.extend(children.get(record.uri, set()) - left)
                    children[record.uri] = left

        for batch in batched_by_size(rendered(), BATCH, BATCH_BYTES, size=lambda record: len(record.content or b"")):
            keep_records(connection, source_id, batch)
        lose_records(connection, source_id, [*gone, *(each for uri in gone for each in children.get(uri, ()))])
    return number


def _pushed(connection: Connection, collection: str, name: str | None) -> tuple[int, RecordSource]:
    rows = connection.execute(queries["record_sources"], {"collection": collection, "locations": []})
    found = [(row[0], RecordSource.model_validate(row[2])) for row in rows]
    pushed = [(number, each) for number, each in found if each.pushed and name in (None, each.name)]
    if len(pushed) != 1:
        names = ", ".join(each.name for _, each in found if each.pushed) or "none"
        wanted = "one source" if name is None else f"a source {name}"
        raise UnknownSourceError(f"{collection} has not {wanted} of records with pushed: true; there is {names}")
    return pushed[0]

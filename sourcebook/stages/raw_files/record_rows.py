"""The rows of records in the ledger: those that are kept, those that are gone, and attachments of each record."""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from psycopg import Connection

from sourcebook.config.records import RecordSource
from sourcebook.database.batches import batched
from sourcebook.database.queries import queries
from sourcebook.records.record import RenderedRecord

BATCH: Final = 1_000
BATCH_BYTES: Final = 16_000_000
"""Records and bytes of a transaction."""


def known_children(known: Iterable[str], settings: RecordSource) -> dict[str, set[str]]:
    """Return the URIs of known attachments by that of their record."""
    found: dict[str, set[str]] = {}
    if settings.attachments is not None:
        begin = len(settings.location) + 1
        for uri in known:
            end = uri.find("/", begin)
            if end > 0:
                found.setdefault(uri[:end], set()).add(uri)
    return found


def keep_records(connection: Connection, source_id: int, records: Sequence[RenderedRecord]) -> None:
    """Insert or update records of a source in one statement, the last one of each URI."""
    once = list({record.uri: record for record in records}.values())
    connection.execute(
        queries["record_records"],
        {
            "source_id": source_id,
            "uris": [record.uri for record in once],
            "versions": [record.version for record in once],
            "marks": [record.mark for record in once],
            "contents": [record.content or b"" for record in once],
            "skip_reasons": [record.skip_reason for record in once],
            "failures": [record.failure for record in once],
            "failure_classes": [record.failure_class for record in once],
            "allowed": [None if record.allowed is None else json.dumps(record.allowed) for record in once],
        },
    )


def lose_records(connection: Connection, source_id: int, uris: Sequence[str]) -> None:
    """Mark records of a source as gone."""
    for batch in batched(uris, BATCH):
        connection.execute(queries["lose_records"], {"source_id": source_id, "uris": list(batch)})

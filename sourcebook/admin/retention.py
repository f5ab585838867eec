"""Deletion of removed rows, and of the texts and vectors that only they needed."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Literal

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.uploads import delete_unreferenced_bytes
from sourcebook.database.database import Database
from sourcebook.database.lock import collection_locks, is_locked
from sourcebook.database.queries import queries
from sourcebook.indexing.activation import retire
from sourcebook.model.generation import Generation

_MOST_NIGHTS: Final = 7
"""Nights that a removed row is kept at least, however old it is by the clock; fewer days of age need fewer nights."""
_REMOVED: Final = {
    "collections": "delete_removed_collections",
    "documents": "delete_removed_documents",
    "sources": "delete_removed_sources",
    "files": "delete_removed_files",
    "pages": "delete_removed_pages",
    "uploads": "delete_removed_uploads",
}
"""Queries by the kind of rows that are removed before they are deleted, in the order of their deletion."""
_UNREFERENCED: Final = {
    "contents": "delete_unreferenced_contents",
    "transcripts": "delete_unreferenced_transcripts",
    "recordings": "delete_unreferenced_recordings",
    "embeddings": "delete_unreferenced_embeddings",
}


def forget_removed(database: Database, age: timedelta | None) -> dict[str, int] | None:
    """Delete rows that were removed long ago, with the texts and vectors that only they need, in one transaction.

    A row must have the age by the clock, and have been removed before the last seven nights (fewer for a smaller age)
    on which this function was called: a clock that is ahead by a year makes nothing old at once.

    Args:
        database: the knowledge base.
        age: age of the rows of collections without the setting `retention.removed`; None keeps them.

    Returns:
        Numbers of deleted rows by kind; None where an ingest is running and nothing was deleted.
    """
    with database.connection() as connection:
        connection.execute(queries["record_retention_night"])
        names = [name for (name,) in connection.execute(queries["every_collection"])]
        if any(is_locked(connection, name) for name in names):
            return None
        ages: dict[str, datetime] = {}
        for name, own in connection.execute(queries["retention_ages"]).fetchall():
            before = _forgotten_before(connection, age if own is None else timedelta(seconds=own))
            if before is not None:
                ages[name] = before
        with collection_locks(database, names):
            for name, before in ages.items():
                retire_removed(connection, before, name)
            counts = _forget(connection, ages)
            delete_unreferenced_bytes(connection)
    return dict(counts)


def _forget(connection: Connection, ages: Mapping[str, datetime]) -> Counter[str]:
    """Delete what was removed from each collection before its time, and return the numbers by kind."""
    counts: Counter[str] = Counter()
    with connection.transaction():
        connection.execute(queries["lock_passages"])  # what an import is about to need is not unreferenced
        for name, before in ages.items():
            counts.update(delete_removed(connection, before, name))
        if any(counts.values()):
            counts.update(delete_unreferenced(connection))
    return counts


def _forgotten_before(connection: Connection, age: timedelta | None) -> datetime | None:
    if age is None:
        return None
    scope = {"seconds": age.total_seconds(), "nights": min(age.days, _MOST_NIGHTS)}
    row = connection.execute(queries["forgotten_before"], scope).fetchone()
    return row[0] if row else None


def retire_removed(
    connection: Connection, before: datetime | Literal["infinity"], collection: str | None = None
) -> None:
    """Delete the generations of collections that were removed before a time, beside the searches of the others.

    In the transaction of a purge, dropping a partition would lock the entries of every collection until its end.

    Args:
        connection: in autocommit mode; the caller holds the locks of all collections.
        before: time with zone; `infinity` for all removed collections.
        collection: the only collection; None for all.
    """
    scope = {"before": before, "collection": collection}
    connection.execute(queries["leave_generations_of_removed_collections"], scope)
    for number, *_ in connection.execute(queries["generations_of_removed_collections"], scope).fetchall():
        retire(connection, number)


def delete_removed(
    connection: Connection, before: datetime | Literal["infinity"], collection: str | None = None
) -> dict[str, int]:
    """Delete rows that were removed before a time, with the partitions, marks and kept counts of deleted collections.

    Args:
        connection: in a transaction that began with `lock_passages`; the caller holds the locks of all collections.
        before: time with zone; `infinity` for all removed rows.
        collection: the only collection whose rows are deleted; None for all.

    Returns:
        Numbers of deleted rows by kind.
    """
    scope = {"before": before, "collection": collection}
    with connection.cursor(row_factory=class_row(Generation)) as cursor:
        generations = cursor.execute(queries["generations_of_removed_collections"], scope).fetchall()
    for generation in generations:
        for partition in generation.partitions.values():
            connection.execute(queries["drop_partition"].format(partition=partition))
    counts = {kind: connection.execute(queries[query], scope).rowcount for kind, query in _REMOVED.items()}
    for query in ("forget_finished_runs", "forget_upload_permissions"):
        connection.execute(queries[query], scope)
    connection.execute(queries["forget_removed_collections"])
    return counts


def delete_unreferenced(connection: Connection) -> dict[str, int]:
    """Delete texts, transcripts and vectors that no row needs, and return their numbers by kind."""
    return {kind: connection.execute(queries[query]).rowcount for kind, query in _UNREFERENCED.items()}

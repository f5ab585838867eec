"""Deletion of rows that were removed long ago."""

from contextlib import ExitStack
from datetime import datetime

from psycopg.rows import class_row

from sourcebook.database.database import Database
from sourcebook.database.lock import collection_lock, is_locked
from sourcebook.database.queries import queries
from sourcebook.model.generation import Generation

_REMOVED = {
    "collections": "forget_collections",
    "documents": "forget_documents",
    "sources": "forget_sources",
    "files": "forget_files",
    "pages": "forget_pages",
}
_UNREFERENCED = {
    "contents": "delete_unreferenced_contents",
    "transcripts": "delete_unreferenced_transcripts",
    "recordings": "delete_unreferenced_recordings",
    "embeddings": "delete_unreferenced_embeddings",
}


def forget_removed(database: Database, before: datetime) -> dict[str, int] | None:
    """Delete rows that were removed before a time, with the texts and vectors that only they need, in one transaction.

    Args:
        database: the knowledge base.
        before: time with zone.

    Returns:
        Numbers of deleted rows by kind; None where an ingest is running and nothing was deleted.
    """
    scope = {"before": before}
    with ExitStack() as locks, database.connection() as connection:
        names = [name for (name,) in connection.execute(queries["every_collection"])]
        if any(is_locked(connection, name) for name in names):
            return None
        for name in names:
            locks.enter_context(collection_lock(database, name))
        with connection.transaction():
            with connection.cursor(row_factory=class_row(Generation)) as cursor:
                generations = cursor.execute(queries["generations_to_forget"], scope).fetchall()
            for generation in generations:
                for partition in generation.partitions.values():
                    connection.execute(queries["drop_partition"].format(partition=partition))
            counts = {kind: connection.execute(queries[query], scope).rowcount for kind, query in _REMOVED.items()}
            if any(counts.values()):
                for kind, query in _UNREFERENCED.items():
                    counts[kind] = connection.execute(queries[query]).rowcount
    return counts

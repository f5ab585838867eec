"""The items that a process works on now."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.database.queries import queries


@dataclass(frozen=True, slots=True)
class ProcessingItem:
    """An item that is being parsed, transcribed or fetched."""

    collection: str
    uri: str
    stage: str
    """`documents`, `transcripts` or `crawled_pages`."""
    since: datetime
    process: str
    """Host and process id."""
    run: str | None
    """Dagster's run; None outside one."""


def processing_items(connection: Connection, collections: Sequence[str] = ()) -> list[ProcessingItem]:
    """Return the items that living processes work on, ordered by collection and URI.

    Args:
        connection: to the knowledge base.
        collections: names; every collection where empty.
    """
    with connection.cursor(row_factory=class_row(ProcessingItem)) as cursor:
        return cursor.execute(queries["processing_items"], {"collections": list(collections)}).fetchall()

"""The items that a process works on now."""

from collections.abc import Sequence

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.contract.status import ProcessingItem
from sourcebook.database.queries import queries


def processing_items(connection: Connection, collections: Sequence[str] = ()) -> list[ProcessingItem]:
    """Return the items that living processes work on, ordered by collection and URI."""
    with connection.cursor(row_factory=class_row(ProcessingItem)) as cursor:
        return cursor.execute(queries["processing_items"], {"collections": list(collections)}).fetchall()

"""Contents of each collection, by kept counts: nothing is compared with the sources."""

from collections.abc import Sequence

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.collections import check_collections
from sourcebook.contract.collections import CollectionSummary
from sourcebook.database.queries import queries


def collection_summaries(connection: Connection, names: Sequence[str] = ()) -> list[CollectionSummary]:
    """Return what collections hold, in alphabetical order."""
    check_collections(connection, names)
    with connection.cursor(row_factory=class_row(CollectionSummary)) as cursor:
        return cursor.execute(queries["collection_summaries"], {"names": list(names)}).fetchall()

"""Sources of each collection, as their last listing or crawl left them."""

from collections.abc import Sequence

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.collections import check_collections, collection_names
from sourcebook.contract.collections import CollectionSources
from sourcebook.contract.status import SourceStatus
from sourcebook.database.queries import queries


def collection_sources(connection: Connection, names: Sequence[str] = ()) -> list[CollectionSources]:
    """Return the sources of collections, in alphabetical order; nothing is looked up in the sources."""
    check_collections(connection, names)
    found = []
    for name in sorted(set(names) or collection_names(connection)):
        with connection.cursor(row_factory=class_row(SourceStatus)) as cursor:
            rows = cursor.execute(queries["source_listings"], {"collection": name}).fetchall()
        found.append(CollectionSources(name, tuple(rows)))
    return found

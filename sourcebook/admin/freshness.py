"""The freshness of collections: their last comparison with the sources, and the age of the oldest waiting change."""

from dataclasses import dataclass

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.database.queries import queries


@dataclass(frozen=True, slots=True)
class Freshness:
    """The freshness of one collection, in seconds."""

    collection: str
    compared_ago: float | None
    """Seconds since the collection was compared with its sources; None where it never was."""
    lag: float
    """Seconds for which the oldest known change, or the most overdue site, has been waiting; 0 where none waits."""


def record_comparison(
    connection: Connection, collection: str, *, behind: bool, settled_parsers: str | None = None
) -> None:
    """Record a comparison of a collection with its sources.

    Args:
        connection: in autocommit mode.
        collection: name of the collection.
        behind: whether changes wait to be ingested.
        settled_parsers: digest of the parsers that every item was found to follow: from now on only changed items are
            compared with them. Give it only where no process ingests the collection, which may know other parsers.
    """
    if settled_parsers is not None:
        connection.execute(queries["record_parsers"], {"collection": collection, "parsers": settled_parsers})
    connection.execute(queries["record_comparison"], {"collection": collection, "behind": behind})


def read_freshness(connection: Connection) -> list[Freshness]:
    """Return the freshness of every collection in alphabetical order."""
    with connection.cursor(row_factory=class_row(Freshness)) as cursor:
        return cursor.execute(queries["freshness"]).fetchall()

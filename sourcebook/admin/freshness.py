"""The freshness of collections: their last comparison with the sources, and the age of the oldest waiting change."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.database.queries import queries

LONGEST_WAIT: Final = 600.0
"""Seconds for which a change of a source may wait to be ingested, before a check fails and `status` says so."""


@dataclass(frozen=True, slots=True)
class WaitingSource:
    """A folder, store or uploads with a change that has not been ingested."""

    collection: str
    location: str
    behind_since: datetime
    """Time of the first comparison that found it, in UTC."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """The freshness of one collection, in seconds."""

    collection: str
    compared_ago: float | None
    """Seconds since the collection was compared with its sources; None where it never was."""
    lag: float
    """Seconds for which the oldest known change, or the most overdue site, has been waiting; 0 where none waits."""


def record_comparison(
    connection: Connection,
    collection: str,
    *,
    behind: bool,
    sources: Collection[int] = (),
    since: datetime | None = None,
    settled_parsers: str | None = None,
) -> None:
    """Record a comparison of a collection with its sources.

    Args:
        connection: in autocommit mode.
        collection: name of the collection.
        behind: whether changes wait to be ingested.
        sources: ids of the folders, stores and uploads with such changes.
        since: time since which the oldest of these changes has been waiting: under constant changes some wait at every
            comparison. By default the time of the first comparison of those in a row that found some.
        settled_parsers: digest of the parsers that every item was found to follow: from now on only changed items are
            compared with them. Give it only where no process ingests the collection, which may know other parsers.
    """
    if settled_parsers is not None:
        connection.execute(queries["record_parsers"], {"collection": collection, "parsers": settled_parsers})
    values = {"collection": collection, "behind": behind, "sources": list(sources), "since": since}
    connection.execute(queries["record_comparison"], values)
    connection.execute(queries["forget_waiting_sources"], values)
    if sources:
        connection.execute(queries["record_waiting_sources"], values)


def waiting_sources(connection: Connection, seconds: float) -> list[WaitingSource]:
    """Return the sources of every collection in which a change has been waiting for longer."""
    with connection.cursor(row_factory=class_row(WaitingSource)) as cursor:
        return cursor.execute(queries["waiting_sources"], {"seconds": seconds}).fetchall()


def read_freshness(connection: Connection) -> list[Freshness]:
    """Return the freshness of every collection in alphabetical order."""
    with connection.cursor(row_factory=class_row(Freshness)) as cursor:
        return cursor.execute(queries["freshness"]).fetchall()

"""The query log as people read it: what was asked, how often, and what found nothing."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.audit import record_event
from sourcebook.admin.collections import check_collections
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """A query that was asked of a collection, with its numbers; queries that differ in case are one."""

    collection: str
    query: str
    """As it was last written, redacted."""
    searches: int
    without_results: int
    """Number of the searches that found nothing relevant in any collection."""
    last_results: int
    """Number of passages on the first page of the last search."""
    last_asked_at: datetime

    def as_dict(self) -> dict[str, Any]:
        """Return plain values; the time as ISO 8601."""
        return {**asdict(self), "last_asked_at": self.last_asked_at.isoformat()}


def logged_queries(
    connection: Connection,
    collections: Sequence[str] = (),
    *,
    without_results: bool = False,
    age: timedelta | None = None,
    limit: int | None = None,
) -> list[LoggedQuery]:
    """Return the logged queries, the most frequent first.

    Args:
        connection: to the knowledge base.
        collections: names; every collection where none is named.
        without_results: only queries whose last search had no results.
        age: only searches of this last time.
        limit: the most queries; all where None.

    Raises:
        QueryError: a collection does not exist, or the limit is below 1.
    """
    if limit is not None and limit < 1:
        raise QueryError(f"the limit is {limit}; it must be 1 or more")
    check_collections(connection, collections)
    values = {"collections": list(collections), "without_results": without_results, "age": age, "limit": limit}
    with connection.cursor(row_factory=class_row(LoggedQuery)) as cursor:
        return cursor.execute(queries["logged_queries"], values).fetchall()


def forget_logged_queries(connection: Connection, collections: Sequence[str] = (), *, actor: str) -> int:
    """Delete the logged queries of collections, of all where none is named; return the number of searches.

    Args:
        connection: to the knowledge base.
        collections: names; every collection where none is named.
        actor: who asks, for the audit.

    Raises:
        QueryError: a collection does not exist.
    """
    check_collections(connection, collections)
    names = list(collections)
    with connection.transaction():
        deleted = connection.execute(queries["forget_logged_queries"], {"collections": names}).rowcount
        subject = ", ".join(names) or "every collection"
        record_event(connection, actor, "queries.forget", subject, {"searches": deleted})
    return deleted

"""The query log as people read it: what was asked, how often, and what found nothing."""

from collections.abc import Sequence
from datetime import timedelta

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.audit import record_event
from sourcebook.admin.collections import check_collections
from sourcebook.contract.query_log import LoggedQuery
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError


def logged_queries(
    connection: Connection,
    collections: Sequence[str] = (),
    *,
    without_results: bool = False,
    age: timedelta | None = None,
    limit: int | None = None,
) -> list[LoggedQuery]:
    """Return the logged queries, the most frequent first."""
    if limit is not None and limit < 1:
        raise QueryError(f"the limit is {limit}; it must be 1 or more")
    check_collections(connection, collections)
    values = {"collections": list(collections), "without_results": without_results, "age": age, "limit": limit}
    with connection.cursor(row_factory=class_row(LoggedQuery)) as cursor:
        return cursor.execute(queries["logged_queries"], values).fetchall()


def forget_logged_queries(connection: Connection, collections: Sequence[str] = (), *, actor: str) -> int:
    """Delete the logged queries of collections, of all where none is named; return the number of searches."""
    check_collections(connection, collections)
    names = list(collections)
    with connection.transaction():
        deleted = connection.execute(queries["forget_logged_queries"], {"collections": names}).rowcount
        subject = ", ".join(names) or "every collection"
        record_event(connection, actor, "queries.forget", subject, {"searches": deleted})
    return deleted

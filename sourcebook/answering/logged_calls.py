"""The log of language models as people read it: calls, sums of them, and its deletion."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.audit import record_event
from sourcebook.admin.collections import check_collections
from sourcebook.contract.llm_log import CallStatistics, LoggedCall
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError

_MOST: Final = 10_000
"""Calls of one list, at most."""


def logged_calls(
    connection: Connection,
    collections: Sequence[str] | None = None,
    *,
    age: timedelta | None = None,
    session: str | None = None,
    failed: bool = False,
    before: int | None = None,
    limit: int = 50,
) -> list[LoggedCall]:
    """Return the logged calls, the newest first."""
    if not 1 <= limit <= _MOST:
        raise QueryError(f"the limit is {limit}; it must be from 1 to {_MOST:,}")
    scope = {**_scope(connection, collections), "age": age, "session": session}
    with connection.cursor(row_factory=class_row(LoggedCall)) as cursor:
        values = {**scope, "failed": failed, "before": before, "limit": limit}
        return cursor.execute(queries["llm_calls"], values).fetchall()


def call_statistics(
    connection: Connection, collections: Sequence[str] | None = None, *, age: timedelta | None = None
) -> list[CallStatistics]:
    """Return the sums of the logged calls by origin, service and model; see `logged_calls`."""
    values = {**_scope(connection, collections), "age": age}
    with connection.cursor(row_factory=class_row(CallStatistics)) as cursor:
        return cursor.execute(queries["llm_statistics"], values).fetchall()


def forget_calls(connection: Connection, collections: Sequence[str] | None = None, *, actor: str) -> int:
    """Delete logged calls; return their number."""
    scope = _scope(connection, collections)
    with connection.transaction():
        deleted = connection.execute(queries["forget_llm_calls"], scope).rowcount
        subject = ", ".join(collections or ()) or "every collection"
        record_event(connection, actor, "llm_calls.forget", subject, {"calls": deleted})
    return deleted


def delete_old_calls(connection: Connection) -> int:
    """Delete the calls that are older than the log keeps them; return their number."""
    return connection.execute(queries["delete_old_llm_calls"]).rowcount


def _scope(connection: Connection, collections: Sequence[str] | None) -> dict[str, Any]:
    names = None if collections is None else list(collections)
    check_collections(connection, names or ())
    return {"collections": names}

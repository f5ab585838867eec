"""The audit of reading: its list, and its end."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.audit import record_event
from sourcebook.admin.collections import check_collections
from sourcebook.contract.readings import Reading
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError

MOST: Final = 10_000
"""Readings of a list, at most."""
_NO_ID: Final = 1 << 63
"""Greater than every id."""
_MOST_DIGITS: Final = 20


def readings(
    connection: Connection,
    collections: Sequence[str] = (),
    *,
    principal: str | None = None,
    document: str | int | None = None,
    age: timedelta | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[Reading]:
    """Return readings of collections, of all where none is named, the newest first; see `KnowledgeBase.readings`."""
    if not 1 <= limit <= MOST:
        raise QueryError(f"the limit is {limit}; it must be 1 to {MOST:,}")
    check_collections(connection, collections)
    number = document if isinstance(document, int) else _number(document or "")
    values = {
        "collections": list(collections),
        "principal": principal,
        "document": number,
        "uri": document if number is None else None,
        "age": age,
        "before": before,
        "limit": limit,
    }
    if number is not None and not 0 < number < _NO_ID:
        return []
    with connection.cursor(row_factory=class_row(Reading)) as cursor:
        return cursor.execute(queries["readings"], values).fetchall()


def _number(document: str) -> int | None:
    """Return a document's id that is written as a text; None for an address."""
    if not (document.isascii() and document.isdigit()):
        return None
    return int(document) if len(document) <= _MOST_DIGITS else _NO_ID


def forget_readings(connection: Connection, collections: Sequence[str] = (), *, actor: str) -> int:
    """Delete the audit of reading of collections, of all where none is named; return the number of readings."""
    check_collections(connection, collections)
    names = list(collections)
    with connection.transaction():
        deleted = connection.execute(queries["forget_readings"], {"collections": names}).rowcount
        subject = ", ".join(names) or "every collection"
        record_event(connection, actor, "audit.forget", subject, {"readings": deleted})
    return deleted


def delete_old_readings(connection: Connection) -> int:
    """Delete readings that are older than `retention.audit` of their collection; return their number."""
    return connection.execute(queries["delete_old_readings"]).rowcount

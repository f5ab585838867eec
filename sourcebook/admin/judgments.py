"""Judgments that people record while they search: right or wrong, by query and document."""

from collections.abc import Sequence
from typing import Final

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.audit import record_event
from sourcebook.contract.judgments import MOST_JUDGED_CHARACTERS, RecordedJudgment
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError

HIGHEST_GRADE: Final = 1_000
"""Largest absolute value of a grade."""


def record_judgment(connection: Connection, collection: str, query: str, uri: str, grade: int, *, actor: str) -> None:
    """Record the grade of a document for a query, in place of an earlier one; the audit does not repeat the query."""
    query = query.strip()
    if not query or len(query) > MOST_JUDGED_CHARACTERS or "\0" in query:
        raise QueryError(f"the query has {len(query):,} characters; it must have 1 to {MOST_JUDGED_CHARACTERS:,}")
    if abs(grade) > HIGHEST_GRADE:
        raise QueryError(f"the grade is {grade}; it must be -{HIGHEST_GRADE:,} to {HIGHEST_GRADE:,}")
    values = {"collection": collection, "query": query, "uri": uri, "grade": grade}
    with connection.transaction():
        connection.execute(queries["record_judgment"], values)
        record_event(connection, actor, "judgment.record", uri, {"collection": collection, "grade": grade})


def forget_judgment(connection: Connection, collection: str, query: str, uri: str, *, actor: str) -> bool:
    """Delete the judgment of a document for a query; return whether there was one. See `record_judgment`."""
    if "\0" in query:
        return False  # none was recorded
    values = {"collection": collection, "query": query.strip(), "uri": uri}
    with connection.transaction():
        is_deleted = connection.execute(queries["forget_judgment"], values).rowcount > 0
        if is_deleted:
            record_event(connection, actor, "judgment.forget", uri, {"collection": collection})
    return is_deleted


def recorded_judgments(connection: Connection, collections: Sequence[str] = ()) -> list[RecordedJudgment]:
    """Return the judgments of collections, query by query; of every collection where none is named."""
    with connection.cursor(row_factory=class_row(RecordedJudgment)) as cursor:
        return cursor.execute(queries["recorded_judgments"], {"collections": list(collections)}).fetchall()


def judgments_of_query(connection: Connection, collections: Sequence[str], query: str) -> dict[tuple[str, str], int]:
    """Return the grades of documents of collections for a query, by collection and URI."""
    if "\0" in query:
        return {}
    values = {"collections": list(collections), "query": query.strip()}
    return {(name, uri): grade for name, uri, grade in connection.execute(queries["judgments_of_query"], values)}

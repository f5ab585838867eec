"""Recorded judgments as the queries of an evaluation."""

from pathlib import Path
from typing import Final

from psycopg import Connection

from sourcebook.admin.judgments import recorded_judgments
from sourcebook.evaluation.errors import EvaluationError
from sourcebook.evaluation.judged_queries import JudgedQueries

RECORDED: Final = Path("the recorded judgments")
"""Name of the recorded judgments in messages about a file of judgments."""


def recorded_queries(connection: Connection, collection: str, limit: int | None = None) -> JudgedQueries:
    """Return the recorded judgments of a collection as the queries of an evaluation.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        limit: the most queries that are measured.

    Raises:
        EvaluationError: no document was judged right for any query.
    """
    grades: dict[str, dict[str, int]] = {}
    for judgment in recorded_judgments(connection, [collection]):
        grades.setdefault(judgment.query, {})[judgment.uri] = judgment.grade
    found = JudgedQueries.measurable({query: query for query in grades}, grades, limit, RECORDED)
    if not found.texts:
        raise EvaluationError(
            f"no result was judged right in {collection}: record some with  sourcebook judge QUERY DOCUMENT, "
            "or give --queries and --qrels"
        )
    return found

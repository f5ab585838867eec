"""Judged queries: the queries of an evaluation with their judgments.

A file of queries has one JSON object per line: `{"id": "q1", "text": "How long do the batteries last?"}`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, Self

from psycopg import Connection

from sourcebook.admin.judgments import recorded_judgments
from sourcebook.contract.search import MOST_CHARACTERS
from sourcebook.evaluation.errors import EvaluationError, refuse
from sourcebook.evaluation.judgments import Judgment, grades_by_query, read_judgments, relevant
from sourcebook.evaluation.lines import read_lines

RECORDED: Final = Path("the recorded judgments")
"""Name of the recorded judgments in messages about a file of judgments."""
_EXAMPLE = '{"id": "q1", "text": "How long do the batteries last?"}'


@dataclass(frozen=True, slots=True)
class JudgedQueries:
    """The queries that can be measured, and the number of those that cannot."""

    texts: dict[str, str]
    """Query → its text, in the file's order; each has a relevant document."""
    grades: dict[str, dict[str, int]]
    """Query → document as named in the file → grade."""
    unjudged: int
    """Number of queries without a judgment."""
    without_relevant: int
    """Number of queries with judgments and without a relevant document."""
    qrels: Path
    """The file of the judgments."""

    @classmethod
    def measurable(
        cls, texts: Mapping[str, str], grades: Mapping[str, dict[str, int]], limit: int | None, qrels: Path
    ) -> Self:
        """Return the first queries that have a relevant document, at most so many; all where the limit is None."""
        measurable = [query for query in texts if any(relevant(grades.get(query, {})))]
        asked = measurable[:limit]
        return cls(
            texts={query: texts[query] for query in asked},
            grades={query: grades[query] for query in asked},
            unjudged=len(texts) - len(grades),
            without_relevant=len(grades) - len(measurable),
            qrels=qrels,
        )


def read_judged_queries(queries: Path, qrels: Path, limit: int | None = None) -> JudgedQueries:
    """Read the queries and their judgments.

    Args:
        queries: JSON lines; see `read_queries`.
        qrels: columns; see `read_judgments`.
        limit: the most queries that are measured, the first ones that can be.

    Raises:
        EvaluationError: a file is malformed, a judgment names an unknown query, or no query can be measured; the
            message names file, line and remedy.
    """
    texts = read_queries(queries)
    judgments = read_judgments(qrels)
    _refuse_unknown(judgments, texts, queries, qrels)
    grades = grades_by_query(judgments)
    found = JudgedQueries.measurable(texts, grades, limit, qrels)
    if not found.texts:
        raise EvaluationError(f"{qrels} calls no document relevant for any query of {queries}: grades above 0 do that")
    return found


def _refuse_unknown(judgments: list[Judgment], texts: dict[str, str], queries: Path, qrels: Path) -> None:
    unknown = {judgment.query: judgment.line for judgment in reversed(judgments) if judgment.query not in texts}
    if not unknown:
        return
    query, line = min(unknown.items(), key=lambda item: item[1])
    more = f" ({len(unknown) - 1:,} more in this file)" if len(unknown) > 1 else ""
    some = ", ".join(repr(known) for known in islice(texts, 3))
    refuse(qrels, line, f"{queries} has no query {query!r}{more}; it has {some}. Add the query, or delete the line")


def read_queries(path: Path) -> dict[str, str]:
    """Return each query's text by its id, in the file's order; BEIR's key `_id` stands for `id`.

    Raises:
        EvaluationError: the file is malformed; the message names file, line and remedy.
    """
    queries: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, line in read_lines(path):
        identity, text = _read(path, number, line)
        if identity in queries:
            refuse(path, number, f"the id {identity!r} is already given on line {lines[identity]}: ids are unique")
        queries[identity] = text
        lines[identity] = number
    return queries


def _read(path: Path, number: int, line: str) -> tuple[str, str]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        refuse(path, number, f"this is not JSON ({error.msg}, column {error.colno}); a line looks like {_EXAMPLE}")
    except (ValueError, RecursionError):
        refuse(path, number, f"this JSON cannot be read; a line looks like {_EXAMPLE}")
    if not isinstance(row, dict):
        refuse(path, number, f"this is no JSON object; a line looks like {_EXAMPLE}")
    identity, text = row.get("id", row.get("_id")), row.get("text")
    if isinstance(identity, int) and not isinstance(identity, bool):
        identity = str(identity)
    if not isinstance(identity, str) or not identity.strip():
        refuse(path, number, f"the key id is missing, empty or no text; a line looks like {_EXAMPLE}")
    if not isinstance(text, str):
        refuse(path, number, f"the key text is missing or no text; a line looks like {_EXAMPLE}")
    if not text.replace("\0", " ").strip():
        refuse(path, number, "the query is empty: give it at least one word")
    if len(text) > MOST_CHARACTERS:
        refuse(path, number, f"the query has {len(text):,} characters, at most {MOST_CHARACTERS:,} are searched")
    return identity.strip(), text


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

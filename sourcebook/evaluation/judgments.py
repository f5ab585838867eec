"""Relevance judgments (qrels): grades of documents for queries."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sourcebook.admin.judgments import HIGHEST_GRADE
from sourcebook.evaluation.errors import EvaluationError, refuse
from sourcebook.evaluation.lines import read_lines

_FORMS = "query, document, grade in columns separated by tabs, or TREC's query, iteration, document, grade"
_HEADERS = ("grade", "score", "relevance", "rel", "label", "judgment", "judgement")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Judgment:
    """The grade of a document for a query."""

    query: str
    document: str
    """Name of the document in the file."""
    grade: int
    """Above 0: relevant, the higher the more. 0 or less: not relevant."""
    line: int


def read_judgments(path: Path) -> list[Judgment]:
    """Return the judgments in the file's order.

    Columns are separated by tabs where the line has tabs, else by white space. Three columns are query, document and
    grade; four are TREC's query, iteration, document, grade. The first line may be a header whose last column is named
    grade, score, relevance, rel, label or judgment.

    Raises:
        EvaluationError: the file is malformed; the message names file, line and remedy.
    """
    judgments: list[Judgment] = []
    lines: dict[tuple[str, str], int] = {}
    columns = 0
    for number, line in read_lines(path):
        parts = [part.strip() for part in (line.split("\t") if "\t" in line else line.split())]
        first, columns = not columns, columns or len(parts)
        if len(parts) not in {3, 4}:
            refuse(path, number, f"found {_columns(len(parts))}; a line holds {_FORMS}")
        if not all(parts):
            refuse(path, number, f"column {parts.index('') + 1} is empty; a line holds {_FORMS}")
        if len(parts) != columns:
            refuse(path, number, f"found {_columns(len(parts))} where the first line has {columns}")
        if first and parts[-1].lower() in _HEADERS:
            continue
        judgment = Judgment(parts[0], parts[-2], _grade(path, number, parts[-1]), number)
        known = lines.setdefault((judgment.query, judgment.document), number)
        if known != number:
            reason = f"query {judgment.query!r} and document {judgment.document!r} are already judged on line {known}"
            refuse(path, number, f"{reason}: keep one of the two")
        judgments.append(judgment)
    if not judgments:
        raise EvaluationError(f"{path} holds a header and no judgments: each line below it is {_FORMS}")
    return judgments


def _columns(number: int) -> str:
    return "1 column" if number == 1 else f"{number:,} columns"


def _grade(path: Path, number: int, text: str) -> int:
    grade = int(text) if _WHOLE_NUMBER.fullmatch(text) else None
    if grade is None or abs(grade) > HIGHEST_GRADE:
        refuse(
            path, number, f"the grade {text[:60]!r} is no whole number from -{HIGHEST_GRADE:,} to {HIGHEST_GRADE:,}; "
            "0 is not relevant, above 0 is"
        )  # fmt: skip
    return grade


def grades_by_query(judgments: list[Judgment]) -> dict[str, dict[str, int]]:
    """Return query → document → grade."""
    grades: dict[str, dict[str, int]] = {}
    for judgment in judgments:
        grades.setdefault(judgment.query, {})[judgment.document] = judgment.grade
    return grades


def relevant(grades: dict[str, int]) -> Iterator[str]:
    """Yield the relevant documents."""
    return (document for document, grade in grades.items() if grade > 0)

"""Errors of queries and judgments."""

from typing import NoReturn

from sourcebook.errors import QueryError


class EvaluationError(QueryError):
    """Queries or judgments are missing or malformed, or do not fit the collection."""


def refuse(path: object, line: int, reason: str) -> NoReturn:
    """Raise the error that names the file and the line."""
    raise EvaluationError(f"{path}, line {line}: {reason}")

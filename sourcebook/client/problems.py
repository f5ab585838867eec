"""Problem details of a server as the errors that the library raises."""

import json
from collections.abc import Mapping
from typing import Final

from sourcebook.errors import (
    AccessError,
    AmbiguousDocumentError,
    ChangedSettingsError,
    ConflictError,
    DatabaseBusyError,
    DatabaseError,
    DatabaseUnavailableError,
    ModelError,
    OriginalGoneError,
    QueryError,
    RateLimitError,
    SourcebookError,
    UnknownCollectionError,
    UnknownDocumentError,
    UploadSpaceError,
)
from sourcebook.model.problem_types import ProblemType

LONGEST_PAUSE: Final = 10.0
"""Seconds that a server may ask to wait for; where it asks for more, the caller decides."""
_LONGEST_DETAIL: Final = 500
"""Characters of a server's sentence, at most."""
_BY_TYPE: Final[Mapping[str, type[SourcebookError]]] = {
    ProblemType.UNKNOWN_DOCUMENT: UnknownDocumentError,
    ProblemType.UNKNOWN_COLLECTION: UnknownCollectionError,
    ProblemType.AMBIGUOUS_DOCUMENT: AmbiguousDocumentError,
    ProblemType.DATABASE_UNAVAILABLE: DatabaseUnavailableError,
    ProblemType.DATABASE_BUSY: DatabaseBusyError,
    ProblemType.MODEL: ModelError,
}
_BY_STATUS: Final[Mapping[int, type[SourcebookError]]] = {
    400: QueryError,
    401: AccessError,
    403: AccessError,
    404: QueryError,
    409: ConflictError,
    410: OriginalGoneError,
    412: ChangedSettingsError,
    413: QueryError,
    415: QueryError,
    422: QueryError,
    507: UploadSpaceError,
}


def error_of(url: str, status: int, headers: Mapping[str, str], content: bytes) -> SourcebookError:
    """Return the error for an answer that is none.

    Args:
        url: the server, for the sentence.
        status: of the answer.
        headers: of the answer.
        content: its body: problem details (RFC 9457), or whatever a proxy in between says.

    Returns:
        `QueryError` for what the request asks wrongly, `UnknownCollectionError`, `UnknownDocumentError`, `AccessError`
        for a key that is missing, invalid or not enough, `RateLimitError`, `ModelError`, `ConflictError`,
        `OriginalGoneError`, and `DatabaseError` for everything else: temporary where another attempt can succeed.
    """
    problem = _problem(content)
    detail = problem.get("detail") or f"the server at {url} answers with status {status}"
    if status == 429:
        return RateLimitError(detail, seconds_to_wait(headers))
    if status == 409 and seconds_to_wait(headers) is not None:  # the first attempt still runs
        return DatabaseBusyError(detail)
    kind = _BY_TYPE.get(problem.get("type", "")) or _BY_STATUS.get(status)
    if kind is not None:
        return kind(detail)
    if status in {502, 504} or (status == 503 and seconds_to_wait(headers) is not None):
        return DatabaseUnavailableError(detail)
    return DatabaseError(detail)


def pause_before_retry(error: Exception) -> bool | float:
    """Return whether another attempt can succeed, or the seconds after which the server asks for it."""
    if isinstance(error, RateLimitError):
        return error.seconds is not None and error.seconds <= LONGEST_PAUSE and max(error.seconds, 0.01)
    return isinstance(error, DatabaseError) and error.is_temporary


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of `Retry-After`; None where there are none (dates are not read)."""
    text = headers.get("retry-after", "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 7 else None


def _problem(content: bytes) -> dict[str, str]:
    """Return the texts of problem details; none where it is something else."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: value[:_LONGEST_DETAIL] for name, value in found.items() if isinstance(value, str)}

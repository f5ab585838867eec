"""Observation of a search: a span, counters and a log line."""

import logging
import time
from types import TracebackType
from typing import Self

import psycopg

from sourcebook.contract.search import SearchRequest
from sourcebook.contract.search_results import SearchResults
from sourcebook.errors import DatabaseError, ModelError, QueryError
from sourcebook.telemetry.measurements import (
    SEARCH_PART_SECONDS,
    SEARCH_RESULTS,
    SEARCH_SECONDS,
    SEARCHES,
    measurements,
)
from sourcebook.telemetry.spans import describe, span

_log = logging.getLogger("sourcebook.search")


class SearchObservation:
    """Records a search from its beginning to its end or its error, without its query, which may be confidential."""

    def __init__(self, request: SearchRequest) -> None:
        """Prepare the observation of a request."""
        self._mode = request.mode
        limit = {} if request.limit is None else {"limit": request.limit}  # else as the collections say
        attributes = {"mode": request.mode, "offset": request.offset, **limit}
        self._span = span("search", attributes, is_confidential=True)
        self._started = 0.0

    def __enter__(self) -> Self:
        """Begin the span and the clock."""
        self._current = self._span.__enter__()
        self._started = time.perf_counter()
        return self

    def part(self, name: str, milliseconds: float) -> None:
        """Record the duration of a part."""
        measurements.record(SEARCH_PART_SECONDS, milliseconds / 1000, name)

    def found(self, results: SearchResults) -> SearchResults:
        """Record the number of results, and return them."""
        measurements.record(SEARCH_RESULTS, len(results), self._mode)
        describe(self._current, {"results": len(results), "dropped_legs": ", ".join(results.dropped_legs)})
        return results

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Record the duration and the outcome."""
        seconds = time.perf_counter() - self._started
        outcome = _outcome(error)
        measurements.record(SEARCHES, 1, self._mode, outcome)
        measurements.record(SEARCH_SECONDS, seconds, self._mode)
        if error is not None or _log.isEnabledFor(logging.DEBUG):
            fields = {"mode": self._mode, "outcome": outcome, "seconds": round(seconds, 4)}
            level = logging.DEBUG if error is None or outcome == "query_error" else logging.WARNING
            # The class alone: the text may quote the query, as that of a refused statement does.
            why = f" ({type(error).__name__})" if error is not None else ""
            _log.log(level, "search ended with %s%s after %.3f s", outcome, why, seconds, extra=fields)
        self._span.__exit__(kind, error, traceback)


def _outcome(error: BaseException | None) -> str:
    match error:
        case None:
            return "ok"
        case QueryError():
            return "query_error"
        case DatabaseError() | psycopg.Error():
            return "database_error"
        case ModelError():
            return "model_error"
        case _:
            return "error"

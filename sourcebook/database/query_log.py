"""The query log: searches of this process that wait to be written, and the deletion of old ones."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Final

from psycopg import Connection

from sourcebook.database.queries import queries

_MOST_WAITING: Final = 10_000
"""Rows that wait at most, while the database cannot be written; the oldest are lost first."""


@dataclass(frozen=True, slots=True)
class _Row:
    collection: str
    query: str
    results: int
    asked_at: datetime
    relevance: float | None


class QueryLog:
    """Searches that wait to be written to the query log. Thread-safe; adding one takes no connection."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: deque[_Row] = deque(maxlen=_MOST_WAITING)

    @property
    def is_stored(self) -> bool:
        """Whether nothing waits."""
        return not self._waiting

    def add(self, collections: Sequence[str], query: str, results: int, relevance: float | None = None) -> None:
        """Add a search.

        Args:
            collections: names of the searched collections that keep a log.
            query: the query, redacted.
            results: number of passages on the first page.
            relevance: that of the most relevant of them, 0..1; None where it is not known.
        """
        now = datetime.now(UTC)
        with self._lock:
            self._waiting.extend(_Row(name, query, results, now, relevance) for name in collections)

    def store(self, connection: Connection) -> None:
        """Write what waits, and delete what is older than its collection keeps it.

        Where writing fails, the rows wait for the next call.
        """
        with self._lock:
            rows = list(self._waiting)
            self._waiting.clear()
        if not rows:
            return
        try:
            connection.execute(
                queries["log_queries"],
                {
                    "collections": [row.collection for row in rows],
                    "queries": [row.query for row in rows],
                    "results": [row.results for row in rows],
                    "times": [row.asked_at for row in rows],
                    "relevances": [row.relevance for row in rows],
                },
            )
            delete_old_queries(connection)
        except BaseException:
            with self._lock:
                self._waiting.extendleft(reversed(rows))
            raise


def delete_old_queries(connection: Connection) -> int:
    """Delete logged queries that are older than `retention.queries` of their collection; return their number."""
    return connection.execute(queries["delete_old_queries"]).rowcount

"""Turns of the watch: a collection is left alone while others wait for it, and half of the time where it is busy."""

import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

from sourcebook.database.database import Database
from sourcebook.database.lock import is_awaited
from sourcebook.database.queries import queries

_LONGEST_PAUSE: Final = 10.0
"""Seconds between two turns of a collection at most."""
_WINDOW: Final = 60.0
"""Seconds of which a collection is worked on for half before its turns have pauses between them."""
_SECONDS_FOR_THE_QUEUE: Final = 10.0
"""Seconds that a queued run of a collection gets to start: Dagster looks every two seconds whether it may."""


class Turns:
    """The turns of the collections in one process.

    Args:
        database: the knowledge base.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._next: dict[str, float] = {}
        self._queued_since: dict[str, float] = {}
        self._spans: defaultdict[str, deque[tuple[float, float]]] = defaultdict(deque)
        self.taken_turns: Counter[str] = Counter()
        """Number of the turns of each collection so far."""

    def is_free(self, collection: str) -> bool:
        """Return whether a collection may be ingested now.

        It may not where a process works on it or waits for it, and for some seconds where a run of it is queued:
        Dagster starts none while another run of the collection goes on, and under constant changes one always would.
        """
        if time.monotonic() < self._next.get(collection, 0.0):
            return False
        with self._database.connection() as connection:
            if is_awaited(connection, collection):
                return False
        if not self._is_queued(collection):
            self._queued_since.pop(collection, None)
            return True
        since = self._queued_since.setdefault(collection, time.monotonic())
        return time.monotonic() - since > _SECONDS_FOR_THE_QUEUE

    @contextmanager
    def taken(self, collection: str) -> Iterator[None]:
        """Take a turn.

        Where turns took more than half of the last minute, the next one comes after a pause as long as this one, so
        that others have half of the time.
        """
        begun = time.monotonic()
        self.taken_turns[collection] += 1
        self._queued_since.pop(collection, None)
        try:
            yield
        finally:
            now = time.monotonic()
            spans = self._spans[collection]
            spans.append((begun, now))
            while spans[0][1] < now - _WINDOW:
                spans.popleft()
            if sum(end - max(begin, now - _WINDOW) for begin, end in spans) > _WINDOW / 2:
                self._next[collection] = now + min(now - begun, _LONGEST_PAUSE)

    def _is_queued(self, collection: str) -> bool:
        try:
            with psycopg.connect(self._database.dagster_url(), connect_timeout=3) as connection:
                row = connection.execute(queries["has_queued_run"], {"collection": collection}).fetchone()
        except psycopg.Error:  # what is queued does not start either
            return False
        return row == (True,)

"""Small requests for work, done by the watch within about a second; larger ones are left to the sensor."""

import logging
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from psycopg import Connection

from orchestration.ingest import IngestEvents
from orchestration.requested_work import do_one_request
from orchestration.turns import Turns
from sourcebook.admin.claimed_work import recover_work, selection_of
from sourcebook.admin.pending import find_pending, is_small_part
from sourcebook.admin.work_requests import WaitingWork, waiting_work
from sourcebook.config.loading import Configuration
from sourcebook.database.database import Database
from sourcebook.database.lock import is_locked
from sourcebook.database.queries import queries
from sourcebook.embedding.embedder_pool import EmbedderPool

_SECONDS_BETWEEN_LOOKS: Final = 5.0
"""Seconds after which waiting requests are looked for without a notification."""
_SECONDS_TO_HEAR: Final = 0.01

_log = logging.getLogger("sourcebook.watch")


class RequestWatch:
    """Requests for work that a process does which has everything loaded.

    Args:
        database: the knowledge base.
        embedders: pool of the embedding models.
        turns: when a collection may be ingested.
    """

    def __init__(self, database: Database, embedders: EmbedderPool, turns: Turns) -> None:
        self._database, self._embedders, self._turns = database, embedders, turns
        self._opened = ExitStack()
        self._listener: Connection | None = None
        self._next_look = 0.0
        self._left: set[int] = set()
        """Ids of waiting requests that are left to the sensor."""
        self._looked: dict[int, int] = {}
        """Numbers of turns of their collections at the last look at waiting requests, by their ids."""

    def check(self, configuration: Callable[[], Configuration | None]) -> bool:
        """Do the oldest small request that waits, with those that its run can do; return whether one was done.

        The next ones follow half a second later, after changes of files that wait meanwhile.

        Args:
            configuration: returns the current configuration; None where there is no good one.

        Raises:
            DatabaseError: the database is out of reach.
        """
        if not self._hears() and time.monotonic() < self._next_look:
            return False
        self._next_look = time.monotonic() + _SECONDS_BETWEEN_LOOKS
        with self._database.connection() as connection:
            recover_work(connection)
            waiting = waiting_work(connection)
            ids = {request.id for request in waiting}
            self._left &= ids
            self._looked = {number: turns for number, turns in self._looked.items() if number in ids}
            small = next((request for request in waiting if self._takes(connection, request)), None)
        current = configuration() if small else None
        if small is None or current is None:
            return False
        self._next_look = 0.0
        if self._is_done_already(small):
            self._do(current, small)
            return False
        with self._turns.taken(small.collection):
            self._do(current, small)
        return True

    def _is_done_already(self, request: WaitingWork) -> bool:
        """Return whether there is nothing to do for a request, as the collection was ingested since."""
        with self._database.connection() as connection:
            selection = selection_of(connection, request)
            return selection is None or not find_pending(connection, request.collection, selection).work

    def close(self) -> None:
        """End the session that listens; the next check opens another one."""
        self._listener = None
        self._opened.close()

    def _hears(self) -> bool:
        """Return whether a request has changed since the last time."""
        if self._listener is None:
            self._opened.close()
            self._listener = self._opened.enter_context(self._database.own_connection())
            self._listener.execute(queries["listen_to_work"])
            self._listener.execute(queries["say_that_the_watch_runs"])
            return True
        try:
            return bool(list(self._listener.notifies(timeout=_SECONDS_TO_HEAR)))
        except BaseException:
            self._listener = None
            raise

    def _takes(self, connection: Connection, request: WaitingWork) -> bool:
        """Return whether a request is small and its collection free; note the others."""
        if request.id in self._left:
            return False
        if not self._turns.is_free(request.collection):
            self._next_look = 0.0  # half a second later
            turns = self._turns.taken_turns[request.collection]
            if self._looked.get(request.id) == turns or is_locked(connection, request.collection):
                return False
            self._looked[request.id] = turns
            return _is_small(connection, request) and self._is_done_already(request)
        if not _is_small(connection, request):
            self._left.add(request.id)
            _log.info("%s: the request %d is left to the sensor requested_work", request.collection, request.id)
            return False
        return True

    def _do(self, configuration: Configuration, request: WaitingWork) -> None:
        begun = time.monotonic()
        done = do_one_request(
            configuration, self._database, events=IngestEvents(), number=request.id, embedders=self._embedders
        )
        if done is not None:
            seconds = time.monotonic() - begun
            _log.info("%s: request %d %s after %.1f s", done.collection, done.id, done.state, seconds)


def _is_small(connection: Connection, request: WaitingWork) -> bool:
    """Return whether a request is about little; where its collection has no such source, it is about nothing."""
    selection = selection_of(connection, request)
    return selection is None or is_small_part(connection, request.collection, selection)

"""Small requests for work, done by the watch within about a second; larger ones are left to the sensor."""

import logging
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from psycopg import Connection

from orchestration.ingest import IngestEvents
from orchestration.requested_work import do_one_request
from sourcebook.admin.claimed_work import recover_work, selection_of
from sourcebook.admin.pending import find_pending
from sourcebook.admin.work_requests import list_work
from sourcebook.config.loading import Configuration
from sourcebook.contract.work import WorkRequest
from sourcebook.database.database import Database
from sourcebook.database.lock import is_locked
from sourcebook.database.queries import queries
from sourcebook.embedding.embedder_pool import EmbedderPool
from sourcebook.stages.raw_files import collection_sources

_SECONDS_BETWEEN_LOOKS: Final = 5.0
"""Seconds after which waiting requests are looked for without a notification."""
_SECONDS_TO_HEAR: Final = 0.01
_MOST_WAITING: Final = 100
"""Waiting requests that are looked at; the sensor takes the oldest ones anyway."""
_UPLOADS: Final = "upload://"
"""Scheme of the sources of uploads, whose list is in the ledger."""

_log = logging.getLogger("sourcebook.watch")


class RequestWatch:
    """Requests for work that a process does which has everything loaded.

    Args:
        database: the knowledge base.
        embedders: pool of the embedding models.
    """

    def __init__(self, database: Database, embedders: EmbedderPool) -> None:
        self._database, self._embedders = database, embedders
        self._opened = ExitStack()
        self._listener: Connection | None = None
        self._next_look = 0.0
        self._left: set[int] = set()
        """Ids of waiting requests that are left to the sensor."""

    def check(self, configuration: Callable[[], Configuration | None]) -> bool:
        """Do the small requests that wait; return whether one was done.

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
            waiting = list_work(connection, states=["waiting"], limit=_MOST_WAITING)
            self._left &= {request.id for request in waiting}
            small = [request for request in reversed(waiting) if self._takes(connection, request)]
        current = configuration() if small else None
        for request in small:
            if current is not None:
                self._do(current, request)
        return bool(small)

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
            return True
        try:
            return bool(list(self._listener.notifies(timeout=_SECONDS_TO_HEAR)))
        except BaseException:
            self._listener = None
            raise

    def _takes(self, connection: Connection, request: WorkRequest) -> bool:
        """Return whether a request is small and its collection free; note the others."""
        if request.id in self._left:
            return False
        if is_locked(connection, request.collection):
            self._next_look = 0.0  # half a second later
            return False
        if not _is_small(connection, request):
            self._left.add(request.id)
            _log.info("%s: the request %d is left to the sensor requested_work", request.collection, request.id)
            return False
        return True

    def _do(self, configuration: Configuration, request: WorkRequest) -> None:
        begun = time.monotonic()
        done = do_one_request(
            configuration, self._database, events=IngestEvents(), number=request.id, embedders=self._embedders
        )
        if done is not None:
            seconds = time.monotonic() - begun
            _log.info("%s: request %d %s after %.1f s", done.collection, done.id, done.state, seconds)


def _is_small(connection: Connection, request: WorkRequest) -> bool:
    """Return whether a request is about a few files of local folders or uploads: no pages, recordings or stores."""
    selection = selection_of(connection, request)
    if selection is None:
        return True
    sources = collection_sources(connection, request.collection, selection)
    if selection.force or not all(each.is_local or each.location.startswith(_UPLOADS) for each in sources):
        return False
    return find_pending(connection, request.collection, selection).is_small

"""Claimed work: a request while its worker does it, with its progress, its end, the wish to stop, and those it leads.

The worker holds a lock in a session of its own. Where its process is killed, the session and the lock end, and
`recover_work` lets the request wait for another worker.
"""

import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Final

import psycopg
from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.work_requests import WaitingWork, claim_work, end_work, is_to_stop, record_progress
from sourcebook.contract.work import WorkRequest, WorkState
from sourcebook.database.database import Database
from sourcebook.database.queries import queries
from sourcebook.errors import DatabaseError
from sourcebook.model.progress import listening
from sourcebook.model.selection import Selection

DAGSTER: Final = "dagster"
"""Worker of the requests for which the sensor `requested_work` has asked Dagster for a run."""
MOST_ATTEMPTS: Final = 3
"""Workers that may die over one request before it fails."""
_SECONDS_BETWEEN_WRITES: Final = 0.5
"""Seconds between two writes of the progress, and between two looks at whether the work is to stop."""

_log = logging.getLogger("sourcebook.work")


class WorkStoppedError(KeyboardInterrupt):
    """The work was cancelled; raised where a stage reports a finished batch.

    It is an interrupt, so that nothing takes it for the failure of an item, or tries it again.
    """


class ClaimedWork:
    """A request that this process works on.

    Args:
        connection: a session of its own, in autocommit mode, which holds the lock of the request.
        request: the request as it was claimed.
    """

    def __init__(self, connection: Connection, request: WorkRequest) -> None:
        self._connection = connection
        self.request = request
        self.is_cancelled = request.cancel_asked
        """Whether somebody has cancelled it."""
        self.is_lost = False
        """Whether its lock is lost, so that another worker may have it by now."""
        self.on_stop: Callable[[], None] = lambda: None
        """Called once where the work is cancelled, in the thread that works, before it stops."""
        self._news: tuple[str, int, int, int] | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="work-request", daemon=True)

    def report(self, stage: str, collection: str, done: int, total: int, failed: int) -> None:
        """Note the progress of a stage, as a listener of `sourcebook.model.progress`.

        Raises:
            WorkStoppedError: the request was cancelled.
        """
        if collection != self.request.collection:
            return
        self._news = stage, done, total, failed
        if self.is_cancelled or self.is_lost:
            self.on_stop()
            self.on_stop = lambda: None
            raise WorkStoppedError

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Write the progress of the stages that run in this process until the end of the block."""
        self._thread.start()
        try:
            with listening(self.report):
                yield
        finally:
            self._ended.set()
            self._thread.join()

    def end(
        self, state: WorkState, error: str | None = None, *, failed: int | None = None, run_id: str | None = None
    ) -> None:
        """Record the end of the request; see `end_work`."""
        attempt = self.request.attempts
        end_work(self._connection, self.request.id, state, error, failed=failed, run_id=run_id, attempt=attempt)

    def give_back(self) -> None:
        """Let the request wait for another worker."""
        self._connection.execute(queries["give_back_work_request"], self._key)

    @property
    def _key(self) -> dict[str, int]:
        return {"id": self.request.id, "attempt": self.request.attempts}

    def _follow(self) -> None:
        while not self._ended.wait(_SECONDS_BETWEEN_WRITES):
            self._exchange()
        self._exchange()

    def _exchange(self) -> None:
        """Write the progress where there is news, and look whether the work is to go on."""
        news, self._news = self._news, None
        try:
            number, attempt = self.request.id, self.request.attempts
            stops = (
                is_to_stop(self._connection, number, attempt=attempt)
                if news is None
                else record_progress(self._connection, number, *news, attempt=attempt)
            )
        except (psycopg.Error, DatabaseError) as error:  # the stages meet the same, and end the work with a reason
            if not self.is_lost:
                _log.warning("request %d: its progress cannot be recorded (%s)", self.request.id, error)
            self.is_lost = self._connection.closed
            return
        self.is_lost = stops is None
        self.is_cancelled = bool(stops)


@contextmanager
def claimed_work(database: Database, *, number: int | None = None) -> Iterator[ClaimedWork | None]:
    """Take the oldest waiting request for this process; None where nothing waits.

    A request that has not been ended when the block ends waits again, or is recovered where the database is away.

    Args:
        database: the knowledge base.
        number: only the request with this id.

    Raises:
        DatabaseError: the database is out of reach.
    """
    with database.own_connection() as connection:
        with connection.transaction():
            request = claim_work(connection, worker=f"{socket.gethostname()}:{os.getpid()}", number=number)
            if request is not None:
                connection.execute(queries["hold_work_request"], {"id": request.id})
        if request is None:
            yield None
            return
        work = ClaimedWork(connection, request)
        try:
            yield work
        finally:
            with suppress(psycopg.Error, DatabaseError):
                work.give_back()


@contextmanager
def work_of_run(
    database: Database, number: int, run_id: str, *, is_repeated: bool = False
) -> Iterator[ClaimedWork | None]:
    """Follow a request that was claimed for Dagster, in the run that does it; None where it runs no longer.

    A run may come after its request was cancelled and given up: the run follows it nevertheless, and so stops.

    Args:
        database: the knowledge base.
        number: id of the request.
        run_id: id of the Dagster run.
        is_repeated: whether a person has executed an earlier run again, for which a cancelled request is no matter.

    Raises:
        DatabaseError: the database is out of reach.
    """
    with database.own_connection() as connection:
        with connection.cursor(row_factory=class_row(WorkRequest)) as cursor:
            values = {"id": number, "run_id": run_id, "worker": DAGSTER}
            request = cursor.execute(queries["begin_work_run"], values).fetchone()
            if request is None and not is_repeated:
                request = cursor.execute(queries["cancelled_work_of_run"], values).fetchone()
        # The one that leads may be cancelled, while others are not.
        yield None if request is None else ClaimedWork(connection, replace(request, id=number))


def recover_work(connection: Connection) -> list[int]:
    """Let the requests of dead workers wait again, and return their ids; after three deaths a request fails."""
    values = {"most": MOST_ATTEMPTS, "dagster": DAGSTER}
    return [number for (number,) in connection.execute(queries["recover_work_requests"], values)]


def selection_of(connection: Connection, request: WorkRequest | WaitingWork) -> Selection | None:
    """Return the part of the collection that a request is about; None where the collection has no such source.

    Args:
        connection: to the knowledge base, whose configuration was applied.
        request: the request.
    """
    given = request.arguments
    sources = [str(location) for location in given.get("sources", ())]
    if given.get("kinds"):
        values = {"collection": request.collection, "kinds": list(given["kinds"]), "locations": sources}
        sources = [location for (location,) in connection.execute(queries["locations_of_kinds"], values)]
        if not sources:
            return None
    return Selection(
        documents=tuple(given.get("documents", ())),
        sources=tuple(sources),
        only_failed=bool(given.get("only_failed")),
        force=bool(given.get("force")),
        accept=bool(given.get("accept")),
    )

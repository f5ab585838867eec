"""The growth of this process's counters, its logged queries and its usage, added to the ledger every few seconds."""

import logging
from threading import Event, Lock, Thread

from psycopg import Connection
from psycopg.errors import InsufficientPrivilege, ReadOnlySqlTransaction

from sourcebook.database.pool import ConnectionPool
from sourcebook.database.queries import queries
from sourcebook.database.query_log import QueryLog
from sourcebook.database.usage_log import UsageLog
from sourcebook.errors import DatabaseError
from sourcebook.telemetry.measurements import measurements

_log = logging.getLogger("sourcebook.database")
_REFUSALS = (InsufficientPrivilege, ReadOnlySqlTransaction)
_SECONDS_BETWEEN_WRITES = 10.0
"""Seconds between two writes: the counts, logged queries and usage that a killed process loses."""


def store_measurements(connection: Connection) -> None:
    """Add the counts since the last call to the ledger; they are kept for the next call where that fails."""
    taken = measurements.take_unstored()
    if not taken:
        return
    try:
        rows = sorted(taken)  # one order in all processes, so that none waits in a circle
        connection.execute(
            queries["add_measurements"],
            {
                "names": [name for name, _, _ in rows],
                "labels": ["\t".join(labels) for _, labels, _ in rows],
                "parts": [part for _, _, part in rows],
                "values": [taken[row] for row in rows],
            },
        )
    except BaseException:
        measurements.give_back(taken)
        raise


class MeasurementWriter:
    """A thread that stores measurements, queries and usage of this process; it gives up where it may not write.

    A write takes a connection that no search waits for. Thread-safe.
    """

    def __init__(
        self, connections: ConnectionPool, query_log: QueryLog | None = None, usage: UsageLog | None = None
    ) -> None:
        """Prepare; `start` begins.

        Args:
            connections: pool with limits of time, closed by the caller.
            query_log: the queries to store; None where the process does not search.
            usage: the use of models to store; None where the process does not search.
        """
        self._connections = connections
        self._query_log = query_log or QueryLog()
        self._usage = usage or UsageLog()
        self._lock = Lock()
        self._closed = Event()
        self._thread: Thread | None = None
        self._is_allowed = True
        self._is_reachable = True

    def start(self) -> None:
        """Begin to write; further calls do nothing."""
        with self._lock:
            if self._thread is None and not self._closed.is_set():
                self._thread = Thread(target=self._run, name="sourcebook-measurements", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Write a last time and end the thread."""
        self._closed.set()
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while not self._closed.wait(_SECONDS_BETWEEN_WRITES):
            if self._is_allowed:
                self._write()
        if self._is_reachable:  # else closing would wait for a database that is gone
            self._write()

    def _write(self) -> None:
        # As after most ticks of a sensor: no connection is opened for nothing.
        if measurements.is_stored and self._query_log.is_stored and self._usage.is_stored:
            return
        try:
            with self._connections.spare_connection() as connection:
                if connection is not None:
                    store_measurements(connection)
                    self._query_log.store(connection)
                    self._usage.store(connection)
                    self._is_reachable = True
        except (DatabaseError, OSError) as error:
            self._is_reachable = False
            self._is_allowed = not isinstance(error.__cause__, _REFUSALS)
            _log.debug("the counters, queries and usage of this process stay out of the ledger for now: %s", error)

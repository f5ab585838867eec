"""The clock of the machine under supervision: where it was ahead and is set back, sensors go on at once.

Dagster evaluates a sensor some seconds after its last evaluation by the clock, and its daemon sleeps by the clock:
without help, both wait until the clock has caught up.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

import psycopg

from sourcebook.database.database import Database
from sourcebook.database.queries import queries

_SECONDS: Final = 5.0
"""Seconds by which the clock is set back at least; the daemon sleeps through less."""

_log = logging.getLogger(__name__)


class ClockWatch:
    """Looks whether the clock was set back, also before the start.

    Args:
        database: the open database, with Dagster's tables.
        restart_daemon: called where the clock was set back while Dagster's daemon ran.
        clock: the seconds of the machine's clock.
    """

    def __init__(
        self, database: Database, restart_daemon: Callable[[], None], clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._restart_daemon = restart_daemon
        self._clock = clock
        self._offset = self._seconds_apart()
        self._is_due = True

    def check(self) -> None:
        """Make sensors go on where the clock was set back since the last call."""
        offset = self._seconds_apart()
        if self._offset - offset > _SECONDS:
            _log.warning("the clock was set back by %.0f s; the daemon starts again", self._offset - offset)
            self._is_due = True
            self._restart_daemon()
        self._offset = offset
        if self._is_due:
            try:
                self._forget_future()
            except psycopg.OperationalError:
                return
            self._is_due = False

    def _seconds_apart(self) -> float:
        """Return the seconds by which the clock is ahead of the one that nobody can set."""
        return self._clock() - time.monotonic()

    def _forget_future(self) -> None:
        with psycopg.connect(self._database.dagster_url(), connect_timeout=3) as connection:
            evaluations = connection.execute(queries["forget_future_evaluations"]).rowcount
            ticks = connection.execute(queries["forget_future_ticks"]).rowcount
        if evaluations or ticks:
            _log.warning("the clock was ahead before: %d evaluations of sensors from the future are forgotten",
                         max(evaluations, ticks))  # fmt: skip

"""The embedded database server under supervision: `up` starts it again where it was killed."""

import logging
import time
from typing import Final

from sourcebook.database.database import Database
from sourcebook.database.postmaster import running_postmaster
from sourcebook.errors import DatabaseUnavailableError

_SECONDS_BETWEEN_CHECKS: Final = 2.0
"""Seconds between two looks at the server; each opens a connection."""
_MOST_FAILURES: Final = 5
"""Starts in a row that leave the server without connections, after which it is given up."""

_log = logging.getLogger(__name__)


class DatabaseWatch:
    """Looks whether the embedded server runs; a server of one's own is its administrator's matter.

    It is not a service of the supervisor: other commands use it as well, so it outlives `up` while they run.

    Args:
        database: the open database, whose server is the first one that is watched.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._next_check = time.monotonic()
        self._failures = 0
        self._server = self._server_now()
        """Process id of the server at the last look."""

    def check(self) -> None:
        """Start the server again where it has ended, if it is time to look.

        Raises:
            DatabaseError: it cannot be started.
        """
        now = time.monotonic()
        if self._database.location.url is not None or now < self._next_check:
            return
        self._next_check = now + _SECONDS_BETWEEN_CHECKS
        server = self._server_now()
        if server is None or self._server not in (None, server):  # any process that uses it may have been faster
            _log.warning("the embedded database ended; it is started again")
        self._server = server
        if server is not None:
            return
        try:
            self._database.revive()
        except DatabaseUnavailableError as error:
            self._failures += 1
            if self._failures >= _MOST_FAILURES:
                raise
            _log.warning("%s", error)
        else:
            self._failures = 0

    def _server_now(self) -> int | None:
        server = None if self._database.location.url else running_postmaster(self._database.location.data_folder)
        return None if server is None else server.pid

"""A watch over the database's server: whether it answers at all, asked while a statement gets no answer.

A server that is stopped, or whose machine hangs, keeps its connections open: a statement that it never answers looks
like one that takes long. A look tells them apart; decision 0018.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen

from sourcebook.database.connecting import connection_options
from sourcebook.database.failures import NoAnswerError, database_error
from sourcebook.database.queries import queries
from sourcebook.errors import DatabaseUnavailableError

Answer = TypeVar("Answer")


def within(waiting: PQGen[Answer], seconds: float | None, tick: Callable[[], None] | None) -> PQGen[Answer]:
    """Run psycopg's wait for an answer with a limit, None for none; psycopg looks in ten times a second.

    Raises:
        NoAnswerError: the server has not answered in time, or `tick` raised it.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    try:
        wanted = next(waiting)
        while True:
            ready = yield wanted
            if not ready:
                if tick is not None:
                    tick()
                if deadline is not None and time.monotonic() > deadline:
                    raise NoAnswerError(f"a statement got no answer within {seconds:g} s")
            wanted = waiting.send(ready)
    except StopIteration as end:
        answer: Answer = end.value
        return answer


SECONDS_TO_LOOK: Final = 1.5
"""Seconds without an answer after which the server is looked at, and between two looks."""
_SECONDS_IDLE: Final = 2.8
"""Seconds after which a session that has not begun its statement is taken for stopped."""
_SECONDS: Final = 2
"""Seconds for a look; libpq knows no shorter limit."""
_FRESH: Final = 1.0
"""Seconds after its end for which everybody shares a look."""


class _LookingConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose statements end within the limit of a look."""

    def wait(self, gen: PQGen[Answer], *args: Any, **options: Any) -> Answer:
        return super().wait(within(gen, _SECONDS, None), *args, **options)


@dataclass(frozen=True, slots=True)
class Look:
    """The outcome of a look at the server."""

    began_at: float
    ended_at: float
    answers: bool
    idle: frozenset[int] = frozenset()
    """Processes of sessions that have no statement to run."""


class ServerWatch:
    """Looks at a server by a connection of its own; threads share each look.

    Args:
        url: PostgreSQL URL.
    """

    def __init__(self, url: str) -> None:
        self.is_on = False
        """Whether statements are given up where the server does not answer."""
        self._url = url
        self._lock = threading.Lock()
        self._last: Look | None = None

    def look(self) -> Look:
        """Return whether the server answers, within 2 s."""
        asked = time.monotonic()
        with self._lock:
            last = self._last
            if last is None or last.ended_at < asked - _FRESH:
                last = self._last = self._looked()
        return last

    def check(self) -> None:
        """Look again at a server that did not answer the last time.

        Raises:
            DatabaseUnavailableError: it still does not answer.
        """
        last = self._last
        if self.is_on and last is not None and not last.answers and not self.look().answers:
            raise DatabaseUnavailableError("the database does not answer", remedy="see whether its server runs")

    def follow(self, process: int) -> Callable[[], None]:
        """Return what is called again and again while a statement waits for its answer.

        Args:
            process: Id of the session's process.

        Raises:
            NoAnswerError: by what is returned: neither the server nor that process answers.
        """
        began = time.monotonic()
        next_look = began + SECONDS_TO_LOOK

        def tick() -> None:
            nonlocal next_look
            if time.monotonic() < next_look:
                return
            seen = self.look()
            if not seen.answers:
                raise NoAnswerError(f"a statement got no answer within {time.monotonic() - began:.1f} s")
            if process in seen.idle and seen.began_at - began > _SECONDS_IDLE:
                raise NoAnswerError("the session does not begin its statement")
            next_look = time.monotonic() + SECONDS_TO_LOOK

        return tick

    def _looked(self) -> Look:
        began = time.monotonic()
        answers, idle = self._ask()
        return Look(began, time.monotonic(), answers, idle)

    def _ask(self) -> tuple[bool, frozenset[int]]:
        """Return whether the server answers, and the processes of its idle sessions."""
        options: dict[str, Any] = {**connection_options(self._url), "connect_timeout": _SECONDS}
        idle: list[tuple[Any, ...]] = []
        try:
            connection = _LookingConnection.connect(self._url, autocommit=True, **options)
        except psycopg.Error as error:
            failure = database_error(error, connecting=True)
            # a server that has no free connection, or refuses a password, answers
            return not isinstance(failure, DatabaseUnavailableError) or "no free connection" in str(
                failure
            ), frozenset()
        with suppress(psycopg.Error), connection:
            idle = connection.execute(queries["find_idle_sessions"]).fetchall()
        return True, frozenset(process for (process,) in idle)

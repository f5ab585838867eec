"""Limits of the wait for an answer of the database's server, on the client's side."""

import time
from collections.abc import Callable
from typing import TypeVar

from psycopg.abc import PQGen

from sourcebook.database.failures import NoAnswerError

Answer = TypeVar("Answer")


def within(waiting: PQGen[Answer], seconds: float | None, tick: Callable[[], None] | None) -> PQGen[Answer]:
    """Run psycopg's wait for an answer with a limit, None for none; psycopg looks in ten times a second.

    Raises:
        NoAnswerError: The server has not answered in time, or `tick` raised it.
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

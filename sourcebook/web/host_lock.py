"""The lock on a registered domain, which lets one crawl at a time use it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from psycopg import Connection

from sourcebook.database.queries import queries

T = TypeVar("T")
_POLL_SECONDS = 0.5


@asynccontextmanager
async def host_lock(
    connection: Connection,
    host: str,
    in_database: Callable[[Callable[[], bool]], Awaitable[bool]],
    *,
    waiting: Callable[[], None] = lambda: None,
) -> AsyncIterator[None]:
    """Hold the lock on a registered domain across collections, processes and machines.

    Two crawls of a domain would request shared URLs twice and exceed the request rate together. The lock belongs to the
    database session, so it ends with its holder, and a session may take it twice: within a session, the sites of a
    domain are crawled one after the other.

    Args:
        connection: in autocommit mode.
        host: the registered domain.
        in_database: runs a function where the connection is used.
        waiting: called once where the lock is not free.
    """
    is_held = False

    def run(query: str) -> bool:
        return connection.execute(queries[query], {"host": host}).fetchone() == (True,)

    def lock() -> bool:
        nonlocal is_held
        is_held = run("lock_host")
        return is_held

    reported = False
    try:
        while not await _to_its_end(in_database(lock)):
            if not reported:
                waiting()
                reported = True
            await asyncio.sleep(_POLL_SECONDS)
        yield
    finally:
        if is_held:
            await _to_its_end(in_database(lambda: run("unlock_host")))


async def _to_its_end(work: Awaitable[T]) -> T:
    """Return the result of work; a cancellation meanwhile follows its end.

    A statement goes on in its thread, or never begins there, when the task that waits for it is cancelled.
    """
    task = asyncio.ensure_future(work)
    is_cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            is_cancelled = True
    if is_cancelled:
        raise asyncio.CancelledError
    return task.result()

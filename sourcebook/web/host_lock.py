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

    def run(query: str) -> bool:
        return connection.execute(queries[query], {"host": host}).fetchone() == (True,)

    reported = False
    while not await in_database(lambda: run("lock_host")):
        if not reported:
            waiting()
            reported = True
        await asyncio.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        await in_database(lambda: run("unlock_host"))

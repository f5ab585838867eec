"""One crawl at a time of each domain, across collections, processes and machines."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from psycopg import Connection

from sourcebook.database.queries import queries


@contextmanager
def host_lock(connection: Connection, host: str, *, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a lock on a domain: two crawls would ask twice for what they share, and together too often.

    The lock is the session's: it goes with its holder, however that ends.

    Args:
        connection: in autocommit mode, and the holder's until the end.
        host: the registered domain.
        waiting: called once if the lock is not free at once.
    """
    told = False
    while connection.execute(queries["lock_host"], {"host": host}).fetchone() != (True,):
        if not told:
            waiting()
            told = True
        time.sleep(0.5)
    try:
        yield
    finally:
        connection.execute(queries["unlock_host"], {"host": host})

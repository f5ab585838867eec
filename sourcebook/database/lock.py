"""One run of a collection at a time, across processes and machines."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from sourcebook.database.database import Database
from sourcebook.database.queries import queries


@contextmanager
def collection_lock(
    database: Database, collection: str, *, waiting: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Hold a collection's lock; wait while another process works on the collection.

    The lock is the session's: it goes with its holder, however that ends.

    Args:
        database: where the collection is.
        collection: its name.
        waiting: called once if the lock is not free at once.
    """
    with psycopg.connect(database.url, autocommit=True) as connection:
        told = False
        while connection.execute(queries["lock_collection"], {"collection": collection}).fetchone() != (True,):
            if not told:
                waiting()
                told = True
            time.sleep(0.5)
        try:
            yield
        finally:
            connection.execute(queries["unlock_collection"], {"collection": collection})


def is_locked(connection: psycopg.Connection, collection: str) -> bool:
    """Return whether some process works on a collection now."""
    return connection.execute(queries["collection_is_locked"], {"collection": collection}).fetchone() == (True,)

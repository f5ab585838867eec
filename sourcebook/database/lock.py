"""Locks of collections: one run of a collection at a time, across processes and machines."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg

from sourcebook.database.database import Database
from sourcebook.database.queries import queries


@contextmanager
def collection_lock(
    database: Database, collection: str, *, waiting: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Hold the lock of a collection, after waiting for another process that holds it.

    The lock belongs to the database session and ends with it, even where the process is killed.

    Args:
        database: the database of the collection.
        collection: the name of the collection.
        waiting: called once where the lock is not free.

    Raises:
        DatabaseError: the database cannot be reached.
    """
    with database.own_connection() as connection:
        announced = False
        while connection.execute(queries["lock_collection"], {"collection": collection}).fetchone() != (True,):
            if not announced:
                waiting()
                announced = True
            time.sleep(0.5)
        try:
            yield
        finally:
            with suppress(psycopg.OperationalError):  # a lost connection has lost the lock
                connection.execute(queries["unlock_collection"], {"collection": collection})


def is_locked(connection: psycopg.Connection, collection: str) -> bool:
    """Return whether a process holds the lock of a collection."""
    return connection.execute(queries["collection_is_locked"], {"collection": collection}).fetchone() == (True,)

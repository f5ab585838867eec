"""Locks of collections: one run of a collection at a time, across processes and machines."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Final

import psycopg

from sourcebook.database.database import Database
from sourcebook.database.queries import queries
from sourcebook.errors import DatabaseConnectionLostError

_Place = tuple[str, int, str, str]
"""Host, port and name of a database, and a collection."""
_held: Final[dict[_Place, psycopg.Connection]] = {}
"""Sessions that hold the locks of this process."""


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
        place = _place(connection, collection)
        _held[place] = connection
        try:
            yield
        finally:
            if _held.get(place) is connection:  # another thread may have taken a lock that was lost
                del _held[place]
            with suppress(psycopg.OperationalError):  # a lost connection has lost the lock
                connection.execute(queries["unlock_collection"], {"collection": collection})


@contextmanager
def collection_locks(
    database: Database, collections: Iterable[str], *, waiting: Callable[[str], None] = lambda collection: None
) -> Iterator[None]:
    """Hold the locks of several collections, taken in one order everywhere: nobody waits in a circle.

    Args:
        database: the database of the collections.
        collections: the names of the collections, in any order.
        waiting: called with a collection whose lock is not free.

    Raises:
        DatabaseError: the database cannot be reached.
    """
    with ExitStack() as locks:
        for name in sorted(set(collections)):
            locks.enter_context(collection_lock(database, name, waiting=partial(waiting, name)))
        yield


def check_lock(connection: psycopg.Connection, collection: str) -> None:
    """Raise an error where this process has lost the lock of a collection, so that another one may hold it by now.

    Args:
        connection: any connection to the database of the collection.
        collection: the name of the collection; nothing happens where this process did not take its lock.

    Raises:
        DatabaseConnectionLostError: the session that held the lock has ended, as with the server.
    """
    holder = _held.get(_place(connection, collection))
    if holder is None:
        return
    try:
        holder.execute(queries["is_alive"])
    except psycopg.OperationalError as error:
        raise DatabaseConnectionLostError(
            f"the connection with the lock of the collection {collection} was lost", remedy="retry later"
        ) from error


def is_locked(connection: psycopg.Connection, collection: str) -> bool:
    """Return whether a process holds the lock of a collection."""
    return connection.execute(queries["collection_is_locked"], {"collection": collection}).fetchone() == (True,)


def _place(connection: psycopg.Connection, collection: str) -> _Place:
    return connection.info.host, connection.info.port, connection.info.dbname, collection

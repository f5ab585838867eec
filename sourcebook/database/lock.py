"""Locks of collections: one run of a collection at a time, across processes and machines."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Final

import psycopg

from sourcebook.database.database import Database
from sourcebook.database.queries import queries
from sourcebook.errors import ConfigurationError, DatabaseConnectionLostError
from sourcebook.model.shard import Shard, partition_keys

_Place = tuple[str, int, str, str]
"""Host, port and name of a database, and a collection."""
_held: Final[dict[_Place, psycopg.Connection]] = {}
"""Sessions that hold the locks of this process."""


@contextmanager
def collection_lock(
    database: Database, collection: str, *, waiting: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Hold the lock of a collection, after waiting for another process that holds it, in the order of asking.

    The lock belongs to the database session and ends with it, even where the process is killed.

    Args:
        database: the database of the collection.
        collection: the name of the collection.
        waiting: called once where the lock is not free.

    Raises:
        DatabaseError: the database cannot be reached.
    """
    with database.own_connection() as connection:
        scope = {"collection": collection}
        announced = False
        while connection.execute(queries["lock_collection"], scope).fetchone() != (True,):
            if not announced:
                waiting()
                announced = True
                connection.execute(queries["ask_for_collection"], scope)
            time.sleep(0.5)
        if announced:
            connection.execute(queries["end_asking_for_collection"], scope)
        with _holding(connection, collection):
            yield


@contextmanager
def _holding(connection: psycopg.Connection, collection: str) -> Iterator[None]:
    """Know the session that holds the lock of a collection or of a shard, and release the lock at the end."""
    place = _place(connection, collection)
    _held[place] = connection
    try:
        yield
    finally:
        if _held.get(place) is connection:  # another thread may have taken a lock that was lost
            del _held[place]
        with suppress(psycopg.OperationalError):  # a lost connection has lost the lock
            connection.execute(queries["unlock_everything"])


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


@contextmanager
def shard_lock(database: Database, shard: Shard, *, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock of a shard, beside the other shards of its collection, and alone with it.

    A process that waits for the whole collection is let in first. Shards of another number of shards, from before a
    change of the settings, are waited for: their items overlap.

    Args:
        database: the database of the collection.
        shard: the shard.
        waiting: called once where the lock is not free.

    Raises:
        ConfigurationError: the collection has another number of shards.
        DatabaseError: the database cannot be reached.
    """
    with database.own_connection() as connection:
        scope = {"collection": shard.collection, **shard.values}
        announced = False
        while not _lock_shard(connection, shard):
            if not announced:
                waiting()
                announced = True
            time.sleep(0.5)
        with _holding(connection, shard.collection):
            connection.execute(queries["begin_shard_work"], scope)
            yield


def _lock_shard(connection: psycopg.Connection, shard: Shard) -> bool:
    """Return whether the lock of a shard is obtained.

    The number of shards is read under the lock: after a change of it, nobody begins a shard of the former number that
    a shard of the new one did not see.
    """
    scope = {"collection": shard.collection, **shard.values}

    def answers(query: str) -> bool:
        return connection.execute(queries[query], scope).fetchone() == (True,)

    if answers("collection_is_asked_for") or not answers("lock_beside_shards"):
        return False
    if not answers("lock_shard"):
        connection.execute(queries["unlock_beside_shards"], scope)
        return False
    try:
        check_shard(connection, shard.collection, shard)
    except ConfigurationError:
        connection.execute(queries["unlock_everything"])
        raise
    if answers("other_shards_are_locked"):
        connection.execute(queries["unlock_everything"])
        return False
    return True


def check_shard(connection: psycopg.Connection, collection: str, shard: Shard | None) -> None:
    """Raise an error where a partition is not one of a collection's, or not any more.

    Args:
        connection: to the database.
        collection: the name of the collection.
        shard: the shard of the partition; None for that of a whole collection.

    Raises:
        ConfigurationError: the collection has other shards.
    """
    number = shard_count(connection, collection)
    partition = shard.key if shard else collection
    keys = partition_keys(collection, number)
    if partition in keys:
        return
    now = f"its partitions are {keys[0]} to {keys[-1]}" if number > 1 else f"its partition is {collection}"
    raise ConfigurationError(
        f"the partition {partition} is not one of {collection}, whose setting `shards` is {number}: {now}; start"
        " the run for these"
    )


def shard_count(connection: psycopg.Connection, collection: str) -> int:
    """Return the number of shards of a collection by its applied settings; 1 where it is not known."""
    row = connection.execute(queries["shards_of_collection"], {"collection": collection}).fetchone()
    return int(row[0]) if row else 1


def end_shard_work(connection: psycopg.Connection, shard: Shard) -> bool:
    """Say that the documents of a shard are published, and return whether no shard of the collection is worked on now.

    Args:
        connection: any connection to the database; the lock of the shard is this process's.
        shard: the shard.
    """
    scope = {"collection": shard.collection, **shard.values}
    holder = _held.get(_place(connection, shard.collection))
    if holder is not None:
        holder.execute(queries["end_shard_work"], scope)
    return is_at_rest(connection, shard.collection)


def is_at_rest(connection: psycopg.Connection, collection: str) -> bool:
    """Return whether no shard of a collection is being worked on."""
    return connection.execute(queries["working_shards"], {"collection": collection}).fetchone() == (0,)


@contextmanager
def in_turn(connection: psycopg.Connection, shard: Shard | None, part: str) -> Iterator[None]:
    """Do work of a whole collection while no other shard of it does: the second one waits.

    Args:
        connection: in autocommit mode; its session has the turn.
        shard: the shard that is worked on; None: nothing is waited for, as the whole collection is locked.
        part: name of the work.
    """
    if shard is None:
        yield
        return
    scope = {"collection": shard.collection, "part": part}
    # Asked again and again: a statement that waits would keep an index from being built by the one who has the turn.
    while connection.execute(queries["begin_turn"], scope).fetchone() != (True,):
        time.sleep(0.05)
    try:
        yield
    finally:
        with suppress(psycopg.Error):  # with the session the turn has ended
            connection.execute(queries["end_turn"], scope)


def is_shard_locked(connection: psycopg.Connection, shard: Shard) -> bool:
    """Return whether a process holds the lock of a shard, or of its whole collection."""
    scope = {"collection": shard.collection, **shard.values}
    return any(
        connection.execute(queries[query], scope).fetchone() == (True,)
        for query in ("shard_is_locked", "collection_is_locked_whole")
    )


class ShardsAhead:
    """Marks on shards that this process works on later: the last one of all shards then does the collection's work.

    Args:
        connection: the session that has the marks.
        shards: the shards.
    """

    def __init__(self, connection: psycopg.Connection, shards: Iterable[Shard]) -> None:
        self._connection = connection
        for shard in shards:
            connection.execute(queries["begin_shard_work"], {"collection": shard.collection, **shard.values})

    def begin(self, shard: Shard) -> None:
        """Take the mark of a shard away, whose work begins."""
        self._connection.execute(queries["end_shard_work"], {"collection": shard.collection, **shard.values})


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


def is_awaited(connection: psycopg.Connection, collection: str) -> bool:
    """Return whether a process holds the lock of a collection, or waits for it."""
    asked = connection.execute(queries["collection_is_asked_for"], {"collection": collection}).fetchone() == (True,)
    return asked or is_locked(connection, collection)


def _place(connection: psycopg.Connection, collection: str) -> _Place:
    return connection.info.host, connection.info.port, connection.info.dbname, collection

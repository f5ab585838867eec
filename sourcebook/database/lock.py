"""One run of a collection at a time, across processes and machines."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from sourcebook.database.database import Database

_KEY = "SELECT hashtextextended('sourcebook collection ' || %(collection)s, 0)"
_TRY = f"SELECT pg_try_advisory_lock(({_KEY}))"
_RELEASE = f"SELECT pg_advisory_unlock(({_KEY}))"
_HELD = f"""
SELECT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND ((classid::bigint << 32) | objid::bigint) = ({_KEY}))
"""  # noqa: S608 - composed of the constants above


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
        while connection.execute(_TRY, {"collection": collection}).fetchone() != (True,):
            if not told:
                waiting()
                told = True
            time.sleep(0.5)
        try:
            yield
        finally:
            connection.execute(_RELEASE, {"collection": collection})


def is_locked(connection: psycopg.Connection, collection: str) -> bool:
    """Return whether some process works on a collection now."""
    return connection.execute(_HELD, {"collection": collection}).fetchone() == (True,)

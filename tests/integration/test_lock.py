"""One run of a collection at a time: the lock that processes and machines share."""

import subprocess
import sys
import threading
import time

from sourcebook.database.database import Database
from sourcebook.database.lock import collection_lock, is_locked
from tests.waiting import wait_until

_HOLDER = """
import signal, sys
from pathlib import Path
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.lock import collection_lock
with Database(DatabaseLocation(Path("."), sys.argv[1])) as database, collection_lock(database, "handbook"):
    print("held", flush=True)
    signal.pause()
"""


def test_the_second_waits_until_the_first_lets_go(database: Database) -> None:
    order: list[str] = []

    def second() -> None:
        with collection_lock(database, "handbook", waiting=lambda: order.append("waits")):
            order.append("second")

    with collection_lock(database, "handbook"):
        thread = threading.Thread(target=second)
        thread.start()
        wait_until(lambda: order, what="the second waits")
        with database.connection() as connection:
            assert is_locked(connection, "handbook")
            assert not is_locked(connection, "another")
        order.append("first ends")
    thread.join(10)
    assert order == ["waits", "first ends", "second"]
    with database.connection() as connection:
        assert not is_locked(connection, "handbook")


def test_collections_do_not_wait_for_each_other(database: Database) -> None:
    waited: list[str] = []
    with (
        collection_lock(database, "handbook"),
        collection_lock(database, "another", waiting=lambda: waited.append("another")),
    ):
        assert not waited


def test_a_holder_that_is_killed_frees_it(database: Database) -> None:
    with subprocess.Popen([sys.executable, "-c", _HOLDER, database.url], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with database.connection() as connection:
            assert is_locked(connection, "handbook")
        holder.kill()
        started = time.monotonic()
        with collection_lock(database, "handbook"):
            assert time.monotonic() - started < 5

"""One run of a collection at a time: the lock that processes and machines share."""

import subprocess
import sys
import threading
import time

import pytest

from sourcebook.database.database import Database
from sourcebook.database.lock import collection_lock, collection_locks, is_awaited, is_locked
from sourcebook.errors import DatabaseConnectionLostError
from tests.integration.stages import Stages
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
    thread.join(60)
    assert order == ["waits", "first ends", "second"]
    with database.connection() as connection:
        assert not is_locked(connection, "handbook")


def test_those_who_asked_before_are_let_in_first(database: Database) -> None:
    """A process that takes the lock again and again, as under constant changes, cannot keep others from it."""
    order: list[str] = []
    asked = threading.Event()

    def patient() -> None:
        with collection_lock(database, "handbook", waiting=asked.set):
            order.append("patient")

    with collection_lock(database, "handbook"):
        thread = threading.Thread(target=patient)
        thread.start()
        assert asked.wait(60)
        with database.connection() as connection:
            wait_until(lambda: is_awaited(connection, "handbook"), what="it asks")
    for number in range(3):
        with collection_lock(database, "handbook"):
            order.append(f"again {number}")
    thread.join(60)
    assert order[0] == "patient"
    with database.connection() as connection:
        assert not is_awaited(connection, "handbook")


def test_no_stage_begins_after_the_lock_was_lost(stages: Stages) -> None:
    """The session of the lock is ended between two stages; the connections of the run go on, without the lock."""
    stages.configure()
    stages.write("tides.md", "# Tides\n\nThe gauge stands in the harbour.\n")

    def run() -> None:
        with collection_lock(stages.database, stages.collection):
            assert stages.raw_files().added == 1
            with stages.connection() as connection:
                connection.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory'")
                assert not is_locked(connection, stages.collection)
            stages.documents()

    with pytest.raises(DatabaseConnectionLostError, match="lock of the collection handbook was lost") as caught:
        run()
    assert caught.value.is_temporary
    with collection_lock(stages.database, stages.collection):
        assert stages.documents().added == 1


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
            assert time.monotonic() - started < 30


def test_several_locks_are_taken_in_one_order(database: Database) -> None:
    """Whatever the order in which two processes name them, as an import and a purge do: none waits for ever."""
    barrier = threading.Barrier(2)
    done: list[str] = []

    def hold(*names: str) -> None:
        for _ in range(3):
            barrier.wait(60)
            with collection_locks(database, names):
                done.append(names[0])

    threads = [threading.Thread(target=hold, args=names, daemon=True) for names in (("a", "B"), ("B", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert sorted(done) == ["B"] * 3 + ["a"] * 3

"""The home that is killed: two collections of notes, the state of its database, and what every kill must leave true."""

import time
from collections.abc import Callable
from random import Random

import psycopg

from benchmarks.harness.kills.notes import Notes
from benchmarks.harness.kills.oracle import Connection, differences, torn_documents
from benchmarks.harness.kills.processes import wait, wait_for_none
from benchmarks.harness.library import Library
from sourcebook.admin.pending import MOST_SMALL
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import DatabaseError

NOTES, REPORTS = "notes", "reports"
"""Collections: one whose small changes a command or the watch ingests, and one that changes too much for the watch."""
COLLECTIONS = (NOTES, REPORTS)
_FILES = {NOTES: 24, REPORTS: MOST_SMALL + 1}
"""Files of each collection; the watch takes small changes alone."""
_SECONDS_TO_UNLOCK = 120.0
_SECONDS_TO_ANSWER = 120.0
_SECONDS_TO_LEAVE = 240.0
"""The longest wait until no process is left; the one that records runs gives way to all other programs."""
_UNFINISHED = """
    SELECT run_id, status FROM runs
    WHERE status NOT IN ('SUCCESS', 'FAILURE', 'CANCELED')
      AND (%(of_daemon)s OR EXISTS (
          SELECT FROM run_tags WHERE run_tags.run_id = runs.run_id AND run_tags.key = 'sourcebook/command'))
"""
_UNRECORDED = "SELECT run_id, attempts, error FROM finished_run"
_LOCKS = "SELECT classid, objid FROM pg_locks WHERE locktype = 'advisory'"


class Home:
    """A library with two collections of notes.

    Args:
        library: an empty library with the collections `COLLECTIONS`.
        chance: source of every choice.
    """

    def __init__(self, library: Library, chance: Random) -> None:
        self.library = library
        self.chance = chance
        self.folders = {name: Notes(library.files_of(name), chance) for name in COLLECTIONS}
        for name, files in _FILES.items():
            self.folders[name].fill(files)

    def torn(self) -> list[str]:
        """Return the documents that are searchable in part; there is none at any moment."""
        return self._ask(torn_documents)

    def differences(self) -> list[str]:
        """Return what differs between the files and the index of every collection."""
        return self._ask(
            lambda connection: [
                each for name, notes in self.folders.items() for each in differences(connection, name, notes.folder)
            ]
        )

    def unfinished_runs(self, *, of_daemon: bool) -> list[str]:
        """Return the runs that Dagster takes to be going on, as sentences.

        Args:
            of_daemon: whether runs of the daemon count; those that were killed with `up` end with the next `up`.
        """
        return self._ask(
            lambda connection: [
                f"run {number[:8]} is {status}"
                for number, status in connection.execute(_UNFINISHED, {"of_daemon": of_daemon})
            ],
            of_dagster=True,
        )

    def unrecorded_runs(self) -> list[str]:
        """Return the small changes that are done and are no run of Dagster yet, as sentences."""
        return self._ask(
            lambda connection: [
                f"run {number} is not recorded after {attempts} failed attempts, the last one with: {error}"
                for number, attempts, error in connection.execute(_UNRECORDED)
            ]
        )

    def wait_until_settled(self, seconds: float, runs: Callable[[], list[str]]) -> list[str]:
        """Wait until the index equals the files and every run has ended; return what is wrong at the end.

        Args:
            seconds: the longest wait.
            runs: returns the runs that are to have ended, as sentences.
        """
        wrong: list[str] = []

        def settled() -> bool:
            wrong[:] = runs() or self.differences()
            return not wrong

        wait(settled, seconds)
        return wrong

    def held_locks(self) -> list[str]:
        """Return the sentence about advisory locks that are still held a while after their owners have ended."""
        wrong: list[str] = []

        def none_is_held() -> bool:
            wrong[:] = self._ask(lambda connection: [f"the lock {row} is held" for row in connection.execute(_LOCKS)])
            return not wrong

        wait(none_is_held, _SECONDS_TO_UNLOCK)
        return wrong

    def _ask(self, question: Callable[[Connection], list[str]], *, of_dagster: bool = False) -> list[str]:
        """Return the answer of the database, or the sentence why there is none for a long time."""
        answer: list[str] = []

        def answers() -> bool:
            try:
                with Database(DatabaseLocation(self.library.home)) as database:
                    url = database.dagster_url() if of_dagster else database.url
                    with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
                        if not of_dagster:
                            connection.execute("SET search_path TO sourcebook, public")
                        answer[:] = question(connection)
            except (psycopg.Error, DatabaseError) as error:
                answer[:] = [f"the database: {error}"]
                return False
            return True

        wait(answers, _SECONDS_TO_ANSWER)
        return answer

    def left_processes(self, *, with_database: bool) -> list[str]:
        """Return the processes of the home that are left a while after its commands have ended, as sentences."""
        return wait_for_none(self.library.folder, with_database=with_database, seconds=_SECONDS_TO_LEAVE)


def elapsed(begun: float) -> float:
    """Return the seconds since a moment of the monotonic clock."""
    return time.monotonic() - begun

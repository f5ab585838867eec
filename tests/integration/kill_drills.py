"""Pieces of work that are killed at moments all over their length, for the kill drills."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Self

import psutil
from psycopg.conninfo import make_conninfo

from sourcebook.database.database import Database
from sourcebook.indexing.damage import find_damage, find_ledger_damage
from sourcebook.indexing.generations import find_generations
from sourcebook.model.generation import Generation
from tests.checkout import CHECKOUT
from tests.integration.stages import Stages
from tests.waiting import is_running, wait_until

KILLS = int(os.environ.get("KILLS", "12"))
"""Kills of each command."""

SEED = 20_261_123

NAME = "sourcebook_killed"
"""Name of the sessions of the processes that are killed."""

TEXT = """\
collections:
  handbook:
    files: [{{root: ./docs}}]
    chunking: {{tokens: {tokens}}}
    generations: {{activate: manual, keep: 5}}
"""

WORDS = ("tide", "wind", "snow", "pier")


class Work:
    """Pieces of work in processes of their own, see `killed_work.py`."""

    def __init__(self, database: Database, home: Path) -> None:
        self._database = database
        url = make_conninfo(database.url, application_name=NAME)
        answers, theirs = os.pipe()
        command = [sys.executable, "-m", "tests.integration.killed_work", url, str(home), str(theirs)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(CHECKOUT), os.environ.get("PYTHONPATH", "")])}
        self._process = subprocess.Popen(
            command, env=environment, cwd=CHECKOUT, stdin=subprocess.PIPE, pass_fds=[theirs], text=True
        )
        os.close(theirs)
        self._answers = os.fdopen(answers)

    def run(self, name: str, *arguments: Any) -> tuple[int, float]:
        """Do a piece of work undisturbed; return its exit code and its seconds."""
        self._start(name, arguments)
        begun = time.monotonic()
        return self._code(), time.monotonic() - begun

    def kill(self, seconds: float, name: str, *arguments: Any, with_sessions: bool) -> bool:
        """Kill a piece of work some seconds after its begin; return whether that was before its end.

        Args:
            seconds: the moment.
            name: the work.
            arguments: its arguments.
            with_sessions: whether its sessions end at once, too; otherwise the server ends their last statement.
        """
        below: list[psutil.Process] = []
        with suppress(psutil.NoSuchProcess):  # it has ended before
            process = psutil.Process(self._start(name, arguments))
            time.sleep(seconds)  # the moment of the kill is what varies
            below = process.children(recursive=True)
            process.kill()
        if with_sessions:
            with self._database.connection() as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s", [NAME]
                )
        code = self._code()
        wait_until(lambda: not self._sessions(), what="the server has noticed that the client is gone")
        wait_until(lambda: not any(is_running(each.pid) for each in below), what="no process of it is left")
        assert code in (0, -signal.SIGKILL), code
        return code != 0

    def _start(self, name: str, arguments: tuple[Any, ...]) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([name, *arguments]) + "\n")
        self._process.stdin.flush()
        return self._code()

    def _code(self) -> int:
        return int(self._answers.readline())

    def _sessions(self) -> int:
        with self._database.connection() as connection:
            row = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", [NAME])
            found = row.fetchone()
        return int(found[0]) if found else 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        self._answers.close()


def configure(stages: Stages, tokens: int) -> None:
    stages.configure(TEXT.format(tokens=tokens))


def build(stages: Stages, tokens: int) -> Generation:
    """Build a generation beside the active one, and return it."""
    configure(stages, tokens)
    stages.chunks()
    stages.embeddings()
    stages.search_index()
    with stages.connection() as connection:
        built = find_generations(connection, stages.collection).building
    assert built is not None
    return built


class Moments:
    """A moment in each of equal parts of the length of a piece of work, in random order.

    Args:
        seconds: its length, as measured; it shrinks where the work ends before its moment.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.killed = 0
        """Kills that came before the end."""

    def __iter__(self) -> Iterator[tuple[int, float]]:
        """Yield the number of each kill with its seconds."""
        random = Random(SEED)
        parts = [(number + random.random()) / KILLS for number in range(KILLS)]
        random.shuffle(parts)
        for number, part in enumerate(parts):
            yield number, part * self._seconds

    def add(self, *, killed: bool) -> None:
        """Count a kill, or shorten the length."""
        self.killed += killed
        self._seconds *= 1.0 if killed else 0.7


def assert_nothing_is_held(stages: Stages) -> None:
    """Assert that no lock of a collection or of a detachment is left."""
    assert not stages.rows(
        "SELECT objid FROM pg_locks JOIN pg_database ON pg_database.oid = database "
        "WHERE locktype = 'advisory' AND datname = current_database()"
    )


def assert_whole(stages: Stages) -> None:
    """Assert that every document is in the active generation, that its sums are right, and that a search finds it."""
    assert_nothing_is_held(stages)
    with stages.connection() as connection:
        found = find_generations(connection, stages.collection)
        assert found.active is not None
        assert not find_damage(connection, found.active, deep=True)
        assert not find_ledger_damage(connection, stages.collection)
    assert_searchable(stages)
    assert not stages.rows(
        "SELECT document.uri FROM document LEFT JOIN indexed_document indexed "
        "ON indexed.document_id = document.id AND indexed.generation_id = %(generation)s "
        "WHERE document.removed_at IS NULL AND indexed.published_hash IS DISTINCT FROM document.content_hash",
        generation=found.active.id,
    )


def assert_searchable(stages: Stages) -> None:
    for word in WORDS:
        assert stages.found(word) == {f"{word}.md"}


def ends_well(work: Work, name: str, *arguments: Any) -> None:
    assert work.run(name, *arguments)[0] == 0

"""Seconds until a change is searchable under `sourcebook up`: changes of four kinds, quiet and beside an ingest."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg

from benchmarks.corpora.markdown_files import write_corpus
from benchmarks.harness.bench import Bench
from benchmarks.harness.library import Library
from benchmarks.harness.report import Row, middle, say, spread
from sourcebook.knowledge_base import KnowledgeBase

_CHANGES = 20
"""Changes of each measurement: a quarter each of adds, edits, renames and deletions."""
_LONGEST = 300.0
"""Seconds after which a change counts as never found."""
_BARS = (12.0, 20.0)
"""Seconds: the median's bar, and that of the slowest of twenty changes."""
_SECONDS_BETWEEN_LOOKS = 0.1


def run(bench: Bench) -> list[Row]:
    """Measure the seconds from a change of a file to the search that shows it."""
    library = bench.library("freshness", collections=("handbook", "growing"))
    write_corpus(library.files_of("handbook"), bench.options.files // 2)
    write_corpus(library.files_of("growing"), 10, seed=2)
    library.ingest()
    rows: list[Row] = []
    with running_up(library), library.knowledge() as knowledge:
        changes = _Changes(library.files_of("handbook"), knowledge)
        rows += _measure(changes, "quiet")
        write_corpus(library.files_of("growing") / "more", bench.options.files, seed=3)
        wait_for(lambda: _is_running(library), "the large ingest has begun")
        rows += _measure(changes, "beside a large ingest of another collection")
        busy = "it outlasted the changes" if _is_running(library) else "it ended before the last change"
        say(f"  the large ingest: {busy}")
    return rows


class _Changes:
    """Changes of one folder, each with the search that shows it."""

    def __init__(self, folder: Path, knowledge: KnowledgeBase) -> None:
        self._folder = folder
        self._knowledge = knowledge
        self._numbers = count()
        self._paths: list[Path] = []

    def kinds(self) -> Iterator[tuple[str, Callable[[], Callable[[], bool]]]]:
        """Yield each kind of change in turn: its name, and a function that makes it and returns the test for it."""
        while True:
            yield "add", self._add
            yield "edit", self._edit
            yield "rename", self._rename
            yield "delete", self._delete

    def _add(self) -> Callable[[], bool]:
        number = next(self._numbers)
        self._paths.append(self._folder / f"added-{number}.md")
        return self._write(self._paths[-1])

    def _edit(self) -> Callable[[], bool]:
        return self._write(self._paths[-1])

    def _rename(self) -> Callable[[], bool]:
        path = self._paths.pop()
        word = path.read_text(encoding="utf-8").split()[-1]
        renamed = path.with_name(f"renamed-{path.name}")
        path.rename(renamed)
        self._paths.append(renamed)
        return lambda: any(uri.endswith(renamed.name) for uri in self._found(word))

    def _delete(self) -> Callable[[], bool]:
        path = self._paths.pop()
        word = path.read_text(encoding="utf-8").split()[-1]
        path.unlink()
        return lambda: not self._found(word)

    def _write(self, path: Path) -> Callable[[], bool]:
        word = f"lighthouse{next(self._numbers)}x"
        path.write_text(f"# A note\n\nThe keeper wrote down {word}\n", encoding="utf-8")
        return lambda: bool(self._found(word))

    def _found(self, word: str) -> list[str]:
        return [result.uri for result in self._knowledge.search(word, mode="keyword", collections=["handbook"])]


def _measure(changes: _Changes, circumstance: str) -> list[Row]:
    seconds = []
    for (kind, make), _ in zip(changes.kinds(), range(_CHANGES), strict=False):
        shows = make()
        start = time.monotonic()
        wait_for(shows, f"the {kind} is searchable")
        seconds.append(time.monotonic() - start)
        say(f"  {circumstance}, {kind}: {seconds[-1]:.1f} s")
    return [
        Row(f"until searchable, {circumstance}, median", middle(seconds), "s", _BARS[0], spread(seconds, "s")),
        Row(f"until searchable, {circumstance}, slowest of {_CHANGES}", max(seconds), "s", _BARS[1]),
    ]


def wait_for(reached: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _LONGEST
    while not reached():
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {_LONGEST:.0f} s: not yet {what}")
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _is_running(library: Library) -> bool:
    with library.database() as database, psycopg.connect(database.dagster_url()) as connection:
        return connection.execute("SELECT count(*) FROM runs WHERE status = 'STARTED'").fetchone() != (0,)


@contextmanager
def running_up(library: Library) -> Iterator[None]:
    """Run `sourcebook up` until the block ends."""
    program = Path(sys.executable).with_name("sourcebook")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(program), "--config", str(library.configuration_path), "up", "--json", "--port", str(port)]
    with subprocess.Popen(command, env=library.environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            say(f"  {json.loads(process.stdout.readline())['address']}")
            log = library.home / "dagster" / "watch.log"
            wait_for(lambda: log.exists() and "watching " in log.read_text(encoding="utf-8"), "the watch has begun")
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(120)

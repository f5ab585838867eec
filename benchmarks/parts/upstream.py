"""Seconds from a materialization upstream under `sourcebook up` to the search that shows its new row."""

import json
import sqlite3
import time
from contextlib import closing
from typing import Final

import dagster as dg

from benchmarks.harness.bench import Bench
from benchmarks.harness.library import Library
from benchmarks.harness.report import Row, middle, say, spread
from benchmarks.parts.freshness import running_up, wait_for
from orchestration.instance import open_instance

_KEY: Final = ["warehouse", "notes"]
_ROWS: Final = 20
_BAR: Final = 12.0
"""Seconds of the median."""


def run(bench: Bench) -> list[Row]:
    """Add a row and report the materialization of its table, which nothing else wakes, five times."""
    library = bench.library("upstream")
    database = library.folder / "notes.db"
    _configure(library, str(database))
    seconds: list[float] = []
    with closing(sqlite3.connect(database, isolation_level=None)) as notes:
        notes.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, body, changed)")
        for number in range(_ROWS):
            _add(notes, f"tide{number}")
        library.ingest()
        with (
            running_up(library),
            library.knowledge() as knowledge,
            library.database() as opened,
            open_instance(library.home, opened) as instance,
        ):
            for number in range(5):
                word = f"lighthouse{number}x"
                _add(notes, word)
                start = time.monotonic()
                instance.report_runless_asset_event(dg.AssetMaterialization(dg.AssetKey(_KEY)))
                wait_for(lambda word=word: bool(knowledge.search(word, mode="keyword").results), "it is searchable")  # type: ignore[misc]
                seconds.append(time.monotonic() - start)
                say(f"  {seconds[-1]:.1f} s")
    name = "from a materialization upstream until its row is searchable, median"
    return [Row(name, middle(seconds), "s", _BAR, spread(seconds, "s"))]


def _configure(library: Library, path: str) -> None:
    table = {"url": f"sqlite:///{path}", "name": "notes"}
    source = {"name": "notes", "table": table, "key": "id", "text": "body", "updated": "changed", "refresh": "1d"}
    settings = {"library": {"records": [{**source, "depends_on": ["/".join(_KEY)]}]}}
    library.configuration_path.write_text(json.dumps({"collections": settings}), encoding="utf-8")


def _add(notes: sqlite3.Connection, word: str) -> None:
    notes.execute("INSERT INTO notes (body, changed) VALUES (?, ?)", (f"The keeper wrote down {word}.", time.time()))

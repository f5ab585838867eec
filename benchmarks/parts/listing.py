"""Listing and comparing with the inventory among unchanged files, and the tick of the sensor over many collections."""

import json
import shutil
import sys
import time
from dataclasses import dataclass

from psycopg import Connection

from benchmarks.corpora.markdown_files import write_corpus
from benchmarks.harness.bench import Bench
from benchmarks.harness.library import COLLECTION, PROJECT, Library
from benchmarks.harness.measure import run as measured
from benchmarks.harness.report import MEGABYTE, Row, middle, say, spread
from benchmarks.parts.edit import edit
from benchmarks.parts.scan import take_in
from sourcebook.admin.collections import apply
from sourcebook.stages.raw_files import collection_sources, compare, update_raw_files

_SIZES = (2_000, 20_000, 50_000, 100_000)
_BYTES = 400
"""Bytes of a file, one or two passages: the listing reads no content."""
_REPEATS = 5
_COLLECTIONS, _FILES = 20, 5_000
"""Number of collections of the sensor's library, and files of each."""
_FEW = 100
"""Files of each collection in the library that the sensor's memory is compared with."""
_TICKS = 6
_FLAT = 1.1
"""Largest ratio of the sensor's memory over many files to its memory over few."""


@dataclass(frozen=True)
class Ticks:
    """Ticks of the sensor in one process, after a first one."""

    seconds: list[float]
    memory: list[int]
    """Resident bytes after each tick."""


def run(bench: Bench) -> list[Row]:
    """Compare inventories of several sizes, then let the sensor look at 20 collections."""
    rows = [row for size in _SIZES for row in _compared(bench, size)]
    few, many = _ticks(bench, _FEW), _ticks(bench, _FILES)
    files = f"{_COLLECTIONS * _FILES:,} unchanged files in {_COLLECTIONS} collections"
    memory = f"{max(many.memory) / MEGABYTE:,.0f} MB against {max(few.memory) / MEGABYTE:,.0f} MB"
    return [
        *rows,
        Row(f"tick of the sensor, {files}", middle(many.seconds), "s", 2.0, spread(many.seconds, "s")),
        Row(
            f"memory of the sensor, against {_COLLECTIONS * _FEW:,} files",
            max(many.memory) / max(few.memory),
            "×",
            _FLAT,
            memory,
        ),
    ]


def _compared(bench: Bench, size: int) -> list[Row]:
    """Return the seconds of comparisons where nothing changed, where one file did, and without settled folders."""
    library = bench.library(f"listed-{size}")
    paths = write_corpus(library.files, size, size=_BYTES)
    with library.database() as database, database.connection() as connection:
        apply(connection, library.configuration)
        update_raw_files(connection, COLLECTION)
        unchanged = [_seconds(connection, 0) for _ in range(_REPEATS)]
        edited = []
        for turn in range(_REPEATS):
            edit(paths[(turn + 1) * size // (_REPEATS + 2)], turn)
            edited.append(_seconds(connection, 1))
            update_raw_files(connection, COLLECTION)
        connection.execute("/* sourcebook: benchmark */ UPDATE listed_folder SET digest = NULL")
        rows = _seconds(connection, 0)
    bench.drop(library)
    name = f"listing and comparing, {size:,} files"
    say(f"  {name}: {middle(unchanged):.2f} s; one edit: {middle(edited):.2f} s; every row: {rows:.2f} s")
    return [
        Row(f"{name}, unchanged", middle(unchanged), "s", note=spread(unchanged, "s")),
        Row(f"{name}, one edited", middle(edited), "s", note=spread(edited, "s")),
        Row(f"{name}, every row read", rows, "s"),
    ]


def _seconds(connection: Connection, changed: int) -> float:
    started = time.perf_counter()
    (source,) = collection_sources(connection, COLLECTION)
    difference = compare(connection, source)
    seconds = time.perf_counter() - started
    assert len(difference.to_read) == changed, difference.to_read
    return seconds


def _ticks(bench: Bench, files: int) -> Ticks:
    """Fill a library of 20 collections with the stages, and evaluate the sensor in a process of its own."""
    names = [f"shelf-{number:02}" for number in range(_COLLECTIONS)]
    library: Library = bench.library(f"shelves-{files}", collections=names)
    first = library.files_of(names[0])
    write_corpus(first, files, size=_BYTES)
    for name in names[1:]:  # equal content: parsed and embedded once
        shutil.copytree(first, library.files_of(name), dirs_exist_ok=True)
    with library.database() as database:
        for name in names:
            take_in(database, library, name)
        command = [
            sys.executable,
            "-m",
            "benchmarks.harness.sensor_ticks",
            str(library.configuration_path),
            str(_TICKS),
        ]
        found = json.loads(
            measured(command, {**library.environment, "PYTHONPATH": str(PROJECT)}).output.splitlines()[-1]
        )
    bench.drop(library)
    return Ticks(found["seconds"][1:], found["memory"][1:])

"""`sourcebook export` and `import` of --entries passages, and of a tenth of them: seconds, and growth of memory.

What one round wrote is deleted after the last round: a disk that discards the blocks of 40,000 deleted files does so
for half a minute, and would serve the next export meanwhile.
"""

import os
import shutil
import sys
from pathlib import Path

from benchmarks.corpora.ledger_library import fill_library
from benchmarks.harness.bench import Bench
from benchmarks.harness.library import Library
from benchmarks.harness.measure import Measurement
from benchmarks.harness.measure import run as measured
from benchmarks.harness.report import MEGABYTE, Row, middle, say, spread

_EXPORT, _IMPORT = 20.0, 60.0
"""Seconds allowed for 100,000 passages."""
_GROWTH = 1.25
"""Peak memory allowed against that of a tenth of the passages."""


def run(bench: Bench) -> list[Row]:
    """Measure both commands as whole processes, the embedded server's start included."""
    entries = bench.options.entries
    costs = {
        size: _move(bench, size, bench.options.repeat if size == entries else 1) for size in (entries // 10, entries)
    }
    rows = []
    for place, (command, bar) in enumerate((("export", _EXPORT), ("import", _IMPORT))):
        small, large = costs[entries // 10][place], costs[entries][place]
        seconds = [each.seconds for each in large]
        rows.append(Row(f"`{command}` of {entries:,} passages", middle(seconds), "s", bar, spread(seconds, "s")))
        most, least = (max(each.peak_tree for each in found) for found in (large, small))
        note = f"{most / MEGABYTE:,.0f} MB against {least / MEGABYTE:,.0f} MB, the server not in it"
        rows.append(
            Row(
                f"peak memory of `{command}`, {entries:,} / {entries // 10:,} passages",
                most / least,
                "×",
                _GROWTH,
                note,
            )
        )
    return rows


def _move(bench: Bench, entries: int, repeat: int) -> tuple[list[Measurement], list[Measurement]]:
    """Export a library and import it into another one."""
    say(f"  filling a library with {entries:,} passages …")
    library = fill_library(bench, f"export-{entries}", entries)
    exports, imports, folders, others = [], [], [], []
    for number in range(repeat):
        folders.append(library.folder / f"exported-{number}")
        exports.append(_command(library, "export", str(folders[-1])))
        others.append(bench.library(f"import-{entries}-{number}"))
        imports.append(_command(others[-1], "import", str(folders[-1])))
        say(f"    {entries:,}: export {exports[-1].seconds:.1f} s, import {imports[-1].seconds:.1f} s")
    for folder in folders:
        shutil.rmtree(folder)
    for other in (*others, library):
        bench.drop(other)
    return exports, imports


def _command(library: Library, *arguments: str) -> Measurement:
    program = Path(sys.executable).with_name("sourcebook")
    command = [str(program), "--config", str(library.configuration_path), *arguments]
    os.sync()  # what was written before is not this command's
    return measured(command, library.environment, server_folder=library.home / "postgres")

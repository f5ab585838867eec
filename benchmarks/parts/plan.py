"""`sourcebook plan` over many files, and its forecasts against the ingests that follow."""

import sys
from pathlib import Path

from benchmarks.corpora.markdown_files import write_corpus
from benchmarks.harness.bench import Bench
from benchmarks.harness.library import COLLECTION, Library
from benchmarks.harness.measure import run as measured
from benchmarks.harness.report import Row, middle, say, spread
from benchmarks.parts.scan import many_files
from sourcebook.admin.planning.plan import make_plans

_ADDED = (20, 150, 600)
"""Files that are added before each of the forecasts."""


def run(bench: Bench) -> list[Row]:
    """Time the command as a whole process, then compare forecasts with real ingests of new files."""
    large = many_files(bench)
    program = Path(sys.executable).with_name("sourcebook")
    command = [str(program), "--config", str(large.configuration_path), "plan"]
    seconds = [
        measured(command, large.environment, server_folder=large.home / "postgres").seconds
        for _ in range(bench.options.repeat + 1)
    ][1:]
    name = f"`plan` among {bench.options.many_files:,} files, whole process"
    rows = [Row(name, middle(seconds), "s", 1.0, spread(seconds, "s"))]
    library = bench.filled("planned", files=400)
    say(f"  first ingest of 400 files: {library.ingest().measurement.seconds:.1f} s")
    for number, files in enumerate(_ADDED):
        write_corpus(library.files / f"more-{number}", files, seed=number + 2)  # the library's own files have seed 1
        rows.append(_compared(library, files))
    return rows


def _compared(library: Library, files: int) -> Row:
    with library.database() as database, database.connection() as connection:
        (plan,) = make_plans(connection, None, [COLLECTION])
    done = library.ingest()
    took = done.measurement.seconds
    say(
        f"  {files} more files: {plan.seconds:.1f} s and {plan.texts_to_embed:,} texts planned, {took:.1f} s and "
        f"{done.computed:,} texts in fact"
    )
    name = f"forecast of an ingest of {files} new files, off by, against the run"
    return Row(name, abs(plan.seconds - took) / took, "×", 1 / 3, f"{plan.seconds:.1f} s against {took:.1f} s")

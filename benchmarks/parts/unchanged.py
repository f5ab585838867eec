"""`sourcebook ingest` where nothing changed: the whole process, its SQL, its memory."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

from benchmarks.harness.bench import Bench
from benchmarks.harness.library import Library
from benchmarks.harness.report import Row, middle, say, spread
from benchmarks.parts.scan import many_files

BARS = {2_000: 0.75, 20_000: 1.0, 50_000: 1.3, 100_000: 1.9}
"""Seconds of the whole process by the number of files."""
_STATEMENT = re.compile(r"^.*LOG:  (?:statement|execute [^:]*): ", re.MULTILINE)
_LOG_STATEMENTS = "ALTER DATABASE sourcebook SET log_statement = 'all'"
_RESET = "ALTER DATABASE sourcebook RESET log_statement"


@dataclass
class Counted:
    """Activity in a library's databases during a block; filled at its end."""

    statements: int = 0
    """Number of SQL statements in the knowledge base, from the server's log."""
    runs: int = 0
    """Number of Dagster runs."""


def run(bench: Bench) -> list[Row]:
    """Time the process as a user starts it, then count its statements beside those of a small library."""
    library = bench.ingested
    done = [library.ingest() for _ in range(bench.options.repeat)]
    seconds = [ingest.measurement.seconds for ingest in done]
    say(f"  {', '.join(f'{value:.2f} s' for value in seconds)}")
    small = bench.filled("small", files=bench.options.small_files)
    small.ingest()
    with counted(small) as few:
        small.ingest()
    with counted(library) as many:
        warm = library.ingest()
    bench.drop(small)
    return [
        Row("nothing changed, whole process", middle(seconds), "s", BARS[2_000], spread(seconds, "s")),
        Row("nothing changed, texts embedded", max(ingest.computed for ingest in done), "texts", 0),
        Row("nothing changed, Dagster runs started", many.runs, "runs", 0),
        Row(
            f"nothing changed, SQL statements with {len(library.paths()):,} files",
            many.statements,
            "statements",
            few.statements,
            f"bar: as many as with {bench.options.small_files:,} files",
        ),
        Row("nothing changed, database server running already", warm.measurement.seconds, "s"),
        *(_sized(bench, size) for size in bench.options.sizes),
    ]


def _sized(bench: Bench, size: int) -> Row:
    library = many_files(bench, size)
    seconds = [library.ingest().measurement.seconds for _ in range(bench.options.repeat + 1)][1:]
    name = f"nothing changed among {size:,}, whole process"
    return Row(name, middle(seconds), "s", BARS.get(size), spread(seconds, "s"))


@contextmanager
def counted(library: Library) -> Iterator[Counted]:
    """Count SQL statements and Dagster runs within the block, with the server running throughout."""
    result = Counted()
    with library.database() as database:
        log = library.home / "postgres" / "log"
        with database.connection() as connection:
            connection.execute(_LOG_STATEMENTS)
        begin, before = log.stat().st_size, _dagster_runs(database.dagster_url())
        yield result
        result.runs = _dagster_runs(database.dagster_url()) - before
        with database.connection() as connection:
            connection.execute(_RESET)
        with log.open("rb") as file:
            file.seek(begin)
            result.statements = len(_STATEMENT.findall(file.read().decode("utf-8", "replace")))


def _dagster_runs(url: str) -> int:
    with psycopg.connect(url) as connection:
        if connection.execute("SELECT to_regclass('runs')").fetchone() == (None,):
            return 0
        row = connection.execute("SELECT count(*) FROM runs").fetchone()
        return int(row[0]) if row else 0

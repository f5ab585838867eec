"""Everything at once under `sourcebook up`: the largest lag of each source, with kills, and what the load leaves."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random
from statistics import median
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final, cast

import psutil
import psycopg

from benchmarks.harness.bench import Bench
from benchmarks.harness.constant_load import NAMES, REFRESH, ConstantLoad, Schedule
from benchmarks.harness.kills.processes import family, wait
from benchmarks.harness.kills.services import ServiceKills
from benchmarks.harness.kills.up import Up, started_up, wait_until_ready
from benchmarks.harness.report import MEGABYTE, Row, say
from benchmarks.harness.site_server import SiteServer
from benchmarks.parts.server import serving
from sourcebook.database.database import Database

if TYPE_CHECKING:
    from benchmarks.harness.kills.home import Home

_QUIET_BAR, _LOAD_BAR = 60.0, 120.0
"""Seconds from a change to the search that shows it, at most: of single edits, and under load with kills."""
_SECONDS_BETWEEN_KILLS: Final = 40.0
_SECONDS_BETWEEN_LOOKS: Final = 2.0
_SECONDS_BETWEEN_SAMPLES: Final = 10.0
_WARM_SECONDS: Final = 600.0
"""Seconds of the load after which the memory is not to grow."""
_MOST_GROWTH: Final = 0.05
_MOST_EVENTS: Final = 400_000
"""Rows of Dagster's event log, however long the load lasts."""
_SECONDS_TO_SETTLE: Final = 240.0
_VICTIMS: Final = ("watch", "daemon", "run worker", "backend", "code server", "watch", "run worker", "postmaster")
# SQL here: Dagster's tables are not the library's.
_EVENTS: Final = "SELECT count(*), pg_total_relation_size('event_logs') FROM event_logs"
_RUNS: Final = "SELECT count(*) FROM runs"


def run(bench: Bench) -> list[Row]:
    """Drive the load, and measure lags, memory and the size of Dagster's event log."""
    chance, seconds = Random(bench.options.seed), 60 * bench.options.minutes
    library, site = bench.library("everything", collections=NAMES), bench.folder / "everything-site"
    site.mkdir()
    with SiteServer(site) as server, tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        load = ConstantLoad(library, site, server.url, chance)
        library.ingest()
        with (
            started_up(library.configuration_path, library.environment, errors) as up,
            serving(library) as (load.server_port, _, _),
            library.database() as database,
        ):
            wait_until_ready(up)
            measured = _Measured(load, database, up, chance)
            rows = list(measured.drive("single edits", min(60.0, seconds / 5), _QUIET_BAR, is_quiet=True))
            rows += measured.drive("everything", seconds, _LOAD_BAR, is_quiet=False)
            wait(lambda: not load.waiting or measured.look(), _SECONDS_TO_SETTLE)
            rows += measured.end(seconds)
            errors.seek(0)
            for line in errors.read().splitlines()[-20:]:
                say(f"  {line}")
    bench.drop(library)
    return rows


class _Measured:
    """A running load."""

    def __init__(self, load: ConstantLoad, database: Database, up: Up, chance: Random) -> None:
        self._load, self._database, self._up, self._chance = load, database, up, chance
        self._kills = ServiceKills(cast("Home", SimpleNamespace(library=load.library, chance=chance)))
        self._killed: list[str] = []
        self._memory: list[tuple[float, float]] = []
        self._begun = time.monotonic()

    def look(self) -> bool:
        """Look which changes are searchable now; False, for a condition that is not met yet."""
        self._load.look(self._database)
        return False

    def drive(self, name: str, seconds: float, bar: float, *, is_quiet: bool) -> Iterator[Row]:
        """Let the actions come again and again for some seconds, and yield the largest lag of each source."""
        self._load.lags.clear()
        self._begun = time.monotonic()
        own: list[tuple[float, Callable[[], None]]] = []
        own.append((_SECONDS_BETWEEN_LOOKS, lambda: self._load.look(self._database)))
        if not is_quiet:
            own += [(_SECONDS_BETWEEN_KILLS, self._kill), (_SECONDS_BETWEEN_SAMPLES, self._sample)]
        schedule = Schedule([*self._load.actions(is_quiet=is_quiet), *own])
        while time.monotonic() - self._begun < seconds and self._up.process.poll() is None:
            schedule.run_due()
            time.sleep(0.1)
        wait(lambda: not self._load.waiting or self.look(), _SECONDS_TO_SETTLE)
        self._load.close()
        for source, lag in sorted(self._load.lags.items()):
            beyond = f", beyond its refresh of {REFRESH} s" if source.startswith("site") else ""
            note = f"of {lag.changes} changes{beyond}: {lag.name}"
            say(f"  {name}: {source}: {lag.largest:.0f} s, {note}")
            yield Row(f"{name}, largest lag: {source}", lag.largest, "s", bar, note)

    def end(self, seconds: float) -> Iterator[Row]:
        """Yield what the load has left."""
        wrong: list[str] = []

        def agrees() -> bool:
            wrong[:] = self._load.differences(self._database)
            return not wrong

        wait(agrees, _SECONDS_TO_SETTLE)
        for each in wrong[:10]:
            say(f"  {each}")
        yield Row("items that differ from the index at the end", len(wrong), "", 0)
        kinds = ", ".join(f"{self._killed.count(kind)} {kind}" for kind in dict.fromkeys(self._killed))
        yield Row("kills", len(self._killed), "", note=kinds)
        yield Row("uploads and requests that the server refused", self._load.refused, "", note="its database was away")
        yield Row("`up` ended by itself", int(self._up.process.poll() is not None), "", 0)
        yield from self._memory_rows(seconds)
        with psycopg.connect(self._database.dagster_url()) as connection:
            events, size = connection.execute(_EVENTS).fetchone() or (0, 0)
            (runs,) = connection.execute(_RUNS).fetchone() or (0,)
        yield Row("rows of Dagster's event log", events, "", _MOST_EVENTS, f"{size / MEGABYTE:.0f} MB, {runs:,} runs")

    def _memory_rows(self, seconds: float) -> Iterator[Row]:
        for moment, memory in self._memory[:: max(len(self._memory) // 12, 1)]:
            say(f"  memory of the services after {moment:5.0f} s: {memory:6.0f} MB")
        warm = [memory for moment, memory in self._memory if _WARM_SECONDS <= moment < _WARM_SECONDS * 1.5]
        last = [memory for moment, memory in self._memory if moment >= max(seconds - _WARM_SECONDS / 2, _WARM_SECONDS)]
        if seconds >= 2 * _WARM_SECONDS and warm and last:
            note = f"{median(warm):.0f} MB, then {median(last):.0f} MB"
            yield Row(
                "growth of the services after ten minutes", median(last) / median(warm) - 1, "%", _MOST_GROWTH, note
            )
        elif self._memory:
            yield Row("memory of the services", median(memory for _, memory in self._memory) * MEGABYTE, "bytes")

    def _kill(self) -> None:
        kind = _VICTIMS[len(self._killed) % len(_VICTIMS)]
        if kind == "watch":
            with suppress(psutil.Error, ValueError):
                self._up.program(kind).kill()
        elif self._kills.kinds[kind](self._up) is None:
            kind = f"{kind} (none was there)"
        self._killed.append(kind)
        say(f"  after {time.monotonic() - self._begun:4.0f} s: killed {kind}; {self._load.waiting} changes wait")

    def _sample(self) -> None:
        """Note the memory of the services, without that of the runs and the database."""
        runs = {each.pid for worker in self._up.run_workers() for each in (worker, *_children(worker))}
        total = 0
        for each in family(self._up.process.pid)[1:]:
            with suppress(psutil.Error):
                if each.pid not in runs and "postgres" not in each.name():
                    total += each.memory_full_info().pss
        self._memory.append((time.monotonic() - self._begun, total / MEGABYTE))


def _children(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return process.children(recursive=True)
    return []

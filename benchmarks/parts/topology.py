"""A deployment as processes: PostgreSQL on TCP, two code servers, web server, daemon, workers of Dagster's launcher."""

import json
import os
import signal
import time
from contextlib import suppress
from importlib.util import find_spec
from random import Random
from typing import Any

import psutil
import psycopg

from benchmarks.harness.bench import Bench
from benchmarks.harness.kills.oracle import differences
from benchmarks.harness.library import Library
from benchmarks.harness.report import Row, say
from benchmarks.harness.topology import Topology, wait
from benchmarks.harness.waiting_provider import WaitingProvider

_LOCATIONS = ("sourcebook", "sourcebook-b")
_COLLECTIONS = 8
_CONCURRENT = 4
_WORDS = ("harbour", "tide", "clock", "baker", "train", "valley", "engine", "letter", "bridge", "garden", "anchor")
_RUNS = """
query {
  runsOrError(filter: {pipelineName: "ingest"}, limit: 500) {
    ... on Runs {
      results {
        runId status rootRunId parentRunId
        tags { key value }
        repositoryOrigin { repositoryLocationName }
      }
    }
  }
}
"""
# SQL here: the comparisons are this benchmark's own.
_KEYS = "SELECT count(*) FROM dynamic_partitions WHERE partitions_def_name = 'collection'"
_LOCKS = """
    SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
    WHERE locktype = 'advisory' AND datname = 'sourcebook'
"""
_VERSIONS = "SELECT count(*) FROM sourcebook.document WHERE version <> 1"
_DOCUMENTS = "SELECT count(*) FROM sourcebook.document WHERE removed_at IS NULL"


def run(bench: Bench) -> list[Row]:
    """Ingest collections by processes of the code servers, and by workers of Celery where it is installed."""
    rows = _ingest(bench, "processes", celery=False)
    return rows + (_ingest(bench, "tasks of Celery", celery=True) if find_spec("dagster_celery") else [])


def _ingest(bench: Bench, launched: str, *, celery: bool) -> list[Row]:
    """Ingest collections by runs that are asked for at two code servers in turn, and kill one of the processes."""
    files = bench.options.small_files // 5
    names = [f"shelf{number:02}" for number in range(_COLLECTIONS)]
    keys = [key for number, name in enumerate(names) for key in _partitions(name, 1 + number % 2)]
    with WaitingProvider(0.05) as provider:
        library = _library(bench, names, files, provider.url)
        folder = bench.folder / launched.replace(" ", "-")
        folder.mkdir()
        with Topology(library, folder, _LOCATIONS, _CONCURRENT, celery=celery) as topology:
            started = time.perf_counter()
            with psycopg.connect(topology.postgres.url("dagster"), autocommit=True) as dagster:
                wait(lambda: _number(dagster, _KEYS) == len(keys), "every collection is a partition")
            say(f"  {len(keys)} partitions after {time.perf_counter() - started:.0f} s")
            for number, key in enumerate(keys):
                topology.launch(_LOCATIONS[number % 2], key)
            killed = 0 if celery else _kill_a_worker()
            wait(lambda: _ended(topology), "every run has ended")
            seconds = time.perf_counter() - started
            runs = _runs(topology)
            with psycopg.connect(topology.postgres.url("sourcebook"), autocommit=True) as connection:
                connection.execute("SET search_path TO sourcebook, public")
                wrong = [each for name in names for each in differences(connection, name, library.files_of(name))]
                documents, versions = _number(connection, _DOCUMENTS), _number(connection, _VERSIONS)
                locks = _number(connection, _LOCKS)
        for each in wrong[:10]:
            say(f"  {each}")
        bench.drop(library)
    places = [run["repositoryOrigin"]["repositoryLocationName"] for run in runs if run["status"] == "SUCCESS"]
    again = [run for run in runs if run["parentRunId"]]
    served = {name: places.count(name) for name in _LOCATIONS}
    note = ", ".join(f"{count} at {name}" for name, count in served.items())
    return [
        Row(f"two code servers, one database over TCP: runs as {launched} that succeeded", len(places), "", note=note),
        Row("code servers whose workers did nothing", sum(not count for count in served.values()), "", 0),
        Row("documents lost, doubled or outdated", len(wrong), "", 0, f"of {documents:,}"),
        Row("documents made twice", versions, "", 0),
        Row(
            "workers killed whose run was not started again",
            killed - min(len(again), killed),
            "",
            0,
            f"{killed} killed",
        ),
        Row("locks leaked", locks, "", 0),
        Row("from the start of the services to the last run", seconds, "s"),
    ]


def _library(bench: Bench, names: list[str], files: int, url: str) -> Library:
    """Make the collections, every second one with two shards, whose texts a server embeds."""
    library = bench.library("topology", collections=names)
    embedding = {"provider": "openai", "base_url": url, "model": "hashes", "batch_size": 4, "parallel": 1}
    entries = {
        name: {"files": [{"root": str(library.files_of(name))}], "embedding": embedding, "shards": 1 + number % 2}
        for number, name in enumerate(names)
    }
    library.configuration_path.write_text(json.dumps({"collections": entries}), encoding="utf-8")
    chance = Random(bench.options.seed)
    for name in names:
        for number in range(files):
            text = f"# Note {number}\n\n{' '.join(chance.choices(_WORDS, k=60))} {chance.randrange(10**9)}\n"
            (library.files_of(name) / f"{number:04}.md").write_text(text, encoding="utf-8")
    return library


def _partitions(name: str, shards: int) -> list[str]:
    return [name] if shards == 1 else [f"{name}:{number}of{shards}" for number in range(1, shards + 1)]


def _kill_a_worker() -> int:
    """Kill the first process of a run that is seen a second after its start; return how many were."""
    found: list[psutil.Process] = []

    def look() -> bool:
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                line = " ".join(process.cmdline())
                if "execute_run" in line or "spawn_main" in line:
                    found.append(process)
        return bool(found)

    with suppress(TimeoutError):
        wait(look, "a worker has started", 60)
    if not found:
        return 0
    time.sleep(1)
    with suppress(ProcessLookupError):
        os.kill(found[0].pid, signal.SIGKILL)
        return 1
    return 0


def _runs(topology: Topology) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = topology.ask(_RUNS)["runsOrError"]["results"]
    return found


def _ended(topology: Topology) -> bool:
    """Return whether no run is under way, and every one that failed has a later one that succeeded."""
    runs = _runs(topology)
    done = {_partition(run) for run in runs if run["status"] == "SUCCESS"}
    return {run["status"] for run in runs} <= {"SUCCESS", "FAILURE"} and {_partition(run) for run in runs} == done


def _partition(run: dict[str, Any]) -> str:
    tags: dict[str, str] = {tag["key"]: tag["value"] for tag in run["tags"]}
    return tags["dagster/partition"]


def _number(connection: "psycopg.Connection[Any]", statement: str) -> int:
    row = connection.execute(statement.encode()).fetchone()
    return int(row[0]) if row else 0

"""One collection by several workers: four against one, eight that wait for a server, killed ones, and two homes."""

import json
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import psutil

from benchmarks.harness.bench import Bench
from benchmarks.harness.kills.oracle import Connection, differences, torn_documents
from benchmarks.harness.kills.processes import wait
from benchmarks.harness.library import COLLECTION, Library
from benchmarks.harness.report import Row, say
from benchmarks.harness.waiting_provider import WaitingProvider

_SECONDS_BETWEEN_KILLS = 20.0
_SECONDS_OF_A_BATCH = 0.05
_SECONDS_FOR_THE_RECORDER = 120.0
_COLLECTIONS = 20
_PARAGRAPHS = 3
_WORDS = ("harbour", "tide", "clock", "baker", "train", "valley", "engine", "letter", "bridge", "garden", "anchor")
# SQL here: the comparisons are this benchmark's own.
_INDEX = """
    SELECT document.uri, chunk.ordinal, chunk.text, entry.lexemes::text, entry.vector::text
    FROM search_entry entry
    JOIN collection ON collection.active_generation_id = entry.generation_id
    JOIN chunk ON chunk.id = entry.chunk_id
    JOIN document ON document.id = entry.document_id
    WHERE collection.name = 'benchmark' ORDER BY 1, 2
"""
_WORKERS = "orchestration.shard_workers"
_LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"


def run(bench: Bench) -> list[Row]:
    """Measure four things; `--sizes` sets the number of files, `--seconds` the time of the kills."""
    files = bench.options.sizes[-1] if bench.options.sizes else bench.options.many_files
    rows = _four_workers(bench, files)
    rows += _eight_workers(bench, max(files // 10, 100))
    rows += _killed_workers(bench, max(files // 40, 80))
    return rows + _two_homes(bench, max(files // 100, 20))


def _four_workers(bench: Bench, files: int) -> list[Row]:
    """Ingest the same files by one worker and by four, with vectors that are stored already."""
    with WaitingProvider() as provider:
        first = _library(bench, "vectors", files, provider.url)
        _ingest(first)
        stored = bench.folder / "vectors.copy"
        with first.database() as database, database.connection() as connection, stored.open("wb") as file:
            expected = _index(connection, first)
            with connection.cursor().copy("COPY embedding TO STDOUT (FORMAT binary)") as copy:
                file.writelines(copy)
        bench.drop(first)
        seconds: dict[int, float] = {}
        used: dict[int, float] = {}
        wrong = asked = 0
        for workers in (1, 4):
            library = _library(bench, f"workers-{workers}", files, provider.url, shards=workers)
            with library.database() as database, database.connection() as connection:
                with connection.cursor().copy("COPY embedding FROM STDIN (FORMAT binary)") as copy:
                    copy.write(stored.read_bytes())
                before, texts = _processor_seconds(), provider.texts
                started = time.perf_counter()
                _ingest(library, workers)
                seconds[workers] = time.perf_counter() - started
                used[workers] = _processor_seconds() - before
                asked += provider.texts - texts
                found = _index(connection, library)
                wrong += sum(one != two for one, two in zip(expected, found, strict=False))
                wrong += abs(len(expected) - len(found)) + len(list(differences(connection, COLLECTION, library.files)))
            bench.drop(library)
    say(f"  {seconds[1]:.1f} s by one worker, {seconds[4]:.1f} s by four")
    return [
        Row(f"{files:,} files, vectors stored: four workers against one", seconds[4] / seconds[1], "×", 1.05),
        Row("the same in processor time of the workers", used[4] / used[1], "×"),
        Row("passages, vectors and statistics that differ", wrong, "", 0, f"of {len(expected):,} passages"),
        Row("texts embedded again, without the probes", max(asked - 8, 0), "", 0),
    ]


def _eight_workers(bench: Bench, files: int) -> list[Row]:
    """Ingest files whose vectors a server computes that takes 50 ms a text, by one worker and by eight."""
    seconds: dict[int, float] = {}
    embedding: dict[int, float] = {}
    for workers in (1, 8):
        with WaitingProvider(_SECONDS_OF_A_BATCH) as provider:
            library = _library(bench, f"waiting-{workers}", files, provider.url, shards=workers, batch=1)
            with library.database():
                started = time.perf_counter()
                counts = _ingest(library, workers)
                seconds[workers] = time.perf_counter() - started
                embedding[workers] = counts[COLLECTION]["embeddings"]["seconds"] / workers
            bench.drop(library)
    note = f"{embedding[1]:.1f} s and {embedding[8]:.1f} s a worker, in the stage `embeddings`"
    return [
        Row("eight workers where a server takes 50 ms a batch", embedding[1] / embedding[8], "×", 6.5, note, True),
        Row("the whole command", seconds[1] / seconds[8], "×", note=f"{seconds[1]:.0f} s and {seconds[8]:.0f} s"),
    ]


def _killed_workers(bench: Bench, files: int) -> list[Row]:
    """Kill a worker every 20 s while files change, and compare the index with the files in the end."""
    chance = Random(bench.options.seed)
    kills = rounds = torn = 0
    with WaitingProvider(_SECONDS_OF_A_BATCH) as provider:
        library = _library(bench, "killed", files, provider.url, shards=4, batch=4)
        with library.database() as database, database.connection() as connection:
            ends = time.monotonic() + bench.options.seconds
            next_kill = time.monotonic() + min(_SECONDS_BETWEEN_KILLS, bench.options.seconds / 2)
            while time.monotonic() < ends:
                rounds += 1
                for path in chance.sample(library.paths(), files // 2):
                    path.write_text(_text(chance, rounds), encoding="utf-8")
                with tempfile.TemporaryFile() as output:
                    running = subprocess.Popen(
                        _command(library, 4), env=library.environment, stdout=output, stderr=output
                    )
                    while running.poll() is None:
                        if time.monotonic() > next_kill and (pid := _worker_of(running.pid, chance)):
                            with suppress(ProcessLookupError):
                                os.kill(pid, signal.SIGKILL)
                                kills += 1
                            next_kill = time.monotonic() + _SECONDS_BETWEEN_KILLS
                        torn += len(torn_documents(connection))
                        time.sleep(0.5)
            _ingest(library, 4)
            wrong = list(differences(connection, COLLECTION, library.files))
            again = _ingest(library, 4)[COLLECTION]["documents"]
            locks = _locks(connection)
        bench.drop(library)
    for each in wrong[:10]:
        say(f"  {each}")
    return [
        Row("workers killed", kills, "", note=f"in {bench.options.seconds:.0f} s and {rounds} ingests"),
        Row("documents lost, doubled or outdated", len(wrong), "", 0, f"of {files:,}"),
        Row("documents that were searchable in part", torn, "", 0),
        Row("documents left to do", again["added"] + again["changed"], "", 0),
        Row("locks left", locks, "", 0),
    ]


def _two_homes(bench: Bench, files: int) -> list[Row]:
    """Ingest 20 collections from two homes at once, each with a code location of its own, over one database."""
    names = [f"shelf{number:02}" for number in range(_COLLECTIONS)]
    with WaitingProvider() as provider:
        library = bench.library("two-homes", collections=names)
        settings = {"provider": "openai", "base_url": provider.url, "model": "hashes"}
        entries = {
            name: {"files": [{"root": str(library.files_of(name))}], "embedding": settings, "shards": 1 + number % 3}
            for number, name in enumerate(names)
        }
        library.configuration_path.write_text(json.dumps({"collections": entries}), encoding="utf-8")
        chance = Random(bench.options.seed)
        for name in names:
            for number in range(files):
                (library.files_of(name) / f"{number:04}.md").write_text(_text(chance, number), encoding="utf-8")
        with library.database() as database, database.connection() as connection:
            homes = [bench.folder / "home-one", bench.folder / "home-two"]
            started = [
                subprocess.Popen(
                    _command(library, 2),
                    env={**library.environment, "SOURCEBOOK_HOME": str(home), "SOURCEBOOK_DATABASE_URL": database.url},
                    stdout=subprocess.PIPE,
                )
                for home in homes
            ]
            outputs = [process.communicate()[0] for process in started]
            if any(process.returncode for process in started):
                message = f"an ingest ended with {[process.returncode for process in started]}"
                raise RuntimeError(message)
            results = [json.loads(output)["collections"] for output in outputs]
            added = sum(counts[name]["documents"]["added"] for counts in results for name in names)
            wrong = [each for name in names for each in differences(connection, name, library.files_of(name))]
            versions = _number(connection, "SELECT count(*) FROM document WHERE version <> 1")
            locks = _locks(connection)
        bench.drop(library)
    return [
        Row("two homes, 20 collections: documents made", added, "", note=f"of {files * _COLLECTIONS:,} files"),
        Row("documents made twice or not at all", abs(added - files * _COLLECTIONS) + versions, "", 0),
        Row("differences between files and index", len(wrong), "", 0),
        Row("locks leaked", locks, "", 0),
    ]


def _library(bench: Bench, name: str, files: int, url: str, *, shards: int = 1, batch: int = 256) -> Library:
    """Make a library of notes in one folder, whose texts a server embeds. Equal names of files have equal texts."""
    library = bench.library(name, collections=(COLLECTION,))
    embedding = {"provider": "openai", "base_url": url, "model": "hashes", "batch_size": batch, "parallel": 1}
    settings = {"files": [{"root": "./files"}], "shards": shards, "embedding": embedding}
    library.configuration_path.write_text(json.dumps({"collections": {COLLECTION: settings}}), encoding="utf-8")
    chance = Random(1)
    for number in range(files):
        (library.files / f"{number:05}.md").write_text(_text(chance, number), encoding="utf-8")
    return library


def _text(chance: Random, number: int) -> str:
    """Return a note whose mark no other note has."""
    mark = f"m{number}n{chance.randrange(10**9)}x"
    paragraphs = [f"{' '.join(chance.choices(_WORDS, k=20))} {mark}." for _ in range(_PARAGRAPHS)]
    return f"# Note {number}\n\n" + "\n\n".join(paragraphs) + "\n"


def _command(library: Library, workers: int) -> list[str]:
    return [*library.ingest_command(), "--workers", str(workers)]


def _ingest(library: Library, workers: int = 1) -> dict[str, dict[str, dict[str, Any]]]:
    done = subprocess.run(_command(library, workers), env=library.environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(done.stdout)["collections"]
    return found


def _index(connection: Connection, library: Library) -> list[Sequence[object]]:
    root = library.files.as_uri()
    return [(Path(uri).relative_to(Path(root)), *row) for uri, *row in connection.execute(_INDEX)]


def _locks(connection: Connection) -> int:
    """Return the number of locks that are left once the process that records small changes has ended."""
    wait(lambda: _number(connection, _LOCKS) == 0, _SECONDS_FOR_THE_RECORDER)
    return _number(connection, _LOCKS)


def _number(connection: Connection, statement: str) -> int:
    row = connection.execute(statement.encode()).fetchone()
    return int(row[0]) if row else 0


def _processor_seconds() -> float:
    """Return the processor time of the ended children of this process."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _worker_of(pid: int, chance: Random) -> int | None:
    """Return a worker that a command has started; None where there is none now."""
    with suppress(psutil.Error):
        servers = [each for each in psutil.Process(pid).children() if any(_WORKERS in part for part in each.cmdline())]
        workers = [each.pid for server in servers for each in server.children() if each.cmdline() == server.cmdline()]
        return chance.choice(workers) if workers else None
    return None

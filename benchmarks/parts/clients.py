"""Fifty clients that search without a pause over HTTP: searches a second, how long each takes, memory of the server."""

import os
import threading
import time
from random import Random
from typing import Final

import psutil

from benchmarks.corpora.markdown_files import sentence
from benchmarks.harness.bench import Bench
from benchmarks.harness.latency import Latency
from benchmarks.harness.library import COLLECTION
from benchmarks.harness.report import MEGABYTE, Row, say
from benchmarks.parts.server import Asking, serving

CLIENTS: Final = 50
FILES: Final = 10_000
SECONDS: Final = 120.0
QUICK: Final = (200, 5.0)
"""Files and seconds with `--quick`, to see that it runs."""
_WARM: Final = 5.0
"""Seconds of searches before the memory is looked at for the first time."""


def run(bench: Bench) -> list[Row]:
    """Ingest once, then let the clients search, each question new, on a server with a process for each core."""
    files, seconds = QUICK if bench.options.quick else (FILES, SECONDS)
    library = bench.filled("clients", files=files)
    say(f"  first ingest of {files:,} files …")
    library.ingest()
    with serving(library, "--workers", str(os.cpu_count() or 1)) as (port, _, process):
        ask = Asking(port, COLLECTION)
        _ask(ask, process, _WARM)  # by as many connections, so that each process has its model and its connections
        before = _memory(process)
        times, failed, most = _ask(ask, process, seconds)
    asked = Latency(times)
    say(f"  {asked}, the longest {max(times):.0f} ms; memory {before / MEGABYTE:.0f} to {most / MEGABYTE:.0f} MB")
    return [
        Row(f"searches a second, {CLIENTS} clients", len(times) / seconds, "searches/s", 90.0, at_least=True),
        Row("… p95", asked.p95, "ms", 900.0, f"p50 {asked.p50:.0f} ms"),
        Row("… the longest", max(times) / 1000, "s", 5.0, f"{len(times):,} searches in {seconds:.0f} s"),
        Row("… that were not answered", failed, "", 0),
        Row("… memory of the server that they add", (most - before) / MEGABYTE, "MB", 100.0),
    ]


def _ask(ask: Asking, process: psutil.Process, seconds: float) -> tuple[list[float], int, int]:
    """Let the clients ask; return the milliseconds of each search, how many failed, and the most memory."""
    ends = time.perf_counter() + seconds
    times: list[list[float]] = [[] for _ in range(CLIENTS)]
    failures: list[AssertionError] = []

    def search(number: int) -> None:
        random = Random(1_000 + number)
        while (started := time.perf_counter()) < ends:
            try:
                ask(sentence(random))
            except AssertionError as error:  # another status than 200
                failures.append(error)
            times[number].append((time.perf_counter() - started) * 1000)

    clients = [threading.Thread(target=search, args=(number,)) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    most = 0
    while any(client.is_alive() for client in clients):
        most = max(most, _memory(process))
        time.sleep(0.5)
    if failures:
        say(f"  a search failed: {failures[0]}")
    return [each for of_one in times for each in of_one], len(failures), most


def _memory(process: psutil.Process) -> int:
    """Return the memory of the server's processes, without that of the embedded database."""
    family = [process, *(each for each in process.children(recursive=True) if "postgres" not in each.name())]
    return sum(each.memory_info().rss for each in family)

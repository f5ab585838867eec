"""First ingest: seconds until a question is answered, and the whole time beside another checkout; a kill on the way."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from threading import Event, Thread

from benchmarks.harness.bench import Bench
from benchmarks.harness.library import COLLECTION, Library
from benchmarks.harness.measure import run as measured
from benchmarks.harness.report import Row, middle, say, spread
from sourcebook.contract.filling import Filling
from sourcebook.errors import SourcebookError

_SECONDS_BETWEEN_QUESTIONS = 0.2


def run(bench: Bench) -> list[Row]:
    """Ask while files are ingested, by this checkout and by the one of `--beside`, in turns."""
    answered, whole, before = [], [], []
    for turn in range(bench.options.repeat):
        library = bench.filled(f"answer-{turn}")
        with _asking(library) as heard:
            whole.append(library.ingest().measurement.seconds)
        answered.append(heard["seconds"])
        say(f"  answer after {answered[-1]:.1f} of {whole[-1]:.1f} s")
        bench.drop(library)
        if bench.options.beside is not None:
            library = bench.filled(f"beside-{turn}")
            environment = {**library.environment, "PYTHONPATH": str(bench.options.beside)}
            before.append(measured(library.ingest_command(), environment).seconds)
            say(f"  the other checkout {before[-1]:.1f} s")
            bench.drop(library)
    ratios = [one / other for one, other in zip(whole, before, strict=False)]
    lost, seconds = _killed(bench, Random(bench.options.seed).uniform(middle(answered), middle(whole)))
    files = f"first ingest of {bench.options.files:,} files"
    return [
        Row(f"{files}: first answer", middle(answered), "s", 10.0, note=spread(answered, "s")),
        Row(f"{files}: whole", middle(whole), "s", note=spread(whole, "s")),
        Row(f"{files}: whole, against the other checkout", middle(ratios) if ratios else None, "×", 1.05),
        Row(f"{files}, killed after {seconds:.0f} s and run again: documents lost", lost, "", 0),
    ]


@contextmanager
def _asking(library: Library) -> Iterator[dict[str, float]]:
    """Ask by words and meaning until an answer comes; the result has its seconds."""
    heard: dict[str, float] = {}
    is_over = Event()
    started = time.perf_counter()

    def ask() -> None:
        while not is_over.wait(_SECONDS_BETWEEN_QUESTIONS):
            if not (library.home / "postgres" / "postmaster.pid").exists():
                continue  # the ingest starts the server
            try:
                with library.knowledge() as knowledge:
                    while not is_over.wait(_SECONDS_BETWEEN_QUESTIONS):
                        if len(knowledge.search("How many minutes does it take?", limit=1)):
                            heard["seconds"] = time.perf_counter() - started
                            return
            except SourcebookError:
                continue  # the collection is not there yet

    asker = Thread(target=ask)
    asker.start()
    try:
        yield heard
    finally:
        is_over.set()
        asker.join()


def _killed(bench: Bench, seconds: float) -> tuple[int, float]:
    """Kill an ingest with all of its processes, and return how many documents were lost, after another one too."""
    library = bench.filled("killed")
    process = subprocess.Popen(
        library.ingest_command(), env=library.environment, stdout=subprocess.DEVNULL, start_new_session=True
    )
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    with library.knowledge() as knowledge:
        filling = knowledge.collections()[0].filling or Filling(COLLECTION, 0, 0, 0)
        say(f"  killed: {filling}")
        library.ingest()
        (state,) = knowledge.status()
        return len(library.paths()) - state.documents + state.damaged + state.stale, seconds

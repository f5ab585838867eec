"""Search during an ingest on the same server, of another collection and of the growing one."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from random import Random

from benchmarks.corpora.markdown_files import sentence, write_corpus
from benchmarks.harness.bench import GROWING, Bench
from benchmarks.harness.latency import Latency
from benchmarks.harness.library import COLLECTION, Library
from benchmarks.harness.report import Row, say
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.processes.cores import usable_cores

_FIRST_FILES = 200
"""Files of the growing collection before the ingest."""
_QUESTIONS = 300
_LONGEST = 600.0
"""Most seconds that an ingest may take."""


def run(bench: Bench) -> list[Row]:
    """Ask without an ingest, start an ingest in another process, ask until it ends."""
    library, still, questions = _library(bench)
    write_corpus(library.files_of(GROWING), _FIRST_FILES, seed=3)
    library.ingest(GROWING)
    rows: list[Row] = []
    both = (still, GROWING)
    with library.knowledge() as knowledge:
        _ask(knowledge, both, questions, lambda asked: asked < _QUESTIONS // 3)
        quiet = _ask(knowledge, both, questions, lambda asked: asked < 2 * _QUESTIONS)
        write_corpus(library.files_of(GROWING), bench.options.files, seed=4)
        say(f"  asking while {bench.options.files:,} files are taken in …")
        started = time.perf_counter()
        ingest = subprocess.Popen(
            library.ingest_command(GROWING), env=library.environment, stdout=subprocess.DEVNULL, start_new_session=True
        )
        try:
            busy = _ask(knowledge, both, questions, lambda _: _goes_on(ingest, started))
        finally:
            if ingest.poll() is None:
                os.killpg(ingest.pid, signal.SIGTERM)
                ingest.wait()
        seconds = time.perf_counter() - started
    assert ingest.returncode == 0, f"the ingest ended with {ingest.returncode}"
    for name, what in ((still, "another collection"), (GROWING, "the collection that grows")):
        rows += _rows(what, quiet[name], busy[name], seconds)
    return rows


def _goes_on(ingest: "subprocess.Popen[bytes]", started: float) -> bool:
    return ingest.poll() is None and time.perf_counter() - started < _LONGEST


def _library(bench: Bench) -> tuple[Library, str, list[str]]:
    """Return a library, the name of a collection that stays unchanged, and questions: SciFact where it is given."""
    if bench.retrieval_set is not None:
        return bench.retrieval_library, "scifact", list(dict.fromkeys(bench.retrieval_set.questions.values()))
    library = bench.library("beside", collections=(COLLECTION, GROWING))
    write_corpus(library.files, bench.options.files)
    library.ingest(COLLECTION)
    random = Random(7)
    return library, COLLECTION, list(dict.fromkeys(sentence(random) for _ in range(_QUESTIONS)))


def _ask(
    knowledge: KnowledgeBase, collections: Sequence[str], questions: Sequence[str], go_on: Callable[[int], bool]
) -> dict[str, Latency]:
    """Ask the collections in turn, each question new, while `go_on` of the number of questions a collection is true."""
    times: dict[str, list[float]] = {name: [] for name in collections}
    knowledge.forget_queries()
    for number, question in enumerate(cycle(questions)):
        if number and number % len(questions) == 0:
            knowledge.forget_queries()
        if not go_on(number):
            return {name: Latency(taken) for name, taken in times.items()}
        name = collections[number % len(collections)]
        started = time.perf_counter()
        knowledge.search(question, name, literal=True)
        times[name].append((time.perf_counter() - started) * 1000)
    message = "there is no question to ask"
    raise ValueError(message)


def _rows(what: str, quiet: Latency, busy: Latency, seconds: float) -> Iterator[Row]:
    beside = f"beside it for {seconds:.0f} s, on {usable_cores()} cores: the model that embeds passages, and PostgreSQL"
    yield Row(f"search of {what}, quiet, p95", quiet.p95, "ms", note=str(quiet))
    yield Row(f"search of {what}, while ingesting, p95", busy.p95, "ms", note=f"{busy}; {beside}")
    yield Row(f"while ingesting / quiet, {what}", busy.p95 / quiet.p95, "×", 2.0)

"""Other chunking in a collection that is searched meanwhile: cost of the build, searches beside it, activation."""

import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import cycle
from random import Random

from psycopg import Connection

from benchmarks.corpora.markdown_files import sentence
from benchmarks.harness.bench import Bench
from benchmarks.harness.latency import Latency
from benchmarks.harness.library import COLLECTION, Library
from benchmarks.harness.report import Row, middle, say
from benchmarks.peers.encode import encode
from sourcebook.embedding.engine import choose_precision
from sourcebook.indexing.activation import activate
from sourcebook.indexing.generations import active_generation, find_generations
from sourcebook.knowledge_base import KnowledgeBase

_QUESTIONS = 300
_CLIENTS = 8
_ACTIVATIONS = 40
_PAUSE = 0.1
"""Seconds between two activations."""
_NEW_TEXTS = """
SELECT DISTINCT ON (embedding_hash) context || text FROM sourcebook.chunk
WHERE generation_id = %(new)s
  AND embedding_hash NOT IN (SELECT embedding_hash FROM sourcebook.chunk WHERE generation_id <> %(new)s)
ORDER BY embedding_hash
"""
_SPANS = "SELECT generation_id, document_id, start_char, end_char FROM sourcebook.chunk"


def run(bench: Bench) -> list[Row]:
    """Build one generation alone and one beside searches, then change between generations under eight clients."""
    library = bench.filled("generations")
    library.ingest()
    rows = [_cost(bench, library, 128)]
    random = Random(7)
    questions = [sentence(random) for _ in range(_QUESTIONS)]
    with library.knowledge() as knowledge:
        rows += _beside(library, knowledge, questions, 192)
        rows += _changes(library, knowledge, questions)
    return rows


def _configure(library: Library, tokens: int) -> None:
    text = library.configuration_path.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if "chunking" not in line]
    library.configuration_path.write_text(
        "\n".join([*lines, f"    chunking: {{tokens: {tokens}}}", ""]), encoding="utf-8"
    )


def _cost(bench: Bench, library: Library, tokens: int) -> Row:
    """Return the seconds of a build, the whole process, against embedding its new texts alone."""
    _configure(library, tokens)
    done = library.ingest()
    with library.database() as database, database.connection() as connection:
        generation = active_generation(connection, COLLECTION)
        assert generation is not None
        assert generation.chunking_settings.tokens == tokens, "the generation was not activated"
        texts = [text for (text,) in connection.execute(_NEW_TEXTS.encode(), {"new": generation.id})]
    assert done.computed == len(texts), f"{done.computed} texts were embedded, {len(texts)} are new"
    alone = encode(texts, bench.folder, precision=choose_precision())[0]
    seconds = done.measurement.seconds
    name = f"building a generation of {len(library.paths()):,} files / embedding its {len(texts):,} new texts alone"
    return Row(name, seconds / alone, "×", 1.1, f"{seconds:.1f} s against {alone:.1f} s")


def _beside(library: Library, knowledge: KnowledgeBase, questions: Sequence[str], tokens: int) -> list[Row]:
    """Return the latencies of searches without a build, and beside one."""
    _ask(knowledge, questions, lambda asked: asked < _QUESTIONS // 3)
    quiet = _ask(knowledge, questions, lambda asked: asked < _QUESTIONS)
    _configure(library, tokens)
    started = time.perf_counter()
    build = subprocess.Popen(library.ingest_command(), env=library.environment, stdout=subprocess.DEVNULL)
    busy = _ask(knowledge, questions, lambda _: build.poll() is None)
    seconds = time.perf_counter() - started
    assert build.returncode == 0, f"the ingest ended with {build.returncode}"
    return [
        Row("search, quiet, p95", quiet.p95, "ms", note=str(quiet)),
        Row("search while a generation is built, p95", busy.p95, "ms", note=f"{busy}; for {seconds:.0f} s"),
        Row("while a generation is built / quiet", busy.p95 / quiet.p95, "×", 2.0),
    ]


def _ask(knowledge: KnowledgeBase, questions: Sequence[str], go_on: Callable[[int], bool]) -> Latency:
    """Ask one question after the other, each embedded, while `go_on` of their number is true."""
    times: list[float] = []
    for number, question in enumerate(cycle(questions)):
        if number % len(questions) == 0:
            knowledge.forget_queries()
        if not go_on(number):
            break
        started = time.perf_counter()
        knowledge.search(question, COLLECTION, literal=True)
        times.append((time.perf_counter() - started) * 1000)
    return Latency(times)


def _changes(library: Library, knowledge: KnowledgeBase, questions: Sequence[str]) -> list[Row]:
    """Activate generations in turn under eight clients, which check every passage."""
    with library.database() as database, database.connection() as connection:
        spans = _spans(connection)
        over = threading.Event()
        clients = [_Client(knowledge, questions[number:], spans, over) for number in range(_CLIENTS)]
        for client in clients:
            client.start()
        taken = []
        for _ in range(_ACTIVATIONS):
            found = find_generations(connection, COLLECTION)
            other = next(each for each in (*found.followed, *found.earlier) if not each.is_active)
            started = time.perf_counter()
            activate(connection, other)
            taken.append((time.perf_counter() - started) * 1000)
            over.wait(_PAUSE)
        over.set()
        for client in clients:
            client.join()
    wrong = [failure for client in clients for failure in client.failures]
    for failure in wrong[:3]:
        say(f"  {failure}")
    searches = sum(client.searches for client in clients)
    note = f"{searches:,} searches of {_CLIENTS} clients during {_ACTIVATIONS} activations"
    return [
        Row("activation, the longest", max(taken), "ms", 50.0, f"median {middle(taken):.1f} ms"),
        Row("searches that failed or mixed generations", float(len(wrong)), "", 0.0, note),
    ]


def _spans(connection: Connection) -> dict[int, set[tuple[int, int, int]]]:
    """Return the places of all passages by generation."""
    spans: dict[int, set[tuple[int, int, int]]] = defaultdict(set)
    for generation, *place in connection.execute(_SPANS.encode()):
        spans[generation].add((place[0], place[1], place[2]))
    return spans


class _Client(threading.Thread):
    """Searches until the end, and keeps what is wrong with the results."""

    def __init__(
        self,
        knowledge: KnowledgeBase,
        questions: Sequence[str],
        spans: dict[int, set[tuple[int, int, int]]],
        over: threading.Event,
    ) -> None:
        super().__init__(daemon=True)
        self.searches = 0
        self.failures: list[str] = []
        self._knowledge, self._questions, self._spans, self._over = knowledge, questions, spans, over

    def run(self) -> None:
        """Search."""
        for question in cycle(self._questions):
            if self._over.is_set():
                return
            self.searches += 1
            try:
                results = self._knowledge.search(question, COLLECTION, limit=10, literal=True)
            except Exception as error:  # noqa: BLE001 - any failure is counted
                self.failures.append(repr(error))
                continue
            (generation,) = results.generations
            for hit in results:
                place = (hit.document_id, hit.start_char, hit.end_char)
                if hit.generation != generation or place not in self._spans[generation]:
                    self.failures.append(f"{place} is not of generation {generation}")

"""The whole search with the query's embedding, warm, each question new: latency, first answer, clients at once."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from random import Random

from benchmarks.corpora.markdown_files import sentence
from benchmarks.harness.bench import Bench
from benchmarks.harness.latency import CLIENTS, Latency, ask_at_once, ask_each
from benchmarks.harness.library import COLLECTION, Library
from benchmarks.harness.report import Row, middle, say, spread
from sourcebook.async_knowledge_base import AsyncKnowledgeBase
from sourcebook.contract.search import DEFAULT_FUSION
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.search.query_terms import query_terms
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.ranking.keyword_leg import keyword_ranking
from sourcebook.search.ranking.vector_leg import nearest
from sourcebook.search.scope import find_scope

_QUESTIONS = 300
_CHUNKS_PER_FILE = 2.5
_QUICK = 100
"""Files with `--quick`."""


def run(bench: Bench) -> list[Row]:
    """Ask one after the other, then from several threads and tasks at once."""
    library, collection = searched_library(bench)
    questions = questions_of(bench)
    with library.knowledge() as knowledge:
        rows = [
            *_latency_rows(knowledge, library, collection, questions),
            *_clients_rows(knowledge, collection, questions),
        ]
        rows.append(first_answer(library, collection, questions))
    return rows


def searched_library(bench: Bench) -> tuple[Library, str]:
    """Return a library with SciFact where it is given, else with generated files for --chunks chunks; few if quick."""
    if bench.retrieval_set is not None and not bench.options.quick:
        return bench.retrieval_library, "scifact"
    files = _QUICK if bench.options.quick else max(int(bench.options.chunks / _CHUNKS_PER_FILE), 1)
    library = bench.filled("search", files=files)
    say(f"  first ingest of {len(library.paths()):,} files …")
    library.ingest()
    return library, COLLECTION


def questions_of(bench: Bench) -> list[str]:
    """Return questions for the library of `searched_library`, each once."""
    if bench.retrieval_set is not None and not bench.options.quick:
        return list(dict.fromkeys(bench.retrieval_set.questions.values()))[:_QUESTIONS]
    random = Random(7)
    return list(dict.fromkeys(sentence(random) for _ in range(_QUESTIONS)))


def _latency_rows(knowledge: KnowledgeBase, library: Library, collection: str, questions: list[str]) -> Iterator[Row]:
    notes = knowledge.search(questions[0], collection, literal=True).notes
    for mode in ("hybrid", "vector", "keyword"):
        asked = ask_each(
            lambda question, mode=mode: knowledge.search(question, collection, mode=mode, literal=True),  # type: ignore[misc]
            questions,
            after=knowledge.forget_queries,
        )
        say(f"  {mode}: {asked}")
        median, most = (12.0, 18.0) if mode == "hybrid" else (None, None)
        yield Row(f"whole {mode} search, p50", asked.p50, "ms", median, " ".join(notes) if mode == "hybrid" else "")
        yield Row(f"whole {mode} search, p95", asked.p95, "ms", most, f"{len(asked.times)} questions")
    for part, asked in _parts(knowledge, library, collection, questions):
        yield Row(f"of which {part}, p95", asked.p95, "ms", note=f"p50 {asked.p50:.2f} ms")


def _parts(
    knowledge: KnowledgeBase, library: Library, collection: str, questions: list[str]
) -> Iterator[tuple[str, Latency]]:
    """Measure each part of a search alone, without the reading of the results."""
    embedder = QueryVectors(library.home)
    with knowledge.database.connection() as connection:
        scope = find_scope(connection, [collection])
        (entries,) = connection.execute(
            "SELECT sum(entry_count)::bigint FROM generation WHERE id = ANY(%s)", [scope.ids]
        ).fetchone() or (0,)
        generation, depth = scope.generations[0], DEFAULT_FUSION.depth
        yield (
            "the query's embedding",
            ask_each(lambda question: embedder.embed(generation, question), questions, after=embedder.forget),
        )
        vectors = {question: embedder.embed(generation, question).vector for question in questions}
        yield (
            f"the vector leg over {entries:,} passages",
            ask_each(lambda question: nearest(connection, scope.generations, vectors[question], depth), questions),
        )
        yield (
            "the keyword leg",
            ask_each(
                lambda question: keyword_ranking(connection, scope, query_terms(connection, scope, question), depth),
                questions,
            ),
        )
    embedder.close()


def _clients_rows(knowledge: KnowledgeBase, collection: str, questions: list[str]) -> Iterator[Row]:
    knowledge.forget_queries()
    rate = ask_at_once(lambda question: knowledge.search(question, collection, literal=True), questions)
    yield Row(f"hybrid searches, {CLIENTS} threads", rate, "searches/s", 60.0, at_least=True)
    knowledge.forget_queries()
    rate = asyncio.run(_tasks(knowledge, collection, questions))
    yield Row(f"hybrid searches, {CLIENTS} tasks of asyncio", rate, "searches/s", 60.0, at_least=True)


async def _tasks(knowledge: KnowledgeBase, collection: str, questions: list[str]) -> float:
    """Return the questions answered a second to eight tasks; the knowledge base stays open."""
    searching, waiting = AsyncKnowledgeBase(knowledge, searches_at_once=CLIENTS), iter(questions)

    async def client() -> None:
        for question in waiting:
            await searching.search(question, collection, literal=True)

    started = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return len(questions) / (time.perf_counter() - started)


_PROCESSES = 5
_PROGRAM = """
import sys
from sourcebook import KnowledgeBase
with KnowledgeBase.connect(home=sys.argv[1]) as knowledge:
    print(len(knowledge.search(sys.argv[2], sys.argv[3], literal=True)), flush=True)
"""


def first_answer(library: Library, collection: str, questions: list[str]) -> Row:
    """Start a new process for each answer, while the server runs."""
    seconds = []
    for question in questions[:_PROCESSES]:
        started = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(library.home), question, collection],
            env=library.environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as child:
            assert child.stdout is not None
            found = child.stdout.readline()
            seconds.append(time.perf_counter() - started)
        assert found.strip().isdigit(), "the child found nothing"
    return Row("first answer of a new process, import and connection included", middle(seconds), "s", 1.5,
               spread(seconds, "s"))  # fmt: skip

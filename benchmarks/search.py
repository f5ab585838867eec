"""Search latency without the embedding of the query, and the latency of each leg."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import Bench
from benchmarks.corpus import sentence
from benchmarks.encode import encode
from benchmarks.ingest import embedded_texts
from benchmarks.library import Library
from benchmarks.report import Row, say
from sourcebook.database.database import Database
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.search.legs import keyword_leg, vector_leg
from sourcebook.search.request import SearchRequest
from sourcebook.search.scope import find_scope

_QUERIES = 240
_CLIENTS = 8
_CHUNKS_PER_FILE = 2.5


class KnownQueries:
    """A query embedder that was told all answers before."""

    def __init__(self, queries: Sequence[str], vectors: NDArray[np.float32]) -> None:
        self._vectors: dict[str, NDArray[np.float32]] = dict(zip(queries, vectors, strict=True))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a known query."""
        vector: NDArray[np.float32] = self._vectors[text]
        return vector

    def close(self) -> None:
        """Nothing to give back."""


def run(bench: Bench) -> list[Row]:
    """Ask one after the other, then from several threads at once."""
    library = _library(bench)
    texts = embedded_texts(library)
    queries = _queries(bench, texts)
    _, vectors = encode(queries, bench.folder, precision="float32", query=True)
    size = f"{len(texts):,} chunks"
    say(f"  {len(queries)} queries over {size}")
    with library.database() as database:
        knowledge = KnowledgeBase(database, query_embedder=KnownQueries(queries, vectors))
        rows = []
        for mode in ("hybrid", "vector", "keyword"):
            times = _times(lambda query, mode=mode: knowledge.search(query, mode=mode), queries)  # type: ignore[misc]
            bar = 15.0 if mode == "hybrid" else None
            rows += [
                Row(f"{mode} search over {size}, p95", _percentile(times, 95), "ms", bar, f"{len(times)} queries"),
                Row(f"{mode} search, p50", _percentile(times, 50), "ms"),
            ]
        rows += _leg_rows(database, queries, vectors)
        rate = _throughput(lambda query: knowledge.search(query), queries)
        return [*rows, Row(f"hybrid search, {_CLIENTS} threads", rate, "queries/s")]


def _library(bench: Bench) -> Library:
    """SciFact where it is given, or else as many generated files as make the chunks."""
    if bench.retrieval_set is not None:
        return bench.retrieval_library
    library = bench.filled("search", files=max(int(bench.options.chunks / _CHUNKS_PER_FILE), 1))
    say(f"  first ingest of {len(library.paths()):,} files …")
    library.ingest()
    return library


def _queries(bench: Bench, texts: list[str]) -> list[str]:
    """Questions of the retrieval set, or else sentences: half of them out of the chunks, half new."""
    if bench.retrieval_set is not None:
        return list(dict.fromkeys(bench.retrieval_set.questions.values()))[: _QUERIES + 60]
    random = Random(7)
    taken = [random.choice([part for part in text.replace("\n", " ").split(". ") if part.strip()]).strip()[:300]
             for text in random.choices(texts, k=_QUERIES // 2)]  # fmt: skip
    return list(dict.fromkeys([*taken, *(sentence(random) for _ in range(_QUERIES // 2))]))


def _leg_rows(database: Database, queries: list[str], vectors: NDArray[np.float32]) -> list[Row]:
    by_query = dict(zip(queries, vectors, strict=True))
    request = SearchRequest.checked(queries[0], None, 5, "hybrid")
    with database.connection() as connection:
        scope = find_scope(connection, request)
        near = _times(lambda query: vector_leg(connection, scope.generations, by_query[query], request.depth), queries)
        words = _times(lambda query: keyword_leg(connection, scope, query, request.depth), queries)
    return [
        Row("the vector leg alone, p95", _percentile(near, 95), "ms", note=f"p50 {_percentile(near, 50):.2f} ms"),
        Row("the keyword leg alone, p95", _percentile(words, 95), "ms", note=f"p50 {_percentile(words, 50):.2f} ms"),
    ]


def _times(ask: Callable[[str], object], queries: list[str]) -> list[float]:
    """Return milliseconds a query, after a warm-up with a quarter of them."""
    for query in queries[: len(queries) // 4]:
        ask(query)
    times = []
    for query in queries:
        started = time.perf_counter()
        ask(query)
        times.append((time.perf_counter() - started) * 1000)
    return times


def _throughput(ask: Callable[[str], object], queries: list[str]) -> float:
    """Return queries a second from several threads."""
    with ThreadPoolExecutor(_CLIENTS) as clients:
        started = time.perf_counter()
        done = len(list(clients.map(ask, [*queries, *queries])))
        return done / (time.perf_counter() - started)


def _percentile(times: list[float], percent: int) -> float:
    return float(np.percentile(times, percent))

"""Search over 10,000 and 100,000 passages with known query vectors: each leg, both, `ts_rank`, sizes."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection

from benchmarks.corpora.large_library import LargeLibrary, large_library
from benchmarks.corpora.text_collection import TextShelf
from benchmarks.harness.bench import Bench
from benchmarks.harness.latency import CLIENTS, ask_at_once, ask_each
from benchmarks.harness.report import Row, say
from benchmarks.peers.sql_rankings import every_entry_scored, rank_by_full_text
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.search.query_terms import query_terms
from sourcebook.search.ranking.keyword_leg import keyword_ranking
from sourcebook.search.ranking.vector_leg import nearest

_DEPTH = 100
_COMPARED = 60
"""Number of questions for slow peers."""
_BARS = {"vector": 15.0, "keyword": 30.0, "hybrid": 28.0}


def run(bench: Bench) -> list[Row]:
    """Measure the smaller collection, then the larger one, which has the bars."""
    large = large_library(bench)
    rows: list[Row] = []
    with large.library.knowledge(KnownQueries(large.questions, large.question_vectors)) as knowledge:
        for shelf in large.shelves:
            rows += _measure(knowledge, large, shelf, has_bars=shelf is large.shelves[-1])
    return rows


def _measure(knowledge: KnowledgeBase, large: LargeLibrary, shelf: TextShelf, *, has_bars: bool) -> Iterator[Row]:
    size = f"{shelf.entries:,} passages"
    for mode, bar in _BARS.items():
        asked = ask_each(
            lambda question, mode=mode: knowledge.search(question, shelf.name, mode=mode, literal=True),  # type: ignore[misc]
            large.questions,
        )
        say(f"  {size}, {mode}: {asked}")
        yield Row(
            f"{mode} search over {size}, p95", asked.p95, "ms", bar if has_bars else None, f"p50 {asked.p50:.1f} ms"
        )
    with knowledge.database.connection() as connection:
        yield _recall(connection, large, shelf)
        yield from _keyword_rows(connection, large, shelf)
    rate = ask_at_once(lambda question: knowledge.search(question, shelf.name, literal=True), large.questions)
    yield Row(
        f"hybrid searches over {size}, {CLIENTS} threads", rate, "searches/s", note="the query's embedding excluded"
    )
    for table, grown in shelf.bytes.items():
        yield Row(f"{table}, indexes included, {size}", grown, "bytes a passage")
    for step, seconds in shelf.seconds.items():
        yield Row(f"{step}, {size}", seconds, "s")


def _recall(connection: Connection, large: LargeLibrary, shelf: TextShelf) -> Row:
    scoped = shelf.scope(connection).generations
    exact = large.question_vectors @ large.vectors[: shelf.entries].T
    shares = []
    for vector, similarities in zip(large.question_vectors, exact, strict=True):
        found = {chunk - shelf.first_chunk for chunk, _ in nearest(connection, scoped, vector, _DEPTH).hits[:10]}
        shares.append(len(found & {*np.argpartition(-similarities, 10)[:10].tolist()}) / 10)
    note = f"{len(shares)} questions, {large.source}"
    return Row(
        f"recall@10 of exact, {shelf.entries:,} passages", float(np.mean(shares)), "%", 0.95, note, at_least=True
    )


def _keyword_rows(connection: Connection, large: LargeLibrary, shelf: TextShelf) -> Iterator[Row]:
    """Compare the keyword leg with the scores of all entries, and with `ts_rank`."""
    scope = shelf.scope(connection)
    some = large.questions[:: max(len(large.questions) // _COMPARED, 1)]
    terms = {question: query_terms(connection, scope, question) for question in some}
    same = [
        keyword_ranking(connection, scope, terms[question], _DEPTH)
        == every_entry_scored(connection, shelf.generation.id, terms[question], _DEPTH)
        for question in some
    ]
    size = f"{shelf.entries:,} passages"
    note = f"{len(some)} questions"
    yield Row(
        f"keyword leg, top {_DEPTH} that of all scored, {size}", float(np.mean(same)), "%", 1.0, note, at_least=True
    )
    asked = ask_each(
        lambda question: keyword_ranking(connection, scope, query_terms(connection, scope, question), _DEPTH),
        large.questions,
    )
    yield Row(f"keyword leg alone, {size}, p95", asked.p95, "ms", note=f"p50 {asked.p50:.1f} ms")
    ranked = ask_each(
        lambda question: rank_by_full_text(connection, shelf.generation.id, terms[question], _DEPTH), some
    )
    yield Row(f"ts_rank, {size}, p95", ranked.p95, "ms", note=f"p50 {ranked.p50:.1f} ms, {note}")


class KnownQueries:
    """A query embedder that holds the vector of every query from the start."""

    def __init__(self, queries: Sequence[str], vectors: NDArray[np.float32]) -> None:
        self._vectors: dict[str, NDArray[np.float32]] = dict(zip(queries, vectors, strict=True))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a known query."""
        vector: NDArray[np.float32] = self._vectors[text]
        return vector

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

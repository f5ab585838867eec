"""HNSW over 100,000 halfvecs: recall and latency by breadth of the search, building, filters, and many deletions."""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from benchmarks.corpora.vector_collection import CHUNKS_OF_A_DOCUMENT, Shelf
from benchmarks.corpora.vectors import Rows, vectors
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row, say
from sourcebook.contract.filters import Filters
from sourcebook.indexing.graphs import HNSW_BREADTH, HNSW_FROM, HNSW_LINKS, build_vector_index
from sourcebook.search.ranking.filter_conditions import condition_of
from sourcebook.search.ranking.vector_leg import nearest
from sourcebook.search.scope import EntryCondition

_ENTRIES, _DEPTH = 100_000, 100
_SIZES = (HNSW_FROM // 2, HNSW_FROM, 10_000, 20_000)
_BREADTHS = (40, 100, 200, 300, 400, 600)
_OTHER_GRAPHS = ((16, 128), (24, 128))
"""Further graphs for --full: links of a node (m) and breadth of building (ef_construction)."""
_SHARES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
_DELETED = 0.5


@dataclass(frozen=True)
class _Asked:
    """Recall and latency of the questions."""

    recall_at_10: float
    recall_at_100: float
    times: list[float]
    plans: str

    @property
    def p95(self) -> float:
        return float(np.percentile(self.times, 95))

    @property
    def told(self) -> str:
        return (
            f"recall@10 {self.recall_at_10:.4f}, @100 {self.recall_at_100:.4f}, "
            f"p50 {np.percentile(self.times, 50):.1f} ms, p95 {self.p95:.1f} ms ({self.plans})"
        )


def run(bench: Bench) -> list[Row]:
    """Measure by size, by graph and breadth, by filter, and after deletions."""
    rows, questions, source = vectors(bench, _ENTRIES)
    library = bench.library("hnsw")
    with library.database() as database, database.connection() as connection:
        shelf = Shelf.make(connection, rows, _SHARES)
        for size in _SIZES:
            shelf.fill(size)
            _compare(shelf, questions)
        shelf.fill(_ENTRIES)
        if bench.options.full:
            for links, breadth in _OTHER_GRAPHS:
                _build(shelf, links, breadth)
                _curve(shelf, questions)
                _drop(shelf)
        seconds = _build(shelf, HNSW_LINKS, HNSW_BREADTH)
        _curve(shelf, questions)
        results = [
            Row(f"building HNSW over {_ENTRIES:,} halfvec(384)", seconds, "s", note=source),
            *_whole_leg(shelf, questions),
            *_filtered(shelf, questions),
            *_after_deletions(shelf, questions, vacuum=bench.options.full),
        ]
    bench.drop(library)
    return results


def _compare(shelf: Shelf, questions: Rows) -> None:
    """Measure the size from which the index is faster than an exact scan."""
    say(f"  {shelf.filled:,} entries: {_ask(shelf, questions).told}")
    _build(shelf, HNSW_LINKS, HNSW_BREADTH)
    say(f"    {_ask(shelf, questions).told}")
    _drop(shelf)


def _curve(shelf: Shelf, questions: Rows) -> None:
    (set_to,) = shelf.connection.execute("SHOW hnsw.ef_search").fetchone() or ("200",)
    for breadth in _BREADTHS:
        shelf.connection.execute("SELECT set_config('hnsw.ef_search', %s, false)", [str(breadth)])
        say(f"    ef_search {breadth}: {_ask(shelf, questions).told}")
    shelf.connection.execute("SELECT set_config('hnsw.ef_search', %s, false)", [set_to])


def _whole_leg(shelf: Shelf, questions: Rows) -> list[Row]:
    asked = _ask(shelf, questions)
    size = f"{shelf.filled:,} entries"
    return [
        Row(f"vector leg over {size}, p95", asked.p95, "ms", 15.0, asked.told),
        Row("recall@10 of the exact scan", asked.recall_at_10, "%", 0.95, at_least=True),
        Row("recall@100 of the exact scan", asked.recall_at_100, "%"),
    ]


def _filtered(shelf: Shelf, questions: Rows) -> list[Row]:
    results = []
    for share in _SHARES:
        condition = condition_of(Filters(tags_any=str(share)), None)
        last = round(len(shelf.rows) // CHUNKS_OF_A_DOCUMENT * share) * CHUNKS_OF_A_DOCUMENT
        asked = _ask(shelf, questions, np.arange(1, last + 1), condition)
        name = f"recall@10 where a filter lets {share:.1%} through"
        results.append(Row(name, asked.recall_at_10, "%", 0.99, asked.told, at_least=True))
        say(f"    {share:.1%}: {asked.told}")
    return results


def _after_deletions(shelf: Shelf, questions: Rows, *, vacuum: bool) -> list[Row]:
    """Ask while the index still holds deleted entries; with --full again after VACUUM, which takes minutes."""
    random = np.random.default_rng(3)
    gone = 1 + random.permutation(_ENTRIES)[: int(_ENTRIES * _DELETED)]
    present = np.setdiff1d(np.arange(1, _ENTRIES + 1), gone)
    shelf.delete(gone)
    asked = _ask(shelf, questions, present)
    if vacuum:
        started = time.perf_counter()
        shelf.vacuum()
        say(f"  {len(gone):,} deleted, VACUUM {time.perf_counter() - started:.0f} s")
        say(f"    {_ask(shelf, questions, present).told}")
    name = f"recall@10 after deleting {_DELETED:.0%}"
    return [Row(name, asked.recall_at_10, "%", 0.95, asked.told, at_least=True)]


def _ask(
    shelf: Shelf, questions: Rows, present: NDArray[np.int64] | None = None, condition: EntryCondition | None = None
) -> _Asked:
    """Ask every question after a warm-up with some; compare with the exact nearest of the present entries."""
    numbers = shelf.numbers()
    present = np.arange(1, shelf.filled + 1) if present is None else present
    similarities = questions @ shelf.rows[present - 1].T
    times, shares, plans = [], [], set()
    for number, question in enumerate([*questions[:20], *questions], start=-20):
        started = time.perf_counter()
        ranking = nearest(shelf.connection, shelf.scoped, question, _DEPTH, condition)
        if number < 0:
            continue
        times.append((time.perf_counter() - started) * 1000)
        plans.add(ranking.plan)
        found = [numbers[chunk] for chunk, _ in ranking.hits]
        exact = present[np.argsort(-similarities[number], kind="stable")[:_DEPTH]].tolist()
        shares.append([len({*found[:depth]} & {*exact[:depth]}) / len(exact[:depth]) for depth in (10, 100)])
    at_10, at_100 = np.mean(shares, axis=0)
    return _Asked(float(at_10), float(at_100), times, ", ".join(sorted(plans)))


def _build(shelf: Shelf, links: int, breadth: int) -> float:
    started = time.perf_counter()
    build_vector_index(shelf.connection, shelf.generation, shelf.filled, links=links, breadth=breadth)
    seconds = time.perf_counter() - started
    row = shelf.connection.execute("SELECT pg_relation_size(%s::regclass)", [_index(shelf)]).fetchone()
    size = row[0] / 1e6 if row else 0
    say(f"  m {links}, ef_construction {breadth}: {shelf.filled:,} entries in {seconds:.1f} s, {size:,.0f} MB")
    return seconds


def _drop(shelf: Shelf) -> None:
    shelf.connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(_index(shelf))))


def _index(shelf: Shelf) -> str:
    return f"search_entry_{shelf.generation.id}_vector"

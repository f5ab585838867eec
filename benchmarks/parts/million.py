"""A million passages against ten thousand: search, recall, exact BM25, building, disk, publishing, upkeep, memory."""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np
import psutil
from psycopg import Connection
from psycopg.types.json import Jsonb

from benchmarks.corpora.large_library import asked_questions
from benchmarks.corpora.ledger_library import PASSAGES_OF_A_DOCUMENT
from benchmarks.corpora.million_library import KeptLibrary, bytes_of, kept_library
from benchmarks.harness.bench import Bench
from benchmarks.harness.child_memory import server_memory
from benchmarks.harness.growth_plot import Curve, growth_plot
from benchmarks.harness.latency import ask_each
from benchmarks.harness.library import COLLECTION
from benchmarks.harness.report import Row, middle, say
from benchmarks.parts.search_large import KnownQueries
from benchmarks.peers.sql_rankings import every_entry_scored
from sourcebook.indexing.generations import active_generation
from sourcebook.indexing.graphs import present_layout, settle_graphs
from sourcebook.model.generation import Generation
from sourcebook.search.query_terms import query_terms
from sourcebook.search.ranking.keyword_leg import keyword_ranking
from sourcebook.search.ranking.vector_leg import nearest
from sourcebook.search.scope import find_scope
from sourcebook.stages.index_upkeep import MOST_OUTSIDE, maintain_index
from sourcebook.stages.search_index import publish

_DEPTH, _QUESTIONS, _ORACLE = 100, 200, 20
_PUBLISHED = 110
"""Documents that are published one by one: enough for the upkeep to enter them in the graph."""
_SIZES = (10_000, 100_000, 1_000_000)
_HNSW = """
SELECT sum(pg_relation_size(indexrelid))::bigint FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE indrelid = %s::regclass AND relname LIKE '%%\\_vector%%'
"""
_EDIT = """/* sourcebook: benchmark */
WITH one AS (
    SELECT id, sha256(content_hash || %(turn)s::text::bytea) AS hash FROM document
    WHERE collection = %(collection)s ORDER BY id OFFSET %(place)s LIMIT 1
), edited AS (
    UPDATE document SET content_hash = one.hash, version = version + 1 FROM one WHERE document.id = one.id
), prepared AS (
    UPDATE indexed_document SET input_hash = one.hash FROM one
    WHERE generation_id = %(generation)s AND document_id = one.id
), cut AS (
    INSERT INTO chunk (generation_id, document_id, ordinal, text, context, heading_path, start_char, end_char,
                       token_count, hash, embedding_hash)
    SELECT generation_id, document_id, ordinal, text || %(word)s, context, heading_path, 0, end_char, token_count,
           sha256((text || %(word)s)::bytea), sha256((text || %(word)s)::bytea)
    FROM chunk JOIN one ON document_id = one.id WHERE generation_id = %(generation)s
    RETURNING embedding_hash, ordinal
)
INSERT INTO embedding (model, text_hash, vector)
SELECT %(model)s, cut.embedding_hash, old.vector
FROM cut JOIN one ON true JOIN chunk ON chunk.document_id = one.id AND chunk.ordinal = cut.ordinal
JOIN search_entry old ON old.generation_id = %(generation)s AND old.chunk_id = chunk.id
ON CONFLICT DO NOTHING
"""

_PLACES = """
SELECT id, (dense_rank() OVER (ORDER BY document_id) - 1) * %(passages)s + ordinal FROM chunk
"""


@dataclass
class _Measured:
    """Measures of one size, for the plot and for comparisons."""

    passages: int
    p95: float = 0.0
    publishing: float = 0.0
    upkeep: float = 0.0
    memory: float = 0.0


def run(bench: Bench) -> list[Row]:
    """Measure each size in a base of its own, one after the other."""
    rows: list[Row] = []
    measured: list[_Measured] = []
    for passages in bench.options.sizes or _SIZES:
        kept = kept_library(bench, passages)
        try:
            of_size = _Measured(passages)
            rows += _measure(bench, kept, of_size, has_bars=passages == max(bench.options.sizes or _SIZES))
            measured.append(of_size)
        finally:
            kept.library.stop()
    first, last = measured[0], measured[-1]
    if last is not first:
        name = f"publishing a document among {last.passages:,} passages, against {first.passages:,}"
        rows.append(Row(name, last.publishing / first.publishing, "×", 1.5))
    if bench.options.diagram is not None:
        curves = [
            Curve("hybrid search, p95", "ms", [(each.passages, each.p95) for each in measured]),
            Curve("publishing a document", "ms", [(each.passages, each.publishing * 1000) for each in measured]),
            Curve("entering 550 passages", "s", [(each.passages, each.upkeep) for each in measured]),
            Curve("memory of the server", "MB", [(each.passages, each.memory / 1e6) for each in measured]),
        ]
        bench.options.diagram.write_text(growth_plot(curves), encoding="utf-8")
    return rows


def _measure(bench: Bench, kept: KeptLibrary, of_size: _Measured, *, has_bars: bool) -> Iterator[Row]:
    size = f"{kept.passages:,} passages"
    asked = asked_questions(bench)[:_QUESTIONS]
    vectors = kept.questions[np.arange(len(asked)) % len(kept.questions)]
    with kept.library.knowledge(KnownQueries(asked, vectors)) as knowledge:
        for mode, bar in (("vector", None), ("keyword", None), ("hybrid", 90.0)):
            latency = ask_each(lambda text, mode=mode: knowledge.search(text, mode=mode, literal=True), asked)  # type: ignore[misc]
            say(f"  {size}, {mode}: {latency}")
            name, note = f"{mode} search over {size}, p95", f"p50 {latency.p50:.1f} ms"
            yield Row(name, latency.p95, "ms", bar if has_bars else None, note)
        of_size.p95 = latency.p95
        of_size.memory = server_memory(kept.library.home / "postgres")
        yield Row(f"memory of the server after {len(asked) * 3} searches, {size}", of_size.memory, "bytes")
        with knowledge.database.connection() as connection:
            generation = active_generation(connection, COLLECTION)
            assert generation is not None
            layout = present_layout(connection, generation)
            yield _recall(connection, kept, f"recall@10 of exact, {size}", has_bar=True)
            yield _keyword_row(connection, asked, size)
            yield Row(f"HNSW, {size}", _graph_bytes(connection, generation), "bytes", note=str(layout))
            if bench.options.full:
                yield from _by_bits(connection, kept, generation, size)
            yield from _publishing(connection, kept, generation, of_size)
    yield Row(f"disk of the base, write-ahead log included, {size}", bytes_of(kept.library.home), "bytes")
    for step, seconds in kept.seconds.items():
        yield Row(f"{step}, {size}", seconds, "s")
    yield Row(f"peak memory of building, {size}", kept.build_memory, "bytes", note=kept.source)


def _recall(connection: Connection, kept: KeptLibrary, name: str, *, has_bar: bool) -> Row:
    """Compare with an exact scan by numpy."""
    generations = find_scope(connection, [COLLECTION]).generations
    numbers = _numbers(connection)
    questions = kept.questions.astype(np.float16).astype(np.float32)
    best: list[list[tuple[float, int]]] = [[] for _ in questions]
    for first in range(0, kept.passages, 50_000):
        near = questions @ kept.vectors[first : first + 50_000].astype(np.float32).T
        for held, row in zip(best, near, strict=True):
            some = np.argpartition(-row, 10)[:10]
            held.extend((float(row[place]), first + int(place)) for place in some)
    shares, times = [], []
    server = psutil.Process(connection.info.backend_pid)
    before = server.cpu_times()
    for vector, held in zip(questions, best, strict=True):
        exact = {place for _, place in sorted(held, reverse=True)[:10]}
        started = time.perf_counter()
        hits = nearest(connection, generations, vector, _DEPTH).hits[:10]
        times.append((time.perf_counter() - started) * 1000)
        shares.append(len({numbers[chunk] for chunk, _ in hits} & exact) / 10)
    after = server.cpu_times()
    used = (after.user + after.system - before.user - before.system) / len(shares) * 1000
    note = (
        f"{len(shares)} questions, p50 {np.percentile(times, 50):.1f}, p95 {np.percentile(times, 95):.1f} ms, "
        f"{used:.1f} ms of a processor"
    )
    say(f"  {name}: {np.mean(shares):.4f}, {note}")
    return Row(name, float(np.mean(shares)), "%", 0.95 if has_bar else None, note, at_least=True)


def _numbers(connection: Connection) -> dict[int, int]:
    """Return the place of each passage among the vectors, by its id.

    Documents keep their ids, while an edited one has chunks with new ids at the same places and with the same vectors.
    """
    return dict(connection.execute(_PLACES, {"passages": PASSAGES_OF_A_DOCUMENT}).fetchall())


def _keyword_row(connection: Connection, asked: list[str], size: str) -> Row:
    scope = find_scope(connection, [COLLECTION])
    (generation,) = scope.generations
    same = []
    for question in asked[:: max(len(asked) // _ORACLE, 1)][:_ORACLE]:
        terms = query_terms(connection, scope, question)
        oracle = every_entry_scored(connection, generation.id, terms, _DEPTH)
        same.append(keyword_ranking(connection, scope, terms, _DEPTH) == oracle)
    name = f"keyword leg, top {_DEPTH} that of all scored, {size}"
    return Row(name, float(np.mean(same)), "%", 1.0, f"{len(same)} questions", at_least=True)


def _by_bits(connection: Connection, kept: KeptLibrary, generation: Generation, size: str) -> Iterator[Row]:
    """Build graphs of bits in place, measure, and build the former ones again."""
    for rules, shown in (({"quantization": "binary"}, True), ({}, False)):
        settings = {"rules": Jsonb(rules), "name": COLLECTION}
        connection.execute(
            "/* sourcebook: benchmark */ UPDATE collection "
            "SET settings = settings || jsonb_build_object('generations', %(rules)s) WHERE name = %(name)s",
            settings,
        )
        started = time.perf_counter()
        settle_graphs(connection, generation, kept.passages)
        seconds = time.perf_counter() - started
        if shown:
            yield Row(f"building HNSW of bits, {size}", seconds, "s")
            yield Row(f"HNSW of bits, {size}", _graph_bytes(connection, generation), "bytes")
            yield _recall(connection, kept, f"recall@10 of bits with exact order, {size}", has_bar=False)
        else:
            yield Row(f"building HNSW of vectors again, in place, {size}", seconds, "s")


def _graph_bytes(connection: Connection, generation: Generation) -> float:
    row = connection.execute(_HNSW, [f"search_entry_{generation.id}"]).fetchone()
    return float(row[0] or 0) if row else 0.0


def _publishing(connection: Connection, kept: KeptLibrary, generation: Generation, of_size: _Measured) -> Iterator[Row]:
    """Publish edited documents one by one, and then let the upkeep enter them in the graph."""
    random, seconds = Random(time.time_ns()), []
    maintain_index(connection, generation)  # so that the passages outside the graph are those of this run
    documents = kept.passages // PASSAGES_OF_A_DOCUMENT
    for turn in range(_PUBLISHED):
        word = f" {hashlib.sha256(random.randbytes(8)).hexdigest()[:8]}"
        scope = {"collection": COLLECTION, "generation": generation.id, "model": generation.model}
        place = random.randrange(documents)
        connection.execute(_EDIT, {**scope, "turn": turn, "place": place, "word": word})
        report = publish(connection, generation)
        assert report.added == PASSAGES_OF_A_DOCUMENT, report
        seconds.append(report.seconds)
    of_size.publishing = middle(seconds[_PUBLISHED // 3 :])
    report = maintain_index(connection, generation)
    if kept.passages >= 5_000:
        assert report.extra.get("entered", 0) >= MOST_OUTSIDE, report
    of_size.upkeep = report.seconds
    size = f"{kept.passages:,} passages"
    yield Row(f"publishing a document, {size}", of_size.publishing * 1000, "ms")
    yield Row(
        f"upkeep that enters {_PUBLISHED * PASSAGES_OF_A_DOCUMENT} passages in the graph, {size}", report.seconds, "s"
    )

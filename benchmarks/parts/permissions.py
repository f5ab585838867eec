"""Permissions: worlds against an oracle, a probe of one bit, searches of principals, other groups."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection

from benchmarks.corpora.large_library import LargeLibrary, large_library
from benchmarks.corpora.permitted_documents import give_permissions, write_documents
from benchmarks.corpora.text_collection import CHUNKS_OF_A_DOCUMENT, TextShelf
from benchmarks.harness.bench import Bench
from benchmarks.harness.latency import Latency
from benchmarks.harness.report import Row, say
from benchmarks.parts.search_large import KnownQueries
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.embedding.model import find_model
from sourcebook.embedding.process import EmbeddingProcess
from sourcebook.embedding.weights import BUNDLED_NAME
from sourcebook.knowledge_base import KnowledgeBase, SeenKnowledge
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.search.ranking.filter_conditions import condition_of
from sourcebook.search.ranking.vector_leg import nearest
from tests.integration.http_server import serving
from tests.integration.stages import Stages
from tests.permissions.probe import Probe, without_waiting
from tests.permissions.timing import tell_times
from tests.permissions.worlds import FACES, Worlds

_NAMED = 3
"""Documents of each kind, seen, removed and hidden, that a caller names in a world: 2,000 worlds take half the time."""
_WORLDS_A_TRIAL = 4
"""Worlds for which the probe hides one document."""
_TRIALS = 2_000
_LEAST_PROBABILITY = 0.001
"""One of eight pairs is as improbable by chance in one run of 125."""
_GROUPS = 100
"""Groups of the large library; each is of one document in a hundred."""
_PRINCIPALS = 20
_DEPTH = 100
_ROUNDS = 3
_BARS = {"1 %": 1.3, "50 %": 1.15}
_DOCUMENTS = 50_000
"""Documents that get other groups."""
_COMPLETE = """
WITH complete AS (
    UPDATE generation SET prepared_with = '' WHERE id = %(generation)s RETURNING id, collection
)
INSERT INTO indexed_document (generation_id, document_id, input_hash, config_hash, chunk_count, published_hash,
                              published_config, published_version, published_title, published_at, published_chunks)
SELECT complete.id, document.id, '', '', %(chunks)s, '', '', 1, uri, now(), %(chunks)s
FROM complete JOIN document USING (collection)
"""
"""Let a collection be completely ingested, so that results have their passages."""


def run(bench: Bench) -> list[Row]:
    """Compare what is seen, then measure what that costs."""
    return [*_seen(bench), *_times(bench), *_searches(bench)]


def _seen(bench: Bench) -> Iterator[Row]:
    with _stages(bench, "worlds") as stages, serving(stages.knowledge, requires_key=True) as anyone:
        found = Worlds(stages, bench.options.seed, anyone.port, _NAMED).run(bench.options.worlds)
    for example in found.examples:
        say(f"  {example}")
    note = f"{found.worlds:,} worlds, {found.answers:,} answers by {', '.join(FACES)}"
    yield Row("documents seen without right", found.without_right, "documents", 0, note)
    yield Row("documents missing with right", found.missing, "documents", 0)
    yield Row("counts of audiences that a recount refutes", found.wrong_counts, "counts", 0)
    limits = without_waiting()
    with _stages(bench, "probe") as stages, serving(stages.knowledge, requires_key=True, limits=limits) as anyone:
        probe = Probe(stages, bench.options.seed, anyone.port)
        told = probe.run(max(bench.options.worlds // _WORLDS_A_TRIAL, 1))
    for example in told[:5]:
        say(f"  {example}")
    yield Row("answers that tell of a hidden document", len(told), "answers", 0, f"{probe.asked:,} compared")


def _times(bench: Bench) -> Iterator[Row]:
    with _stages(bench, "times") as stages, serving(stages.knowledge, requires_key=True) as anyone:
        for name, share, probability in tell_times(stages, anyone.port, _TRIALS, bench.options.seed):
            note = f"{_TRIALS:,} trials; {share:.1%} of them longer than without"
            bar = None if name.startswith("none") else _LEAST_PROBABILITY
            yield Row(f"time tells of a hidden document, {name}: by chance", probability, "%", bar, note, at_least=True)


@contextmanager
def _stages(bench: Bench, name: str) -> Iterator[Stages]:
    folder = bench.folder / name
    root = folder / "docs"
    root.mkdir(parents=True)
    moments = count(1_700_000_000)

    def settle(path: Path) -> None:
        moment = next(moments)
        os.utime(path, (moment, moment))

    with (
        Database(DatabaseLocation(folder / "home")) as database,
        ParserPool() as parsers,
        EmbeddingProcess(find_model(BUNDLED_NAME)) as embedder,
    ):
        stages = Stages(database, embedder, parsers, root, settle)  # type: ignore[arg-type] # it embeds as well
        yield stages
        stages.close()


def _searches(bench: Bench) -> Iterator[Row]:
    large = large_library(bench)
    shelf = large.shelves[-1]
    with large.library.knowledge(_NearQueries(large.questions, large.question_vectors)) as knowledge:
        with knowledge.database.connection() as connection:
            connection.execute(_COMPLETE, {"generation": shelf.generation.id, "chunks": CHUNKS_OF_A_DOCUMENT})
            give_permissions(connection, shelf.name, _rules(""))
            connection.execute("VACUUM ANALYZE")
        seen: dict[str, KnowledgeBase | SeenKnowledge] = {
            "none": knowledge,
            **{share: knowledge.seen_by(_viewer(share)) for share in _BARS},
        }
        asked = _in_turns({name: _asking(each, shelf) for name, each in seen.items()}, large.questions)
        whole = asked["none"]
        for share, bar in _BARS.items():
            yield _ratio(shelf, share, asked[share], whole, bar)
            yield _recall(large, shelf, share, knowledge.seen_by(_viewer(share)))
        with knowledge.database.connection() as connection:
            yield from _changes(connection, shelf)


def _changes(connection: Connection, shelf: TextShelf) -> Iterator[Row]:
    """Let many documents get groups, others, and such that split those who saw the same."""
    many = "many documents"
    say(f"  publishing {_DOCUMENTS:,} documents …")
    write_documents(connection, many, _DOCUMENTS, shelf)
    before = _vectors(connection)
    first = give_permissions(connection, many, _rules(""))
    yield Row(f"{_DOCUMENTS:,} documents get groups for the first time", first, "s")
    yield Row(
        f"{_DOCUMENTS:,} documents get other groups", give_permissions(connection, many, _rules("team")), "s", 30.0
    )
    split = give_permissions(connection, many, _rules_that_split("team"))
    yield Row(f"{_DOCUMENTS // 5:,} of them get others than those they were with", split, "s")
    yield Row("texts embedded for that", _vectors(connection) - before, "texts", 0)


class _NearQueries(KnownQueries):
    """Vectors of the questions; for one that a search writes otherwise that of the one spelt alike."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        if text not in self._vectors:
            (text,) = get_close_matches(text, self._vectors, n=1, cutoff=0)
        return super().embed_query(text)


def _ratio(shelf: TextShelf, share: str, seen: Latency, whole: Latency, bar: float) -> Row:
    """Return the latency of a caller's searches against that of searches without permissions, in the same run."""
    note = f"{seen.p95:.1f} ms beside {whole.p95:.1f} ms without permissions; p50 {seen.p50 / whole.p50:.2f} ×"
    measure = f"hybrid search, {share} of {shelf.entries:,} passages visible, p95"
    return Row(measure, seen.p95 / whole.p95, "×", bar, note)


def _viewer(share: str) -> list[str]:
    """Return the principals of a caller who sees a share of the documents."""
    own = "group:7" if share == "1 %" else "group:half"
    return [own, "user:anna@example.org", *(f"group:elsewhere {number}" for number in range(_PRINCIPALS - 2))]


def _rules(team: str) -> dict[str, list[str]]:
    """Allow each document to the group of the last two digits of its name; half of them to another one as well."""
    return {
        f"{number:02}[.]md$": [f"group:{team}{number}", *(["group:half"] if number < _GROUPS // 2 else [])]
        for number in range(_GROUPS)
    }


def _rules_that_split(team: str) -> dict[str, list[str]]:
    """Give a fifth of the documents of each group another one, and the rest what they had."""
    return {**{f"[05]{number:02}[.]md$": [f"group:split {number}"] for number in range(_GROUPS)}, **_rules(team)}


def _asking(knowledge: KnowledgeBase | SeenKnowledge, shelf: TextShelf) -> Callable[[str], object]:
    return lambda question: knowledge.search(question, shelf.name, literal=True)


def _in_turns(asking: Mapping[str, Callable[[str], object]], questions: Sequence[str]) -> dict[str, Latency]:
    """Ask every question in each way, one way after the other, some rounds; the first round is a warm-up."""
    times: dict[str, list[float]] = {name: [] for name in asking}
    for turn in range(_ROUNDS + 1):
        for place, question in enumerate(questions):
            names = [*asking]
            shift = (turn + place) % len(names)
            for name in names[shift:] + names[:shift]:
                started = time.perf_counter()
                asking[name](question)
                if turn:
                    times[name].append((time.perf_counter() - started) * 1000)
    return {name: Latency(each) for name, each in times.items()}


def _recall(large: LargeLibrary, shelf: TextShelf, share: str, seen: SeenKnowledge) -> Row:
    """Compare the vector leg with a scan of what is visible."""
    documents = np.arange(shelf.entries) // CHUNKS_OF_A_DOCUMENT % _GROUPS
    visible = np.flatnonzero(documents == 7 if share == "1 %" else documents < _GROUPS // 2)
    exact = large.question_vectors @ large.vectors[visible].T
    shares = []
    with seen.database.connection() as connection:
        scope = shelf.scope(connection)
        condition = condition_of(None, scope)
        for vector, similarities in zip(large.question_vectors, exact, strict=True):
            found = nearest(connection, scope.generations, vector, _DEPTH, condition).hits[:10]
            best = {*visible[np.argpartition(-similarities, 10)[:10]].tolist()}
            shares.append(len({chunk - shelf.first_chunk for chunk, _ in found} & best) / 10)
    note = f"{len(shares)} questions, {large.source}"
    return Row(f"recall@10 of the visible {share}", float(np.mean(shares)), "%", 0.97, note, at_least=True)


def _vectors(connection: Connection) -> int:
    (held,) = connection.execute("SELECT count(*) FROM embedding").fetchone() or (0,)
    return int(held)

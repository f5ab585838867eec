"""Connections of a search: at most three check-outs, two legs at the same time, and no search that waits for ever."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from psycopg import Cursor

from sourcebook.contract.fusion import Fusion
from sourcebook.contract.reranking import Reranking
from sourcebook.contract.search import SearchRequest
from sourcebook.contract.search_results import SearchResults
from sourcebook.database.database import Database
from sourcebook.embedding.embedder import QueryEmbedder
from sourcebook.errors import ModelError
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.ranking.reranking.reranker import PairScores, Reranker
from sourcebook.search.ranking.state import SearchResources
from sourcebook.search.run import run_search
from sourcebook.search.scope import ScopedGeneration
from tests.integration.published_passages import publish_passages, unit_vectors
from tests.integration.stages import Stages
from tests.tiny_cross_encoder import build_cross_encoder

WORDS = ("tide", "moon", "boat", "harbour", "noon", "sea", "wind")


class OneVector:
    """Embeds every query as one vector, after a callback."""

    def __init__(self, before: Callable[[], object] = lambda: None) -> None:
        self.before = before

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.before()
        vector: NDArray[np.float32] = unit_vectors(1, seed=99)[0]
        return vector

    def close(self) -> None:
        """Do nothing."""


def fill(stages: Stages) -> None:
    """Ten documents of thirty passages each."""
    random = np.random.default_rng(5)
    stages.configure()
    publish_passages(stages, [[" ".join(random.choice(WORDS, size=5)) for _ in range(30)] for _ in range(10)])


@pytest.fixture
def resources(filled: Stages) -> Iterator[SearchResources]:
    reranker = Reranker()
    with ThreadPoolExecutor(16) as executor:
        yield SearchResources(filled.database.pool, executor, QueryVectors(Path(), OneVector()), reranker)
    reranker.close()


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Reranking:
    """A reranking model with random weights."""
    folder = tmp_path_factory.mktemp("models") / "cross-encoder"
    return Reranking(str(build_cross_encoder(folder, WORDS)), top=20, timeout=None)


def search(resources: SearchResources, **options: Any) -> SearchResults:
    return run_search(resources, SearchRequest.checked("tide moon", **options))


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({}, 2),
        ({"mode": "vector"}, 1),
        ({"mode": "keyword"}, 1),
        ({"group_by": "document"}, 2),
        ({"diversity": 0.5}, 2),
        ({"explain": True}, 2),
        ({"neighbours": 2, "filters": {"kind": "file"}}, 2),
        ({"limit": 200, "fusion": Fusion(depth=10)}, 2),
        ({"rerank": True}, 3),
        ({"rerank": True, "group_by": "document", "diversity": 0.5, "neighbours": 1, "explain": True}, 3),
        ({"rerank": True, "group_by": "document", "limit": 10, "fusion": Fusion(depth=10)}, 3),
    ],
    ids=str,
)
def test_a_search_checks_out_at_most_three_connections(
    resources: SearchResources, cross_encoder: Reranking, options: dict[str, Any], most: int
) -> None:
    """Plain, grouped, diverse, explained, deep and reranked; one for each leg, and one more after reranking."""
    if options.get("rerank"):
        options = {**options, "rerank": cross_encoder}
    before = resources.connections.check_outs
    results = search(resources, **options)
    assert len(results) > 0
    assert resources.connections.check_outs - before <= most


def test_parts_of_a_query_take_no_further_connection(resources: SearchResources) -> None:
    before = resources.connections.check_outs
    request = SearchRequest.checked("Where is the tide? Where is the harbour?", strategy="auto", explain=True)
    results = run_search(resources, request)
    assert results.explanation is not None
    assert (results.explanation.strategy or "").startswith("several parts: 2 questions")
    assert resources.connections.check_outs - before <= 2


def test_the_legs_run_at_the_same_time(resources: SearchResources) -> None:
    """The keyword leg ends while the vector leg still embeds the query."""
    ended = Event()

    class Telling(ThreadPoolExecutor):
        def submit(self, *args: Any, **options: Any) -> Future[Any]:
            future = super().submit(*args, **options)
            future.add_done_callback(lambda _: ended.set())
            return future

    with Telling(1) as executor:
        vectors = QueryVectors(Path(), OneVector(lambda: ended.wait(60)))
        results = search(replace(resources, executor=executor, vectors=vectors))
    assert ended.is_set()
    assert results.dropped_legs == {}


@pytest.mark.parametrize("connections", [1, 2])
def test_many_threads_share_few_connections(
    filled: Stages, resources: SearchResources, cross_encoder: Reranking, connections: int
) -> None:
    """Sixteen threads on two connections, or one: every search ends with the results that it has alone."""
    kinds: list[dict[str, Any]] = [
        {},
        {"group_by": "document", "explain": True},
        {"rerank": cross_encoder, "diversity": 0.5},
        {"mode": "keyword", "neighbours": 1},
    ]
    wanted = [search(resources, **options).results for options in kinds]
    with Database(filled.database.location, max_connections=connections) as narrow:
        few = replace(resources, connections=narrow.pool)
        with ThreadPoolExecutor(16) as threads:
            found = list(threads.map(lambda number: search(few, **kinds[number % len(kinds)]).results, range(64)))
        assert narrow.pool.lent == 0
    assert found == wanted * 16


def test_no_connection_is_held_while_a_model_reranks(
    filled: Stages, resources: SearchResources, cross_encoder: Reranking
) -> None:
    """Another search on the only connection ends in the meantime."""
    with Database(filled.database.location, max_connections=1) as narrow:

        class Searching(Reranker):
            def score(
                self, reranking: Reranking, query: str, passages: Sequence[str], collection: str = ""
            ) -> PairScores:
                assert len(search(few, mode="keyword")) > 0
                return super().score(reranking, query, passages, collection)

        few = replace(resources, connections=narrow.pool, reranker=Searching())
        assert search(few, rerank=cross_encoder)[0].rerank_score is not None
        few.reranker.close()


def test_no_connection_is_held_while_an_embedding_model_loads(
    filled: Stages, resources: SearchResources, cross_encoder: Reranking
) -> None:
    """Another search on the only connection ends in the meantime; the one that loads checks out three at most."""
    wanted = search(resources, rerank=cross_encoder).results
    with Database(filled.database.location, max_connections=1) as narrow:

        class Loading(QueryVectors):
            loaded = False

            def is_open(self, generation: ScopedGeneration) -> bool:
                return self.loaded

            def open(self, generation: ScopedGeneration) -> tuple[QueryEmbedder, str | None]:
                if not self.loaded:
                    self.loaded = True
                    assert len(search(replace(resources, connections=narrow.pool), mode="keyword")) > 0
                return super().open(generation)

        vectors = Loading(Path(), OneVector())
        few = replace(resources, connections=narrow.pool, vectors=vectors)
        before = narrow.pool.check_outs
        assert search(few, rerank=cross_encoder).results == wanted
        assert vectors.loaded
        assert narrow.pool.check_outs - before == 1 + 3


def test_a_leg_that_fails_gives_every_connection_back(resources: SearchResources) -> None:
    """The keyword leg is waited for first: its connection is in use until then."""

    def fail() -> None:
        raise ModelError("the model is gone")

    failing = replace(resources, vectors=QueryVectors(Path(), OneVector(fail)))
    for _ in range(20):
        with pytest.raises(ModelError, match="the model is gone"):
            search(failing)
    assert resources.connections.lent == 0
    assert len(search(resources)) > 0


def test_a_search_sends_few_statements(resources: SearchResources, monkeypatch: pytest.MonkeyPatch) -> None:
    """A millisecond or two goes with each: what few collections have is asked for where there is some."""
    sent: list[object] = []
    execute = Cursor.execute

    def noted(cursor: Any, statement: Any, *values: Any, **options: Any) -> Any:
        sent.append(statement)
        return execute(cursor, statement, *values, **options)

    search(resources)
    monkeypatch.setattr(Cursor, "execute", noted)
    search(resources)
    assert len(sent) <= 11, sent

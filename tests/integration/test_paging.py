"""Pages of whole searches: every page together is the one long page, whatever orders it and however deep it looks."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from psycopg import sql

from sourcebook.contract.fusion import Fusion
from sourcebook.contract.reranking import Reranking
from sourcebook.contract.search import SearchRequest
from sourcebook.contract.search_results import SearchResult, SearchResults
from sourcebook.model.generation import Generation
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.ranking.diversity import read_vectors
from sourcebook.search.ranking.reranking.reranker import Reranker
from sourcebook.search.ranking.state import SearchResources
from sourcebook.search.run import run_search
from tests.integration.published_passages import DIMENSIONS, publish_passages, unit_vectors
from tests.integration.stages import Stages
from tests.tiny_cross_encoder import build_cross_encoder

WORDS = ("tide", "moon", "boat", "harbour", "noon", "sea", "wind")


class OneVector:
    """Any question is this vector."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = unit_vectors(1, seed=99)[0]
        return vector

    def close(self) -> None:
        """Nothing to give back."""


def fill(stages: Stages) -> None:
    """Two collections of different models, one so large that a search that looks a little walks its HNSW index."""
    random = np.random.default_rng(5)
    stages.configure("collections:\n  large:\n    files: [{root: ./docs}]\n  small:\n    files: [{root: ./docs}]\n")
    for collection, documents in (("large", 20), ("small", 4)):
        generation = publish_passages(
            stages,
            [
                [" ".join([*random.choice(WORDS, size=5), str(ordinal)]) for ordinal in range(length)]
                for length in random.integers(1, 80, size=documents)
            ],
            collection,
            model=f"model of {collection}",
        )
        if collection == "large":
            index(stages, generation)
    with stages.connection() as connection:
        connection.execute("ANALYZE")


@pytest.fixture
def means(filled: Stages) -> Iterator[SearchResources]:
    reranker = Reranker()
    with ThreadPoolExecutor(2) as executor:
        yield SearchResources(filled.database.pool, executor, QueryVectors(Path(), OneVector()), reranker)
    reranker.close()


def index(stages: Stages, generation: Generation) -> None:
    """Build an HNSW index poor enough to miss something."""
    with stages.connection() as connection:
        connection.execute(
            sql.SQL("CREATE INDEX {} ON {} USING hnsw ((vector::halfvec({})) halfvec_ip_ops) WITH (m = 4)").format(
                sql.Identifier(f"search_entry_{generation.id}_vector"),
                generation.partition,
                sql.Literal(DIMENSIONS),
            )
        )


def search(means: SearchResources, offset: int, limit: int, mode: str, **options: Any) -> SearchResults:
    options = {"fusion": Fusion(depth=10), **options}
    return run_search(means, SearchRequest.of(query="tide moon", limit=limit, mode=mode, offset=offset, **options))


def assert_pages(means: SearchResources, mode: str, size: int, **options: Any) -> None:
    """Assert that pages of a size together are the beginning of the long page, to the last field."""
    whole = search(means, 0, 100, mode, **options)
    pages: list[SearchResult] = []
    offset: int | None = 0
    while offset is not None and len(pages) < len(whole):
        page = search(means, offset, size, mode, **options)
        assert page.offset == offset
        pages += page.results
        offset = page.next_offset
    assert pages[: len(whole)] == list(whole)
    assert (offset is None) == (whole.next_offset is None and len(pages) == len(whole))


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_pages_together_are_the_one_long_page(means: SearchResources, mode: str) -> None:
    """In every mode and order; pages look as deep as they must, through the index and past it."""
    exact = []
    for limit in (3, 100):
        explanation = search(means, 0, limit, "vector", explain=True).explanation
        assert explanation is not None
        exact.append(explanation.legs[0].exact)
    assert exact == [False, True], (
        "the vector leg walks the index where it looks a little, and scans where it looks far"
    )
    assert_pages(means, mode, 7)
    assert_pages(means, mode, 7, fusion=Fusion(method="rrf", depth=10))
    assert_pages(means, mode, 9, diversity=0.5)
    assert_pages(means, mode, 3, group_by="document")
    assert_pages(means, mode, 3, group_by="document", diversity=0.5)


def test_pages_of_a_reranked_search_are_too(means: SearchResources, tmp_path: Path) -> None:
    """The first candidates are reranked once, whichever page is asked for, more of them than the first depth brings."""
    folder = str(build_cross_encoder(tmp_path / "cross-encoder", WORDS))
    reranking = Reranking(folder, top=35, timeout=None)
    assert_pages(means, "hybrid", 8, rerank=reranking)
    assert_pages(means, "hybrid", 4, rerank=reranking, group_by="document", diversity=0.3)
    results = search(means, 0, 50, "hybrid", rerank=reranking)
    assert [result.rerank_score is not None for result in results] == [True] * 35 + [False] * 15


def test_a_page_behind_the_end_is_empty_and_says_why(means: SearchResources) -> None:
    """It is no error, and there is no next page."""
    page = search(means, 9_000, 5, "hybrid", fusion=Fusion())
    assert (len(page), page.next_offset) == (0, None)
    assert any("begins behind 9,000 passages" in note for note in page.notes)


def test_grouped_by_document_each_document_stands_once(means: SearchResources) -> None:
    """Limit and offset count documents; all of them are found although the first passages are of a few."""
    results = search(means, 0, 24, "vector", group_by="document")
    assert len({result.document_id for result in results}) == len(results) == 24
    assert (results.next_offset, results.total_candidates) == (None, 24)
    assert any(len(result.also) > 2 for result in results)
    for result in results:
        assert result.ordinal not in {other.ordinal for other in result.also}
        assert all(other.score <= result.score for other in result.also)


def test_diverse_results_are_less_alike(filled: Stages, means: SearchResources) -> None:
    """The vectors of the passages decide, as they lie in the index."""
    rows = filled.rows("SELECT id, document_id, ordinal, generation_id FROM chunk")
    ids = {(row["document_id"], row["ordinal"]): row["id"] for row in rows}
    models = {row["generation_id"]: str(row["generation_id"]) for row in rows}

    def likeness(diversity: float) -> float:
        results = search(means, 0, 4, "vector", fusion=Fusion(depth=100), diversity=diversity)
        with filled.connection() as connection:
            found = read_vectors(connection, models, [ids[result.document_id, result.ordinal] for result in results])
        return sum(
            float(one.vector @ other.vector)
            for one in found.values()
            for other in found.values()
            if one is not other and one.model == other.model
        )

    assert likeness(0.8) < likeness(0.0)


def test_with_neighbours_each_hit_is_shown_once_over_all_pages(means: SearchResources) -> None:
    """Hits that are shown together on one page are no less found: none is repeated on a later page, none skipped."""
    alone = search(means, 0, 60, "hybrid")
    shown: list[tuple[int, int]] = []
    for offset in range(0, 60, 10):
        page = search(means, offset, 10, "hybrid", neighbours=2)
        for result in page:
            shown += [(result.document_id, part.ordinal) for part in result.parts if part.is_hit]
            assert replace(result, parts=()) in list(alone)
    assert sorted(shown) == sorted((result.document_id, result.ordinal) for result in alone)

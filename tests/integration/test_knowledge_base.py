"""The Python face on a real database, with the real model."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from sourcebook import KnowledgeBase
from sourcebook.errors import DatabaseError, QueryError
from tests.integration.stages import Stages

TIDES = """# Tide gauge

## Batteries

The station runs on its batteries for thirty hours when the mains fail.

## Winter

Ice on the stilling well is broken with a wooden pole, never with salt.
"""


@pytest.fixture
def filled(stages: Stages) -> Stages:
    stages.write("tides.md", TIDES)
    stages.write("cooking.md", "# Bread\n\nFlour, water and salt; bake for forty minutes until the crust is brown.\n")
    stages.configure()
    stages.run()
    return stages


def test_nothing_is_made_where_no_knowledge_base_is(tmp_path: Path) -> None:
    """Opening a knowledge base that does not exist says so and leaves no folder behind."""
    with pytest.raises(DatabaseError, match="run  sourcebook ingest  first"):
        KnowledgeBase.connect(home=tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_a_question_in_other_words_finds_its_passage(filled: Stages) -> None:
    """Both legs answer, the fused result carries what a reader needs, and nobody can change it."""
    hits = filled.search("How long does it last without electricity?", mode="hybrid")
    best = hits[0]
    assert "thirty hours" in best.text
    assert best.heading_path == ("Tide gauge",), "small sections share a passage, under the heading they share"
    assert (best.anchor, best.ordinal, best.version, best.vector_rank) == ("tide-gauge", 0, 1, 1)
    assert best.text in TIDES
    assert hits.took_ms > 0
    with pytest.raises(FrozenInstanceError):
        best.score = 1.0  # type: ignore[misc]


def test_a_leg_with_nothing_to_say_drops_out(filled: Stages) -> None:
    """A query of stop words is answered by meaning alone, and the result says so."""
    hits = filled.search("of the and", mode="hybrid")
    assert hits.dropped_legs == {"keyword": "the query has no word to look for beside stop words"}
    assert all(hit.keyword_rank is None for hit in hits)
    assert len(hits) > 0


def test_both_legs_count(filled: Stages) -> None:
    """A passage that both legs find first is first, with the sum of both reciprocal ranks."""
    best = filled.search("wooden pole for ice", mode="hybrid")[0]
    assert (best.vector_rank, best.keyword_rank) == (1, 1)
    assert best.score == pytest.approx(2 / 61)


@pytest.mark.parametrize(
    "query",
    [
        "it's",
        "'; DROP TABLE chunk; --",
        'odd " quote',
        "a & b | !c <-> (d",
        "\\",
        "%s %(x)s {0}",
        "\0 tide",
        "🙂",
        "a:*",
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_a_query_is_only_ever_data(filled: Stages, query: str, mode: str) -> None:
    """Quotes, operators and placeholders are words or nothing; the tables are still there afterwards."""
    filled.search(query, mode=mode)
    assert filled.found("batteries") == {"tides.md"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"query": " \0 "}, "the query is empty"),
        ({"query": "a" * 100_000}, "at most 10,000"),
        ({"query": "tide", "limit": 0}, "the limit is 0"),
        ({"query": "tide", "limit": 1_000_000}, "the limit is 1000000"),
        ({"query": "tide", "mode": "telepathy"}, "'telepathy'"),
        ({"query": "tide", "collections": []}, "the list of collections is empty"),
        ({"query": "tide", "collections": "nothing"}, "no collection 'nothing'; there is handbook"),
    ],
)
def test_a_request_without_sense_is_refused_clearly(filled: Stages, options: dict[str, object], message: str) -> None:
    """What is wrong is said, with what is allowed."""
    with pytest.raises(QueryError, match=message):
        filled.search(**options)  # type: ignore[arg-type]


def test_threads_share_one_knowledge_base(filled: Stages) -> None:
    """Searches from many threads at once give what one gives."""
    wanted = [hit.text for hit in filled.search("salt")]
    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(lambda _: [hit.text for hit in filled.search("salt")], range(48)))
    assert found == [wanted] * 48


def test_a_collection_that_was_never_ingested_is_empty(stages: Stages) -> None:
    """A search over a collection without a generation finds nothing and does not fail."""
    stages.configure()
    assert len(stages.search("tide", collections="handbook")) == 0

"""The Python interface on a real database, with the real model."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sourcebook import KnowledgeBase
from sourcebook.contract.search_results import SearchResults
from sourcebook.database.database import Database
from sourcebook.errors import DatabaseError, QueryError
from tests.integration.hostile_queries import HOSTILE
from tests.integration.stages import Stages

TIDES = """# Tide gauge

## Batteries

The station runs on its batteries for thirty hours when the mains fail.

## Winter

Ice on the stilling well is broken with a wooden pole, never with salt.
"""
BREAD = "# Bread\n\nFlour, water and salt; bake for forty minutes until the crust is brown.\n"
MODES = ("hybrid", "vector", "keyword")


@pytest.fixture(scope="module")
def filled(shared_stages: Stages) -> Stages:
    """Two documents, read by all tests and changed by none; and a collection that was applied and never ingested."""
    shared_stages.write("tides.md", TIDES)
    shared_stages.write("cooking.md", BREAD)
    shared_stages.configure(
        "collections:\n  handbook:\n    files: [{root: ./docs}]\n  planned:\n    files: [{root: ./docs}]\n"
    )
    shared_stages.run()
    return shared_stages


def names(hits: SearchResults) -> list[str]:
    return [Path(hit.uri).name for hit in hits]


def test_nothing_is_made_where_no_knowledge_base_is(tmp_path: Path) -> None:
    """Opening a knowledge base that does not exist says so and leaves no folder behind."""
    with pytest.raises(DatabaseError, match="run  sourcebook ingest  first"):
        KnowledgeBase.connect(home=tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_a_question_in_other_words_finds_its_passage(filled: Stages) -> None:
    """Both legs answer, the fused result has its places and scores, and is immutable."""
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
    """Vector search alone answers a query of stop words, or of unknown words, and the result says so."""
    for query, why in (
        ("of the and", "the query has no word to look for beside stop words"),
        ("?!", "the query has no word to look for beside stop words"),
        ("zeppelin", "no passage holds a word of the query"),
    ):
        hits = filled.search(query, mode="hybrid")
        assert hits.dropped_legs == {"keyword": why}
        assert all(hit.keyword_rank is None for hit in hits)
        assert len(hits) > 0
        alone = filled.search(query, mode="keyword")
        assert (len(alone), alone.dropped_legs) == (0, {"keyword": why})


def test_both_legs_count(filled: Stages) -> None:
    """A passage that both legs find first is first: with the sum of both weights, or of both reciprocal ranks."""
    best = filled.search("wooden pole for ice", mode="hybrid")[0]
    assert (best.vector_rank, best.keyword_rank) == (1, 1)
    assert best.score == pytest.approx(2)
    assert filled.search("wooden pole for ice", fusion="rrf")[0].score == pytest.approx(2 / 61)
    assert best.vector_score is not None
    assert 0.2 < best.vector_score <= 1
    assert best.keyword_score is not None
    assert best.keyword_score > 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('salt "wooden pole"', {"tides.md"}),
        ('salt "WOODEN, poles"', {"tides.md"}),
        ('salt "pole wooden"', set()),
        ('"broken with a wooden pole"', {"tides.md"}),
        ('"broken a with wooden pole"', {"tides.md"}),  # stop words are gaps of one word each
        ('"broken wooden pole"', set()),
        ("salt -flour", {"tides.md"}),
        ("salt -flours", {"tides.md"}),
        ('salt -"wooden pole"', {"cooking.md"}),
        ('salt -"pole wooden"', {"tides.md", "cooking.md"}),
        ("salt title:bread", {"cooking.md"}),
        ('salt title:"tide gauge"', {"tides.md"}),
        ('salt title:"gauge tide"', set()),
        ("salt title:flour", set()),
        ("salt -title:bread", {"tides.md"}),
        ('salt -title:"tide gauge"', {"cooking.md"}),
        ("salt -ice -crust", set()),
        ("salt semi-ice", {"tides.md", "cooking.md"}),
    ],
)
def test_operators_bind_every_leg(filled: Stages, query: str, expected: set[str], mode: str) -> None:
    """Required terms hold for each passage, whichever leg finds it; they are not given up where asked for by name."""
    hits = filled.search(query, mode=mode, literal=False)
    assert set(names(hits)) == expected
    if not expected:
        assert set(hits.dropped_legs) == ({"vector", "keyword"} if mode == "hybrid" else {mode})


@pytest.mark.parametrize("mode", MODES)
def test_operators_and_filters_bind_together(filled: Stages, mode: str) -> None:
    assert names(filled.search("salt -flour", mode=mode, filters={"uri_prefix": "file:"})) == ["tides.md"]
    assert names(filled.search("salt -flour", mode=mode, filters={"kind": "page"})) == []
    assert names(filled.search('"salt"', mode=mode, filters={"uri_prefix": filled.uri("cook")})) == ["cooking.md"]


@pytest.mark.parametrize("mode", MODES)
def test_taken_literally_operators_are_text(filled: Stages, mode: str) -> None:
    assert set(names(filled.search("salt -flour title:bread", mode=mode, literal=True))) == {"tides.md", "cooking.md"}


@pytest.mark.parametrize("mode", MODES)
def test_a_query_that_only_excludes_finds_nothing_and_says_why(filled: Stages, mode: str) -> None:
    hits = filled.search("-salt", mode=mode, literal=False)
    assert len(hits) == 0
    assert set(hits.dropped_legs.values()) == {"the query says only what must not be found"}


def test_a_demand_of_stop_words_is_not_made_and_that_is_said(filled: Stages) -> None:
    hits = filled.search('salt "of the" -and', collections="handbook")
    assert len(hits) == 2
    assert len(hits.notes) == 2
    assert "'of the' has no word to look for beside stop words" in hits.notes[0]


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("mode", MODES)
def test_a_query_is_only_ever_data(filled: Stages, query: str, mode: str) -> None:
    """Quotes, operators, placeholders and rubbish are words or nothing; what finds nothing is explained."""
    hits = filled.search(query, mode=mode, typos=True)
    assert len(hits) or hits.dropped_legs
    assert len(hits) <= 5


def test_the_tables_are_still_there(filled: Stages) -> None:
    assert filled.found("batteries") == {"tides.md"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"query": " \0 "}, "the query is empty"),
        ({"query": ""}, "the query is empty"),
        ({"query": b"tide"}, "the query is bytes"),
        ({"query": None}, "the query is NoneType"),
        ({"query": "a" * 100_001}, "at most 100,000"),
        ({"limit": 0}, "the limit is 0"),
        ({"limit": -1}, "the limit is -1"),
        ({"limit": 1_000_000}, "the limit is 1000000"),
        ({"limit": "5"}, "the limit is '5'"),
        ({"limit": True}, "the limit is True"),
        ({"limit": 5.0}, "the limit is 5.0"),
        ({"offset": -1}, "the offset is -1"),
        ({"offset": 10_001}, "the offset is 10001"),
        ({"neighbours": -1}, "the neighbours is -1"),
        ({"neighbours": 21}, "the neighbours is 21"),
        ({"diversity": 1.1}, "the diversity is 1.1"),
        ({"diversity": float("nan")}, "the diversity is nan"),
        ({"diversity": "much"}, "the diversity is 'much'"),
        ({"mode": "telepathy"}, "'telepathy'"),
        ({"group_by": "title"}, "group_by is 'title'"),
        ({"fusion": "nuclear"}, "the fusion is 'nuclear'"),
        ({"fusion": 5}, "the fusion is 5"),
        ({"rerank": 5}, "rerank is 5"),
        ({"typos": "no"}, "typos is 'no'"),
        ({"filters": "tag"}, "the filters are 'tag'"),
        ({"filters": {"tags": 5}}, "the filter tags is 5"),
        ({"filters": {"colour": "red"}}, "there is no filter 'colour'"),
        ({"filters": {"date": "yesterday"}}, "date"),
        ({"collections": []}, "the list of collections is empty"),
        ({"collections": 5}, "the collections are 5"),
        ({"collections": [5]}, "the collection 5"),
        ({"collections": "nothing"}, "no collection 'nothing'; there is handbook, planned"),
        ({"collections": ["handbook", "'; --", "\0"]}, "no collection ' ', \"'; --\"; there is handbook"),
    ],
)
def test_a_request_without_sense_is_refused_clearly(
    filled: Stages, options: dict[str, Any], message: str, mode: str
) -> None:
    """The error names the mistake and what is allowed."""
    with pytest.raises(QueryError) as refused:
        filled.search(**{"query": "tide", "mode": mode, **options})
    assert message in str(refused.value)


@pytest.mark.parametrize("mode", MODES)
def test_a_collection_that_was_never_ingested_is_empty(filled: Stages, mode: str) -> None:
    """A search over it finds nothing and says why; beside another one, it says that this one is missing."""
    for query in ("tide", '"tide" -gauge'):
        hits = filled.search(query, collections="planned", mode=mode)
        assert len(hits) == 0
        assert hits.notes == ("the collection planned has nothing searchable yet; run  sourcebook ingest planned",)
    hits = filled.search("tide", mode=mode)
    assert names(hits)[0] == "tides.md"
    assert hits.notes == ("the collection planned has nothing searchable yet; run  sourcebook ingest planned",)


def test_a_collection_whose_documents_are_all_gone_is_empty(stages: Stages) -> None:
    """And each leg says that there is no passage, whatever was asked."""
    file = stages.write("a.md", "The tide is high.")
    stages.configure()
    stages.run()
    file.unlink()
    stages.run()
    for query in ("tide", '"tide" -gauge', "title:tide"):
        hits = stages.search(query, explain=True)
        assert len(hits) == 0
        assert set(hits.dropped_legs) == {"vector", "keyword"}
        assert hits.dropped_legs["keyword"] == "there is no passage"


def test_threads_share_one_knowledge_base(filled: Stages) -> None:
    """Searches from many threads at once give what one gives."""
    wanted = [hit.text for hit in filled.search("salt")]
    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(lambda _: [hit.text for hit in filled.search("salt")], range(48)))
    assert found == [wanted] * 48


@pytest.mark.parametrize("connections", [1, 2])
def test_few_connections_serve_many_threads(filled: Stages, connections: int) -> None:
    """A search never holds one connection while it waits for another: none waits for ever."""
    with Database(filled.database.location, max_connections=connections) as database:
        knowledge = KnowledgeBase(database, query_embedder=filled.embedder)
        with ThreadPoolExecutor(8) as threads:
            found = list(
                threads.map(
                    lambda number: names(
                        knowledge.search("salt -flour", diversity=0.5 * (number % 2), neighbours=1, explain=True)
                    ),
                    range(32),
                )
            )
        knowledge.close()
    assert found == [["tides.md"]] * 32


def test_a_question_is_embedded_once(filled: Stages) -> None:
    """Until it is forgotten."""
    asked: list[str] = []

    class Counting:
        def embed_query(self, text: str) -> Any:
            asked.append(text)
            return filled.embedder.embed_query(text)

        def close(self) -> None:
            pass

    knowledge = KnowledgeBase(filled.database, query_embedder=Counting())
    for _ in range(3):
        knowledge.search("salt and ice", offset=0)
        knowledge.search("salt and ice -flour")
    assert asked == ["salt and ice"]
    knowledge.forget_queries()
    knowledge.search("salt and ice")
    assert asked == ["salt and ice"] * 2


def test_prewarm_takes_any_collection_that_exists(filled: Stages) -> None:
    knowledge = KnowledgeBase(filled.database, query_embedder=filled.embedder)
    knowledge.prewarm()
    knowledge.prewarm("planned")
    with pytest.raises(QueryError, match="no collection 'nothing'"):
        knowledge.prewarm(["nothing"])


def test_any_options_go_together(filled: Stages) -> None:
    """Modes, pages, groups, diversity, fusion and neighbours: the parts of the result agree."""
    for mode, offset, group_by, diversity, fusion, neighbours, query in product(
        MODES, (0, 1, 9_999), (None, "document"), (0.0, 1.0), ("rrf", "weighted"), (0, 20), ("salt", '"salt" -x', "-x")
    ):
        hits = filled.search(
            query,
            mode=mode,
            offset=offset,
            group_by=group_by,
            diversity=diversity,
            fusion=fusion,
            neighbours=neighbours,
            limit=1_000,
        )
        assert len(hits) == max(0, hits.total_candidates - offset)
        assert (hits.offset, hits.next_offset) == (offset, None)

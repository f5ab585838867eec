"""Hits with what stands around them, read from published documents."""

import json
import threading
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from psycopg import sql

from sourcebook.contract.search_results import SearchResult
from sourcebook.database.queries import queries
from sourcebook.model.generation import Generation
from sourcebook.search.page.read_results import read_results
from sourcebook.search.ranking.fusion import Candidate
from tests.integration.published_passages import publish_passages
from tests.integration.stages import Stages

DOCUMENTS = [[f"passage {ordinal} of {name}" for ordinal in range(12)] for name in ("tides", "moons", "boats")]


@pytest.fixture
def generation(stages: Stages) -> Generation:
    stages.configure()
    return publish_passages(stages, DOCUMENTS)


def chunks(stages: Stages, *texts: str) -> list[int]:
    """Return the ids of passages, by their texts."""
    rows = stages.rows("SELECT id, text FROM chunk WHERE text = ANY(%(texts)s)", texts=list(texts))
    ids = {row["text"]: row["id"] for row in rows}
    return [ids[text] for text in texts]


def hits(stages: Stages, *texts: str) -> list[Candidate]:
    return [Candidate(chunk, 1 / rank, 100) for rank, chunk in enumerate(chunks(stages, *texts), start=1)]


def read(
    stages: Stages, generation: Generation, found: list[Candidate], neighbours: int = 0
) -> tuple[SearchResult, ...]:
    with stages.connection() as connection:
        return read_results(connection, [generation.id], found, neighbours)


def around(result: SearchResult) -> str:
    """Return the ordinals of a result's parts, hits in brackets."""
    return " ".join(f"[{part.ordinal}]" if part.is_hit else str(part.ordinal) for part in result.parts)


def test_a_result_tells_what_a_reader_needs(stages: Stages, generation: Generation) -> None:
    """The passage, its document and its places in the legs; neighbours only where they are asked for."""
    (chunk,) = chunks(stages, "passage 4 of moons")
    hit = Candidate(chunk, 0.5, 100, 0.9, vector_rank=3, vector_score=0.7)
    (result,) = read(stages, generation, [hit])
    assert (result.uri, result.title, result.language, result.version) == ("file:///1", "Document 1", "en", 1)
    assert (result.kind, result.media_type, result.tags) == ("file", "text/markdown", ("sea",))
    assert result.metadata == {"author": "Ann"}
    assert (result.ordinal, result.text, result.heading_path) == (4, "passage 4 of moons", ("Top",))
    assert (result.start_char, result.end_char) == (112, 130)
    assert (result.score, result.rerank_score, result.vector_rank, result.vector_score) == (0.5, 0.9, 3, 0.7)
    assert (result.keyword_rank, result.keyword_score) == (None, None)
    assert (result.parts, result.also, result.context_text) == ((), (), result.text)
    assert read(stages, generation, []) == ()


def test_neighbours_stand_before_and_after_the_hit(stages: Stages, generation: Generation) -> None:
    """In reading order, the hit marked; at a document's begin and end there are fewer, and never another document's."""
    found = hits(stages, "passage 5 of tides", "passage 0 of moons", "passage 11 of boats")
    results = read(stages, generation, found, neighbours=2)
    assert [around(result) for result in results] == ["3 4 [5] 6 7", "[0] 1 2", "9 10 [11]"]
    assert [result.text for result in results] == ["passage 5 of tides", "passage 0 of moons", "passage 11 of boats"]
    assert results[1].context_text == "passage 0 of moons\n\npassage 1 of moons\n\npassage 2 of moons"
    assert around(read(stages, generation, found[:1], neighbours=20)[0]) == "0 1 2 3 4 [5] 6 7 8 9 10 11"


def test_hits_whose_neighbourhoods_touch_are_one_result(stages: Stages, generation: Generation) -> None:
    """It stands where the better hit stands, with its score, and marks them both; what is not adjacent stays apart."""
    found = hits(stages, "passage 8 of tides", "passage 5 of moons", "passage 5 of tides", "passage 1 of tides")
    results = read(stages, generation, found, neighbours=1)
    assert [around(result) for result in results] == ["4 [5] 6 7 [8] 9", "4 [5] 6", "0 [1] 2"]
    assert [result.score for result in results] == [1, 1 / 2, 1 / 4]
    assert results[0].text == "passage 8 of tides"
    assert len(read(stages, generation, found, neighbours=0)) == 4


def test_what_is_prepared_and_not_yet_published_is_not_shown(stages: Stages, generation: Generation) -> None:
    """While the next version waits for its vectors, its passages lie beside the published ones."""
    stages.rows(
        "INSERT INTO chunk (generation_id, document_id, ordinal, text, context, heading_path, start_char, end_char, "
        "token_count, hash, embedding_hash) "
        "SELECT generation_id, document_id, ordinal, 'new', '', '{}', 0, 3, 1, '', '' FROM chunk RETURNING 1"
    )
    (result,) = read(stages, generation, hits(stages, "passage 5 of tides"), neighbours=1)
    assert [part.text for part in result.parts] == [f"passage {ordinal} of tides" for ordinal in (4, 5, 6)]


def test_a_passage_that_was_replaced_meanwhile_is_left_out(stages: Stages, generation: Generation) -> None:
    """The others are there, with their neighbours."""
    found = hits(stages, "passage 5 of tides", "passage 5 of moons", "passage 2 of boats")
    found[1] = found[1]._replace(also=(found[2],))
    stages.rows("DELETE FROM chunk WHERE text IN ('passage 5 of tides', 'passage 2 of boats') RETURNING 1")
    for neighbours in (0, 1):
        (result,) = read(stages, generation, found, neighbours)
        assert (result.text, result.also) == ("passage 5 of moons", ())
    assert read(stages, generation, found[:1], neighbours=1) == ()


def test_another_generation_is_not_shown(stages: Stages, generation: Generation) -> None:
    """A generation that is being built holds the same documents under the same ordinals."""
    other = publish_passages(stages, [["passage 5 of the future"]], collection="handbook")
    found = hits(stages, "passage 5 of tides", "passage 5 of the future")
    (result,) = read(stages, generation, found, neighbours=1)
    assert result.text == "passage 5 of tides"
    assert len(read(stages, other, found, neighbours=1)) == 1


def test_the_others_of_a_document_are_named(stages: Stages, generation: Generation) -> None:
    """Best first, with their scores and where they stand."""
    first, second, third = hits(stages, *(f"passage {n} of tides" for n in (3, 9, 0)))
    for neighbours in (0, 1):
        (result,) = read(stages, generation, [first._replace(also=(second, third))], neighbours)
        assert [(other.ordinal, other.score) for other in result.also] == [(9, 1 / 2), (0, 1 / 3)]
    json.dumps(result.as_dict(), allow_nan=False)


def test_hit_and_parts_are_of_one_version(stages: Stages, generation: Generation) -> None:
    """While another connection publishes version after version, a result never mixes two of them."""
    found = hits(stages, "passage 5 of tides", "passage 5 of moons")
    over = threading.Event()

    def publish(version: int) -> None:
        stages.rows(
            "UPDATE chunk SET text = 'version ' || %(version)s, ordinal = 11 - ordinal "
            "WHERE document_id = (SELECT min(document_id) FROM chunk) RETURNING 1",
            version=str(version),
        )

    def publish_on() -> None:
        for version in count(1):
            publish(version)
            if over.is_set():
                return

    publish(0)
    publisher = threading.Thread(target=publish_on)
    publisher.start()
    try:
        texts: set[str] = set()
        while len(texts) < 40:
            result = read(stages, generation, found, neighbours=20)[0]
            texts.add(result.text)
            assert {part.text for part in result.parts} == {result.text}
            assert [part.ordinal for part in result.parts if part.is_hit] == [result.ordinal]
    finally:
        over.set()
        publisher.join()


def test_real_passages_become_the_text_they_were_cut_from(stages: Stages) -> None:
    """Passages of a published document that overlap, a long table among them, read as its Markdown does."""
    rows = "\n".join(
        f"| Port {number} | {number} metres at low water | pilot on call {number} |" for number in range(16)
    )
    prose = " ".join(f"On day {number} the tide turns at {number} minutes past noon." for number in range(12))
    content = (
        f"# Tides\n\n{prose}\n\n## Depths\n\n| Port | Depth | Note |\n| --- | --- | --- |\n{rows}\n\n## Moons\n\nNone."
    )
    stages.write("tides.md", content)
    root = stages.root.name
    stages.configure(
        f"collections:\n  handbook:\n    chunking: {{tokens: 64, overlap: 12}}\n    files:\n      - root: ./{root}\n"
    )
    stages.run()
    published = stages.rows("SELECT id FROM chunk ORDER BY ordinal")
    assert len(published) > 8
    for place in range(0, len(published), 2):
        (result,) = read(stages, stages.generation, [Candidate(published[place]["id"], 1.0, 100)], neighbours=1)
        header = "| Port | Depth | Note |\n| --- | --- | --- |\n"
        text = result.context_text
        if text not in content:  # it begins within the table: below the header
            assert text.startswith(header)
            assert text.removeprefix(header) in content
        assert text.count(header) <= 1
        assert sum(part.is_hit for part in result.parts) == 1
    whole = read(stages, stages.generation, [Candidate(row["id"], 1.0, 100) for row in published], neighbours=1)
    assert [result.context_text for result in whole] == [content]


@pytest.fixture
def large(stages: Stages) -> Generation:
    """A generation beside another, of many documents, with fresh statistics."""
    stages.configure("collections:\n  handbook:\n    files: [{root: ./docs}]\n  other:\n    files: [{root: ./docs}]\n")
    publish_passages(stages, [["word"] * 20] * 40, collection="other")
    generation = publish_passages(stages, [["word"] * 20] * 150)
    with stages.connection() as connection:
        connection.execute("ANALYZE")
    return generation


def plan(stages: Stages, name: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes of the plan that PostgreSQL chooses by itself."""

    def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield node
        for child in node.get("Plans", []):
            yield from nodes(child)

    with stages.connection() as connection:
        statement = sql.Composed([sql.SQL("EXPLAIN (FORMAT json) "), queries[name]])
        row = connection.execute(statement, parameters).fetchone()
    assert row is not None
    return list(nodes(row[0][0]["Plan"]))


def test_neighbours_are_looked_up_by_document_and_ordinal(stages: Stages, large: Generation) -> None:
    """Only the rows of each window are read, through the index, and no other generation's entries."""
    documents = [row["id"] for row in stages.rows("SELECT id FROM document WHERE collection = 'handbook' LIMIT 10")]
    parameters = {
        "generations": [large.id] * 10,
        "documents": documents,
        "firsts": [3] * 10,
        "lasts": [5] * 10,
    }
    nodes = plan(stages, "neighbours", parameters)
    (scan,) = (node for node in nodes if node.get("Relation Name") == "chunk")
    assert scan["Index Name"] == "chunk_document"
    assert "ordinal" in scan["Index Cond"]
    assert "generation_id" in scan["Index Cond"]
    entries = {node["Relation Name"] for node in nodes if node.get("Relation Name", "").startswith("search_entry")}
    assert entries == {f"search_entry_{large.id}"}


@pytest.mark.parametrize(
    "name", ["passages", "passage_places", "passages_to_rerank", "candidate_documents", "candidate_vectors"]
)
def test_what_a_page_needs_is_looked_up_by_key(stages: Stages, large: Generation, name: str) -> None:
    """Neither passages nor entries are scanned, and only the generations that are searched are touched."""
    found = stages.rows("SELECT id FROM chunk WHERE generation_id = %(id)s LIMIT 10", id=large.id)
    nodes = plan(stages, name, {"generations": [large.id], "chunks": [row["id"] for row in found]})
    scanned = {node.get("Relation Name") for node in nodes if node["Node Type"] == "Seq Scan"}
    assert not scanned & {"chunk", f"search_entry_{large.id}"}
    entries = {node["Relation Name"] for node in nodes if node.get("Relation Name", "").startswith("search_entry")}
    assert entries == {f"search_entry_{large.id}"}

"""Every statement of the search path, and the index that it must use."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pgvector import HalfVector
from psycopg import sql

from sourcebook.config import ChunkingSettings, EmbeddingSettings
from sourcebook.database.queries import queries
from sourcebook.indexing.generation import Generation, create_generation
from sourcebook.indexing.indexes import HNSW_FROM, has_vector_index, maintain_indexes
from sourcebook.search.legs import vector_leg
from sourcebook.search.scope import ScopedGeneration
from tests.integration.stages import Stages

ROWS = 3000
DIMENSIONS = 16
QUERY = np.full(DIMENSIONS, 1 / np.sqrt(DIMENSIONS), np.float32)


@pytest.fixture
def generations(stages: Stages) -> list[Generation]:
    """Two generations of many entries with vectors of length 1, their indexes built and statistics fresh."""
    stages.configure("collections:\n  handbook:\n    files: [{root: ./docs}]\n  other:\n    files: [{root: ./docs}]\n")
    with stages.connection() as connection:
        made = []
        for collection in ("handbook", "other"):
            generation = create_generation(
                connection, collection, ChunkingSettings(), EmbeddingSettings(), model="m", dimensions=DIMENSIONS
            )
            scope = {"collection": collection, "generation": generation.id, "rows": ROWS, "dimensions": DIMENSIONS}
            connection.execute(
                """
                WITH made AS (
                    INSERT INTO document
                        (collection, source_id, uri, kind, media_type, tags, input_hash, config_hash, version)
                    SELECT %(collection)s, id, 'file:///made', 'file', 'text/plain', '{}', '', '', 1
                    FROM source WHERE collection = %(collection)s
                    RETURNING id
                ), indexed AS (
                    INSERT INTO indexed_document
                        (generation_id, document_id, input_hash, config_hash, chunk_count, published_version)
                    SELECT %(generation)s, id, '', '', %(rows)s, 1 FROM made
                )
                INSERT INTO chunk (generation_id, document_id, ordinal, text, context, heading_path, start_char,
                                   end_char, token_count, hash, embedding_hash)
                SELECT %(generation)s, made.id, number, 'word' || number, '', '{}', 0, 0, 1, '', ''
                FROM made, generate_series(1, %(rows)s) number
                """,
                scope,
            )
            connection.execute(
                """
                INSERT INTO search_entry (generation_id, chunk_id, document_id, vector, lexemes)
                SELECT %(generation)s, id, document_id,
                       l2_normalize((SELECT array_agg(random() - 0.5)
                        FROM generate_series(1, %(dimensions)s + 0 * chunk.ordinal))::real[]::halfvec),
                       to_tsvector('simple', text || ' common')
                FROM chunk WHERE generation_id = %(generation)s
                """,
                scope,
            )
            maintain_indexes(connection, generation, entries=HNSW_FROM, moved=ROWS)
            made.append(generation)
        connection.execute("ANALYZE")
    return made


def plan(stages: Stages, name: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes of the plan that PostgreSQL chooses by itself."""
    statement = sql.Composed(
        [sql.SQL("EXPLAIN (FORMAT json) "), queries[name].format(dimensions=sql.Literal(DIMENSIONS))]
    )
    if "dimensions" not in queries[name].as_string():
        statement = sql.Composed([sql.SQL("EXPLAIN (FORMAT json) "), queries[name]])
    with stages.connection() as connection:
        row = connection.execute(statement, parameters).fetchone()
    assert row is not None
    return list(_nodes(row[0][0]["Plan"]))


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


def relations(nodes: list[dict[str, Any]]) -> set[str]:
    return {node["Relation Name"] for node in nodes if "Relation Name" in node}


def indexes(nodes: list[dict[str, Any]]) -> set[str]:
    return {node["Index Name"] for node in nodes if "Index Name" in node}


def nearest(generations: list[Generation]) -> dict[str, Any]:
    return {
        "vector": HalfVector(QUERY),
        "generations": [generation.id for generation in generations],
        "depth": 10,
    }


def test_nearest_entries_walk_the_generations_own_hnsw_index(stages: Stages, generations: list[Generation]) -> None:
    first = generations[0]
    nodes = plan(stages, "nearest_entries", nearest([first]))
    assert f"search_entry_{first.id}_vector" in indexes(nodes)
    assert relations(nodes) == {f"search_entry_{first.id}"}, "the other generation's partition is pruned"
    assert not [node for node in nodes if node["Node Type"] == "Seq Scan"]


def test_nearest_entries_of_two_generations_merge_two_indexes(stages: Stages, generations: list[Generation]) -> None:
    nodes = plan(stages, "nearest_entries", nearest(generations))
    assert indexes(nodes) == {f"search_entry_{generation.id}_vector" for generation in generations}
    assert not [node for node in nodes if node["Node Type"] == "Seq Scan"]


def test_matching_entries_come_from_the_generations_own_gin_index(
    stages: Stages, generations: list[Generation]
) -> None:
    first = generations[0]
    parameters = {"query": "'word17'", "candidates": "'word17'", "generations": [first.id], "depth": 10}
    nodes = plan(stages, "matching_entries", parameters)
    assert indexes(nodes) == {f"search_entry_{first.id}_lexemes"}
    assert relations(nodes) == {f"search_entry_{first.id}"}


def test_results_are_looked_up_by_key(stages: Stages, generations: list[Generation]) -> None:
    first = generations[0]
    chunks = [
        row["id"] for row in stages.rows("SELECT id FROM chunk WHERE generation_id = %(id)s LIMIT 5", id=first.id)
    ]
    nodes = plan(stages, "results", {"generations": [first.id], "chunks": chunks})
    large = {f"search_entry_{first.id}", "chunk"}
    assert not [node for node in nodes if node["Node Type"] == "Seq Scan" and node["Relation Name"] in large]
    assert f"search_entry_{generations[1].id}" not in relations(nodes)
    assert "chunk_pkey" in indexes(nodes)


def test_the_scope_is_read_without_touching_entries(stages: Stages, generations: list[Generation]) -> None:
    nodes = plan(stages, "search_scope", {"collections": ["handbook"]})
    assert relations(nodes) == {"collection", "generation"}


def test_a_query_is_parsed_without_touching_entries(stages: Stages, generations: list[Generation]) -> None:
    """How common its words are, PostgreSQL's own statistics tell."""
    partitions = [f"sourcebook.search_entry_{generation.id}" for generation in generations]
    parameters = {"query": "common word17", "configurations": ["simple"], "partitions": partitions, "most": 500}
    nodes = plan(stages, "keyword_query", parameters)
    assert {name for name in relations(nodes) if not name.startswith("pg_")} == set()
    with stages.connection() as connection:
        told = connection.execute(queries["keyword_query"], parameters).fetchone()
    assert told == ("'word17' | 'common'", "'word17'"), "a word that is everywhere makes no candidates"


def test_the_plans_hold_within_a_search(stages: Stages, generations: list[Generation]) -> None:
    """A connection is set for what the index needs, and the vector leg finds what an exact scan finds."""
    first = generations[0]
    scoped = ScopedGeneration("handbook", first.id, "m", EmbeddingSettings(), DIMENSIONS, ("simple",))
    with stages.connection() as connection:
        found = vector_leg(connection, [scoped], QUERY, 10)
        assert connection.execute("SHOW hnsw.iterative_scan").fetchone() == ("strict_order",)
        exact = connection.execute(
            "SELECT chunk_id FROM search_entry WHERE generation_id = %(id)s "
            "ORDER BY vector::vector <=> %(vector)s::vector LIMIT 10",
            {"id": first.id, "vector": json.dumps(QUERY.tolist())},
        ).fetchall()
    assert len({chunk for chunk, _ in found} & {chunk for (chunk,) in exact}) >= 9
    assert [distance for _, distance in found] == sorted(distance for _, distance in found)


def test_a_small_generation_is_scanned_exactly_and_a_large_one_gets_its_index(stages: Stages) -> None:
    stages.write("a.md", "The tide is high.")
    stages.configure()
    assert stages.rows("SELECT FROM pg_indexes WHERE indexname LIKE 'search_entry_%%_lexemes'") == []
    stages.run()
    generation = stages.generation
    names = {
        row["indexname"] for row in stages.rows("SELECT indexname FROM pg_indexes WHERE schemaname = 'sourcebook'")
    }
    assert f"search_entry_{generation.id}_lexemes" in names
    with stages.connection() as connection:
        assert not has_vector_index(connection, generation.id)
        maintain_indexes(connection, generation, entries=HNSW_FROM - 1, moved=0)
        assert not has_vector_index(connection, generation.id)
        maintain_indexes(connection, generation, entries=HNSW_FROM, moved=0)
        assert has_vector_index(connection, generation.id)
        maintain_indexes(connection, generation, entries=HNSW_FROM, moved=0)
    assert stages.search("tide", mode="vector")[0].uri == stages.uri("a.md")

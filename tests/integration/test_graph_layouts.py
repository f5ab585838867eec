"""Generations in parts with an HNSW index each, and of bits: the same nearest entries, and changes in place."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from pgvector import HalfVector
from psycopg import sql
from psycopg.types.json import Jsonb

from sourcebook.contract.filters import Filters
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DatabaseLocation
from sourcebook.indexing import graphs
from sourcebook.indexing.graphs import present_layout, settle_graphs
from sourcebook.model import graph_layout
from sourcebook.model.graph_layout import GraphLayout
from sourcebook.search.ranking import vector_leg
from sourcebook.search.ranking.filter_conditions import condition_of
from sourcebook.search.ranking.graph_walks import WalkStatement
from sourcebook.search.ranking.vector_leg import VectorRanking, nearest
from sourcebook.search.scope import EVERY_ENTRY, EntryCondition
from sourcebook.stages.index_upkeep import maintain_index
from tests.conftest import TEMPLATE
from tests.integration.vector_shelf import DEPTH, DIMENSIONS, LARGE, Shelf, filled_shelf

NAME = "test_graph_layouts"


@pytest.fixture(scope="module")
def shelf(server: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """Generations whose layouts the tests change; the order of the tests does not matter."""
    with psycopg.connect(server.url("postgres"), autocommit=True) as maintenance:
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
        maintenance.execute(create.format(sql.Identifier(NAME), sql.Identifier(TEMPLATE)))
        with Database(DatabaseLocation(tmp_path_factory.mktemp("home"), server.url(NAME))) as database:
            yield filled_shelf(database)
        maintenance.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(NAME)))


@pytest.fixture(autouse=True)
def small_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let generations of this size have indexes, and put the limit of parts back that a test sets."""
    monkeypatch.setattr(graphs, "HNSW_FROM", 1_000)
    monkeypatch.setattr(graphs, "PARTS_FROM", graphs.PARTS_FROM)


def settle(shelf: Shelf, parts_from: int = graphs.PARTS_FROM, **rules: object) -> bool:
    """Apply settings of a collection, and bring its indexes to them, of parts from so many entries on."""
    graphs.PARTS_FROM = parts_from
    with shelf.database.connection() as connection:
        settings = Jsonb({"generations": rules})
        connection.execute("UPDATE collection SET settings = %s WHERE name = 'large'", [settings])
        return settle_graphs(connection, shelf.generations["large"], LARGE)


def layout(shelf: Shelf) -> GraphLayout | None:
    with shelf.database.connection() as connection:
        return present_layout(connection, shelf.generations["large"])


def searched(shelf: Shelf, condition: EntryCondition | None = None, depth: int = DEPTH) -> list[VectorRanking]:
    with shelf.database.connection() as connection:
        return [nearest(connection, shelf.scoped("large"), query, depth, condition) for query in shelf.queries]


def plan(shelf: Shelf, of: GraphLayout) -> str:
    """Return the plan that PostgreSQL chooses by itself."""
    statement = WalkStatement(of, EVERY_ENTRY, DIMENSIONS, LARGE)
    values = {"vector": HalfVector(shelf.queries[0]), "generations": [shelf.generations["large"].id]}
    with shelf.database.connection() as connection:
        rows = connection.execute(
            sql.Composed([sql.SQL("EXPLAIN "), statement.text]), {**values, "depth": DEPTH, "budget": 20}
        ).fetchall()
    return "\n".join(line for (line,) in rows)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"parts_from": 4_000}, GraphLayout(2)),
        ({"parts_from": 1_000}, GraphLayout(8)),
        ({"quantization": "binary"}, GraphLayout(1, bits=True)),
        ({"quantization": "binary", "parts_from": 2_000}, GraphLayout(4, bits=True)),
    ],
    ids=["two parts", "eight parts", "bits", "bits in four parts"],
)
def test_every_layout_finds_the_nearest(
    shelf: Shelf, rules: dict[str, Any], expected: GraphLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part is walked by its own index, and the nearest of all parts come first, with a filter and without."""
    settle(shelf, **rules)
    assert layout(shelf) == expected
    explained = plan(shelf, expected)
    for part in range(expected.parts):
        assert f"using {expected.name(shelf.generations['large'].id, part)} " in explained
    assert "Seq Scan" not in explained
    rankings = searched(shelf)
    assert {ranking.plan for ranking in rankings} == {"index"}
    assert shelf.recall(rankings, "large") >= (0.97 if expected.bits else 0.99)
    for ranking in rankings:
        distances = [-similarity for _, similarity in ranking.hits]
        assert distances == sorted(distances), "exact order, whatever the graph holds"
    monkeypatch.setattr(vector_leg, "VISIT", 0)
    filtered = searched(shelf, condition_of(Filters(tags_any="0.5"), None))
    assert "iterative index" in {ranking.plan for ranking in filtered}
    assert shelf.recall(filtered, "large", documents=0.5) >= (0.97 if expected.bits else 0.99)
    assert not settle(shelf, **rules), "nothing to build"


def test_large_parts_are_walked_more_widely_for_one_search(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """The breadth that a large graph needs is set for the statement alone: the session keeps its own."""
    settle(shelf, parts_from=4_000)
    present = layout(shelf)
    assert present is not None
    monkeypatch.setattr(graph_layout, "BREADTH_FOR", LARGE // present.parts // 4)
    with shelf.database.connection() as connection:
        with connection.transaction():
            nearest(connection, shelf.scoped("large"), shelf.queries[0], DEPTH)
            assert connection.execute("SHOW hnsw.ef_search").fetchone() in {("400",), ("450",)}
        assert shelf.recall(searched(shelf), "large") >= 0.99
        assert connection.execute("SHOW hnsw.ef_search").fetchone() == ("200",)


def test_upkeep_changes_the_layout_in_place_and_leaves_nothing_behind(shelf: Shelf) -> None:
    """A raised limit is followed by the next upkeep, without a new generation; the former indexes go."""
    settle(shelf, parts_from=1_000)
    generation = shelf.generations["large"]
    graphs.PARTS_FROM = 1_000_000
    with shelf.database.connection() as connection:
        connection.execute("UPDATE generation SET entry_count = %s WHERE id = %s", [LARGE, generation.id])
        assert maintain_index(connection, generation).extra["graphs"] == 1
        assert "graphs" not in maintain_index(connection, generation).extra
        names = connection.execute(
            "SELECT relname FROM pg_class WHERE relname LIKE %s", [f"search_entry_{generation.id}_vector%"]
        ).fetchall()
    assert names == [(f"search_entry_{generation.id}_vector",)]


def test_few_deletions_at_a_limit_build_nothing(shelf: Shelf) -> None:
    """Parts become fewer only where three quarters of the entries have gone."""
    settle(shelf, parts_from=2_000)
    with shelf.database.connection() as connection:
        generation = shelf.generations["large"]
        assert present_layout(connection, generation) == GraphLayout(4)
        assert not settle_graphs(connection, generation, 3_900)
        assert not settle_graphs(connection, generation, 1_100)


def test_a_killed_build_goes_on_with_the_missing_parts(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches use the former layout until the last part is there; finished parts are not built again."""
    settle(shelf)
    built: list[int] = []
    build = graphs._build_despite_little_memory

    def killed_at_the_third(connection: psycopg.Connection, part: int, **values: object) -> None:
        if len(built) == 2:
            raise KeyboardInterrupt
        build(connection, part, **values)  # type: ignore[arg-type]
        built.append(part)

    monkeypatch.setattr(graphs, "_build_despite_little_memory", killed_at_the_third)
    monkeypatch.setattr(graphs, "_workers", lambda _: 0)
    with pytest.raises(KeyboardInterrupt):
        settle(shelf, parts_from=2_000)
    assert (layout(shelf), built) == (GraphLayout(), [0, 1])
    assert shelf.recall(searched(shelf), "large") >= 0.99
    built.clear()

    def recorded(connection: psycopg.Connection, part: int, **values: object) -> None:
        build(connection, part, **values)  # type: ignore[arg-type]
        built.append(part)

    monkeypatch.setattr(graphs, "_build_despite_little_memory", recorded)
    assert settle(shelf, parts_from=2_000)
    assert (layout(shelf), built) == (GraphLayout(4), [2, 3])


def test_entries_outside_every_index_are_compared(shelf: Shelf) -> None:
    """What is published beside the indexes of parts is found at once."""
    settle(shelf, parts_from=2_000, quantization="binary")
    with shelf.database.connection() as connection, connection.transaction(force_rollback=True):
        expected = nearest(connection, shelf.scoped("large"), shelf.queries[0], DEPTH)
        outside = [chunk for chunk, _ in expected.hits[::2]]
        connection.execute(
            sql.SQL("UPDATE {} SET in_graph = false WHERE chunk_id = ANY(%s)").format(
                shelf.generations["large"].partition
            ),
            [outside],
        )
        found = nearest(connection, shelf.scoped("large"), shelf.queries[0], DEPTH)
    assert {*outside} <= {chunk for chunk, _ in found.hits}

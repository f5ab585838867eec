"""The vector leg finds what an exact comparison finds, whatever filters it, by the plans that it is built for."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import psycopg
import pytest
from pgvector import HalfVector
from psycopg import Connection, sql

from sourcebook.contract.filters import Filters
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.queries import queries
from sourcebook.indexing import graphs
from sourcebook.model.generation import Generation
from sourcebook.model.graph_layout import GraphLayout
from sourcebook.search.ranking import vector_leg
from sourcebook.search.ranking.filter_conditions import condition_of
from sourcebook.search.ranking.vector_leg import VectorRanking, nearest
from sourcebook.search.scope import EVERY_ENTRY, EntryCondition
from tests.conftest import TEMPLATE
from tests.integration.vector_shelf import DEPTH, DIMENSIONS, LARGE, SELECTIVITIES, SMALL, Shelf, filled_shelf


@pytest.fixture(scope="module")
def shelf(server: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """Two large generations with HNSW indexes and a small one without; no test changes them."""
    name = sql.Identifier("test_vector_leg")
    with psycopg.connect(server.url("postgres"), autocommit=True) as maintenance:
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
        maintenance.execute(create.format(name, sql.Identifier(TEMPLATE)))
        location = DatabaseLocation(tmp_path_factory.mktemp("home"), server.url("test_vector_leg"))
        with Database(location) as database:
            yield filled_shelf(database)
        maintenance.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def tagged(share: float) -> EntryCondition:
    condition = condition_of(Filters(tags_any=str(share)), None)
    assert condition is not None
    return condition


def searched(shelf: Shelf, *names: str, condition: EntryCondition | None = None) -> list[VectorRanking]:
    with shelf.database.connection() as connection:
        return [nearest(connection, shelf.scoped(*names), query, DEPTH, condition) for query in shelf.queries]


def test_a_connection_is_set_for_the_index(shelf: Shelf) -> None:
    """Breadth and order of scans are set once a connection, not before each search."""
    with shelf.database.connection() as connection:
        for setting, value in (
            ("hnsw.iterative_scan", "relaxed_order"),
            ("hnsw.ef_search", "200"),
            ("plan_cache_mode", "force_custom_plan"),
        ):
            assert connection.execute("SELECT current_setting(%s)", [setting]).fetchone() == (value,)


def test_a_generation_without_an_index_is_compared_exactly(shelf: Shelf) -> None:
    """Small generations never miss a hit, and the order and the cosines are those of numpy."""
    for query, ranking in zip(shelf.queries, searched(shelf, "small"), strict=True):
        assert (ranking.plan, ranking.is_exact, ranking.cut_off) == ("exact", True, False)
        assert [chunk for chunk, _ in ranking.hits] == shelf.oracle(query, "small")
        at = {int(chunk): place for place, chunk in enumerate(shelf.chunks["small"])}
        for chunk, cosine in ranking.hits:
            assert cosine == pytest.approx(float(shelf.vectors["small"][at[chunk]] @ query), abs=2e-3)


def test_a_large_generation_is_walked_through_its_index(shelf: Shelf) -> None:
    """Without a filter, HNSW finds at least 99 % of what an exact scan finds, best first."""
    rankings = searched(shelf, "large")
    assert {(ranking.plan, ranking.is_exact, ranking.cut_off) for ranking in rankings} == {("index", False, False)}
    assert shelf.recall(rankings, "large") >= 0.99
    for ranking in rankings:
        assert all(first >= second for (_, first), (_, second) in pairwise(ranking.hits))


def test_generations_with_and_without_index_are_searched_together(shelf: Shelf) -> None:
    """Each generation is searched in its own way, and the nearest of all come first."""
    rankings = searched(shelf, "large", "small", "other")
    assert {ranking.plan for ranking in rankings} == {"index"}
    assert shelf.recall(rankings, "large", "small", "other") >= 0.99


@pytest.mark.parametrize("share", SELECTIVITIES)
def test_a_filter_never_loses_hits(shelf: Shelf, share: float) -> None:
    """From 0.1 % to 100 % of the documents: at least 99 % of what an exact scan of them finds, and always as many."""
    rankings = searched(shelf, "large", "small", condition=tagged(share))
    for query, ranking in zip(shelf.queries, rankings, strict=True):
        assert len(ranking.hits) == len(shelf.oracle(query, "large", "small", documents=share))
    assert shelf.recall(rankings, "large", "small", documents=share) >= 0.99


@pytest.mark.parametrize("share", [0.03, 0.1, 0.3, 0.5])
def test_the_iterative_scan_does_not_lose_them_either(
    shelf: Shelf, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results are equal where the index is walked although few entries fulfil the filter."""
    monkeypatch.setattr(vector_leg, "VISIT", 0)
    monkeypatch.setattr(vector_leg, "SLACK", 10)
    rankings = searched(shelf, "large", condition=tagged(share))
    assert "iterative index" in {ranking.plan for ranking in rankings}
    assert shelf.recall(rankings, "large", documents=share) >= 0.99


def test_which_way_a_filter_is_searched_goes_by_how_much_it_lets_through(shelf: Shelf) -> None:
    """Selective filters are compared exactly, and without having walked an index before."""
    assert {ranking.plan for ranking in searched(shelf, "large", condition=tagged(0.01))} == {"exact"}
    assert not any(ranking.cut_off for ranking in searched(shelf, "large", condition=tagged(0.01)))
    assert {ranking.plan for ranking in searched(shelf, "large", condition=tagged(0.9))} == {"iterative index"}


@pytest.mark.parametrize(("share", "plan"), [(0.01, "exact"), (0.5, "iterative index"), (0.9, "iterative index")])
def test_what_a_reader_sees_is_searched_by_its_known_size(shelf: Shelf, share: float, plan: str) -> None:
    """No estimate is asked for, and no hit is lost: the scope knows how many entries of how many the reader sees."""
    (whole,) = shelf.scoped("large")
    chunks, index = len(shelf.chunks["large"]), GraphLayout().name(whole.id, 0)
    scope = [replace(whole, entries=round(chunks * share), stored=chunks, vector_indexes=[index])]
    condition = replace(tagged(share), is_sight=True)
    with shelf.database.connection() as connection:
        rankings = [nearest(connection, scope, query, DEPTH, condition) for query in shelf.queries]
    assert {ranking.plan for ranking in rankings} == {plan}
    assert shelf.recall(rankings, "large", documents=share) >= 0.99


def test_what_a_reader_sees_is_found_in_one_walk(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk that goes on reads as much again: it begins as wide as the share of what is seen asks for."""
    monkeypatch.setattr(vector_leg, "VISIT", 0)
    (whole,) = shelf.scoped("large")
    chunks, index = len(shelf.chunks["large"]), GraphLayout().name(whole.id, 0)
    scope = [replace(whole, entries=chunks // 2, stored=chunks, vector_indexes=[index])]
    counting = "SELECT pg_stat_get_xact_blocks_fetched(%s::regclass)"
    read = []
    with shelf.database.connection() as connection, connection.transaction():  # until which the blocks are counted
        for condition in (None, None, replace(tagged(0.5), is_sight=True)):  # the first, behind what others have read
            ranking = nearest(connection, scope, shelf.queries[0], 100, condition)
            assert (len(ranking.hits), ranking.plan == "exact", ranking.cut_off) == (100, False, False)
            blocks = connection.execute(counting, [index]).fetchone()
            read.append(blocks[0] if blocks else 0)
    assert 0 < read[2] - read[1] < 1.4 * (read[1] - read[0])


def test_a_filter_that_nothing_fulfils_finds_nothing(shelf: Shelf) -> None:
    """No hit is an exact answer."""
    rankings = searched(shelf, "large", condition=condition_of(Filters(tags_any="nowhere"), None))
    assert {(ranking.hits, ranking.is_exact) for ranking in rankings} == {((), True)}


def test_an_index_that_runs_out_is_followed_by_an_exact_scan(shelf: Shelf) -> None:
    """Where all entries that fulfil a filter are far from the query, the index scan is given up, with a note."""
    query = shelf.queries[0]
    order = np.argsort(shelf.vectors["large"] @ query)
    far = shelf.chunks["large"][order[: LARGE // 2]].tolist()
    condition = EntryCondition(sql.SQL("entry.chunk_id = ANY(%(far)s::bigint[])"), {"far": far})
    with shelf.database.connection() as connection:
        ranking = nearest(connection, shelf.scoped("large"), query, DEPTH, condition)
    assert (ranking.plan, ranking.is_exact, ranking.cut_off) == ("exact", True, True)
    assert [chunk for chunk, _ in ranking.hits] == far[: -DEPTH - 1 : -1]


def test_a_wrong_estimate_is_noticed(shelf: Shelf) -> None:
    """A condition that the planner believes to be selective, and is not, is searched through the index after all."""
    condition = EntryCondition(sql.SQL("entry.chunk_id + 0 > 0 AND entry.chunk_id + 0 = entry.chunk_id + 0"), {})
    rankings = searched(shelf, "large", condition=condition)
    assert {ranking.plan for ranking in rankings} == {"iterative index"}
    assert shelf.recall(rankings, "large") >= 0.99


@pytest.mark.parametrize(
    ("words", "kept"), [("word1 & part4", LARGE // 300), ("word1", LARGE // 3), ("!word1", LARGE * 2 // 3)]
)
def test_conditions_on_words_are_kept(shelf: Shelf, words: str, kept: int) -> None:
    """Phrases and exclusions of the query language bind this leg, too."""
    condition = EntryCondition(sql.SQL("entry.lexemes @@ %(words)s::tsquery"), {"words": words})
    with shelf.database.connection() as connection:
        ranking = nearest(connection, shelf.scoped("large"), shelf.queries[1], DEPTH, condition)
        statement = "SELECT chunk_id FROM search_entry WHERE generation_id = %s AND lexemes @@ %s::tsquery"
        allowed = {each[0] for each in connection.execute(statement, [shelf.generations["large"].id, words])}
    assert len(allowed) == kept
    exact = sorted(
        (-float(vector @ shelf.queries[1]), int(chunk))
        for vector, chunk in zip(shelf.vectors["large"], shelf.chunks["large"], strict=True)
        if chunk in allowed
    )[:DEPTH]
    assert len(ranking.hits) == len(exact)
    assert len({chunk for chunk, _ in ranking.hits} & {chunk for _, chunk in exact}) >= len(exact) - 1


def test_as_many_as_there_are_come_back(shelf: Shelf) -> None:
    """Deeper than the index is wide, and deeper than there are entries."""
    with shelf.database.connection() as connection:
        deep = nearest(connection, shelf.scoped("large"), shelf.queries[0], 1_000)
        everything = nearest(connection, shelf.scoped("small"), shelf.queries[0], 2_000)
    assert len(deep.hits) == len(dict(deep.hits)) == 1_000
    assert {chunk for chunk, _ in everything.hits} == set(shelf.chunks["small"].tolist())


def test_equal_vectors_come_in_the_order_of_their_ids(shelf: Shelf) -> None:
    """Ties are broken, so that pages neither repeat nor skip."""
    with shelf.database.connection() as connection, connection.transaction(force_rollback=True):
        connection.execute(
            "UPDATE search_entry SET vector = %s WHERE generation_id = %s",
            [HalfVector(shelf.queries[0]), shelf.generations["small"].id],
        )
        ranking = nearest(connection, shelf.scoped("small"), shelf.queries[0], DEPTH)
    assert [chunk for chunk, _ in ranking.hits] == shelf.chunks["small"][:DEPTH].tolist()


def plan(shelf: Shelf, name: str, *names: str, condition: EntryCondition | None = None, **values: Any) -> list[Any]:
    """Return the nodes of the plan that PostgreSQL chooses by itself."""
    condition = condition or EVERY_ENTRY
    statement = queries[name].format(condition=condition.text, dimensions=sql.Literal(DIMENSIONS))
    given = {"vector": HalfVector(shelf.queries[0]), "depth": DEPTH, **condition.parameters, **values}
    with shelf.database.connection() as connection:
        row = connection.execute(
            sql.Composed([sql.SQL("EXPLAIN (FORMAT json) "), statement]),
            {**given, "generations": [shelf.generations[each].id for each in names]},
        ).fetchone()
    assert row is not None
    return list(_nodes(row[0][0]["Plan"]))


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


def indexes_of(nodes: list[Any]) -> set[str]:
    return {node["Index Name"] for node in nodes if "Index Name" in node}


def scanned(nodes: list[Any]) -> set[str]:
    return {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"}


def served_by(shelf: Shelf, *names: str) -> set[str]:
    """Return the indexes of generations that a walk reads: the HNSW index, and that of the entries outside it."""
    return {
        f"search_entry_{shelf.generations[name].id}_{index}"
        for name in names
        for index in ("vector", "generation_id_chunk_id_idx")
    }


def test_every_partition_is_walked_by_its_own_hnsw_index(shelf: Shelf) -> None:
    """No partition is sorted whole, and none that was not asked for is touched."""
    nodes = plan(shelf, "nearest_by_index", "large", "other", budget=30)
    assert indexes_of(nodes) == served_by(shelf, "large", "other")
    assert not scanned(nodes)
    assert all(node["Plan Rows"] < 10 for node in nodes if node["Node Type"] == "Sort"), "entries outside the index"
    assert indexes_of(plan(shelf, "nearest_by_index", "other", budget=30)) == served_by(shelf, "other")


def test_a_filter_is_looked_at_after_the_index(shelf: Shelf) -> None:
    """The walk goes on while documents are looked up by key, and ends as soon as enough were let through."""
    nodes = plan(shelf, "nearest_by_index", "large", condition=tagged(0.5), budget=200)
    assert f"search_entry_{shelf.generations['large'].id}_vector" in indexes_of(nodes)
    assert not scanned(nodes) - {"document"}
    assert not [node for node in nodes if node["Node Type"] == "Sort" and node["Plan Rows"] > 200]


def test_few_entries_are_found_by_their_documents(shelf: Shelf) -> None:
    """A selective filter leads from the index on tags to the entries of the documents that have it."""
    nodes = plan(shelf, "nearest_of_few", "large", condition=tagged(0.003), most=1_000)
    assert "document_tags" in indexes_of(nodes)
    assert any(name.endswith("document_id_chunk_id_idx") for name in indexes_of(nodes))
    assert not scanned(nodes)


@pytest.mark.parametrize("condition", [None, tagged(0.5)], ids=["every entry", "filtered"])
def test_entries_outside_the_index_are_compared(shelf: Shelf, condition: EntryCondition | None) -> None:
    """The nearest entries are found though the index has lost them, and the walk is still one of the index."""
    with shelf.database.connection() as connection, connection.transaction(force_rollback=True):
        for query in shelf.queries[:5]:
            expected = nearest(connection, shelf.scoped("large"), query, DEPTH, condition)
            assert expected.plan != "exact"
            connection.execute(
                sql.SQL("UPDATE {} SET in_graph = false WHERE chunk_id = ANY(%s)").format(
                    shelf.generations["large"].partition
                ),
                [[chunk for chunk, _ in expected.hits[::2]]],
            )
            found = nearest(connection, shelf.scoped("large"), query, DEPTH, condition)
            assert found.plan == expected.plan
            assert {chunk for chunk, _ in expected.hits[::2]} <= {chunk for chunk, _ in found.hits}


def test_an_exact_scan_never_goes_through_hnsw(shelf: Shelf) -> None:
    """An exact ranking misses no entry."""
    for condition in (None, tagged(0.5)):
        nodes = plan(shelf, "nearest_exactly", "large", "small", condition=condition)
        assert not [name for name in indexes_of(nodes) if name.endswith("_vector")]


def test_a_search_locks_nothing_that_a_writer_waits_for(shelf: Shelf) -> None:
    """Whatever the plan, only AccessShare locks are taken."""
    with shelf.database.connection() as connection, connection.transaction():
        for condition in (None, tagged(0.01), tagged(0.9)):
            nearest(connection, shelf.scoped("large", "small"), shelf.queries[0], DEPTH, condition)
        modes = connection.execute(
            "SELECT DISTINCT mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'"
        ).fetchall()
    assert modes == [("AccessShareLock",)]


def test_an_index_is_built_while_others_search_and_publish(shelf: Shelf) -> None:
    """A build holds up neither searches of its partition nor what is written to others."""
    built = threading.Event()
    with shelf.database.connection() as builder, shelf.database.connection() as other:
        with builder.transaction(force_rollback=True):
            builder.execute("SET LOCAL max_parallel_maintenance_workers = 0")
            graphs.build_vector_index(builder, shelf.generations["small"], SMALL)
            other.execute("SET lock_timeout = '5s'")
            assert nearest(other, shelf.scoped("small"), shelf.queries[0], DEPTH).is_exact
            with other.transaction(force_rollback=True):
                other.execute("DELETE FROM search_entry WHERE generation_id = %s", [shelf.generations["other"].id])
            built.set()
        other.execute("RESET lock_timeout")
        assert not has_vector_index(other, shelf.generations["small"])
    assert built.is_set()


def has_vector_index(connection: Connection, generation: Generation) -> bool:
    """Whether a generation has a valid index of its vectors."""
    name = f"search_entry_{generation.id}_vector"
    return connection.execute(queries["index_validity"], {"name": name}).fetchone() == (True,)


def test_what_a_broken_build_left_is_no_index_and_is_built_anew(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """An invalid index, as an interrupted REINDEX CONCURRENTLY leaves it, is dropped, and the right one built."""
    generation = shelf.generations["small"]
    monkeypatch.setattr(graphs, "HNSW_FROM", SMALL)
    name = f"search_entry_{generation.id}_vector"
    with shelf.database.connection() as connection:
        graphs.build_vector_index(connection, generation, SMALL)
        connection.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass(%s)", [name])
        assert not has_vector_index(connection, generation)
        assert nearest(connection, shelf.scoped("small"), shelf.queries[0], DEPTH).plan == "exact"
        graphs.maintain_indexes(connection, generation, entries=SMALL, moved=0)
        assert has_vector_index(connection, generation)
        connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))

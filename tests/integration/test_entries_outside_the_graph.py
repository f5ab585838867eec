"""Small publications do not wait for the HNSW index: searches compare their entries until the upkeep enters them."""

import pytest

from sourcebook.indexing import graphs
from sourcebook.stages import index_upkeep, search_index
from sourcebook.stages.search_index import publish
from tests.integration.stages import Stages

FIRST = 12
"""Documents that are there when the HNSW index is built."""


@pytest.fixture
def indexed(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> Stages:
    """A base with an HNSW index over twelve documents; from three entries outside it, the upkeep enters them."""
    monkeypatch.setattr(graphs, "HNSW_FROM", FIRST)
    monkeypatch.setattr(index_upkeep, "MOST_OUTSIDE", 3)
    monkeypatch.setattr(index_upkeep, "_ENTERED_AT_ONCE", 2)
    stages.configure()
    for number in range(FIRST):
        stages.write(f"{number}.md", f"# Station {number}\n\nThe gauge of station {number} reads the tide each hour.\n")
    stages.run()
    assert places(stages) == {True: FIRST}
    return stages


def places(stages: Stages) -> dict[bool, int]:
    """Return the number of entries in the HNSW index (True) and outside it (False)."""
    rows = stages.rows("SELECT in_graph, count(*) AS number FROM search_entry GROUP BY 1")
    return {row["in_graph"]: row["number"] for row in rows}


def nearest(stages: Stages, query: str) -> list[str]:
    """Return the names of the documents nearest to a query, best first."""
    return [hit.uri.rpartition("/")[2] for hit in stages.search(query, mode="vector")]


def statistics(stages: Stages) -> list[dict[str, object]]:
    return stages.rows("SELECT token, entries FROM lexeme ORDER BY 1, 2")


def test_a_small_publication_is_found_outside_the_index(indexed: Stages) -> None:
    """A new document is found by its vector at once, a changed one in its new version only, a removed one never."""
    indexed.write("lamp.md", "# Lamp\n\nThe lighthouse lamp is lit at dusk by the keeper.\n")
    indexed.write("3.md", "# Bells\n\nBells ring in fog.\n")
    indexed.run()
    assert places(indexed) == {True: FIRST - 1, False: 2}
    assert nearest(indexed, "who lights the lighthouse lamp")[0] == "lamp.md"
    assert nearest(indexed, "bells in fog")[0] == "3.md"
    (indexed.root / "lamp.md").unlink()
    indexed.run()
    assert "lamp.md" not in nearest(indexed, "who lights the lighthouse lamp")


def test_the_upkeep_enters_them(indexed: Stages) -> None:
    """From the bound on all of them enter, in several transactions, and no statistics change."""
    for name in ("lamp", "bells", "charts"):
        indexed.write(f"{name}.md", f"# {name}\n\nThe {name} of the harbour are kept in order.\n")
    indexed.raw_files()
    indexed.documents()
    with indexed.connection() as connection:
        indexed.chunks()
        indexed.embeddings()
        publish(connection, indexed.generation)
        before = statistics(indexed)
        assert places(indexed) == {True: FIRST, False: 3}
        report = index_upkeep.maintain_index(connection, indexed.generation)
    assert report.extra["entered"] == 3
    assert places(indexed) == {True: FIRST + 3}
    assert statistics(indexed) == before
    assert nearest(indexed, "the charts")[0] == "charts.md"


def test_a_load_enters_the_index_at_once(indexed: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    """More documents than a transaction takes are not written twice."""
    monkeypatch.setattr(search_index, "BATCH", 2)
    for number in range(3):
        indexed.write(f"more-{number}.md", f"# More {number}\n\nMore of the harbour, part {number}.\n")
    indexed.run()
    assert places(indexed) == {True: FIRST + 3}

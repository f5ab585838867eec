"""Documents similar to one: nearest by the embedding model, in other words, with filters."""

import pytest

from sourcebook.contract.search_results import SearchResults
from sourcebook.errors import QueryError, UnknownDocumentError
from tests.integration.stages import Stages

TEXTS = {
    "sailing.md": "# Sailing\n\nThe skipper hoists the mainsail and steers the yacht out of the harbour.",
    "boats.md": "---\ntags: [sea]\n---\n# Boats\n\nVessels with canvas and rudder leave port when the wind is fair.",
    "bread.md": "# Bread\n\nKnead the dough, let it rise, and bake the loaf in a hot oven.",
    "cakes.md": "# Cakes\n\nMix flour with butter and sugar; the pastry goes into the stove.",
}


@pytest.fixture
def library(stages: Stages) -> Stages:
    for name, text in TEXTS.items():
        stages.write(name, text)
    stages.configure()
    stages.run()
    return stages


def names(results: SearchResults) -> list[str]:
    return [hit.uri.rpartition("/")[2] for hit in results]


def test_the_nearest_documents_are_found(library: Stages) -> None:
    """The document itself is not among them; each other one is there once, with its cosine similarity."""
    found = library.knowledge.similar(library.uri("sailing.md"))
    assert names(found)[0] == "boats.md"
    assert sorted(names(found)) == ["boats.md", "bread.md", "cakes.md"]
    assert found[0].snippet.startswith("Vessels with canvas") or found[0].snippet.startswith("# Boats")
    assert [hit.vector_score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    assert names(library.knowledge.similar(library.uri("bread.md"), limit=1)) == ["cakes.md"]


def test_a_passage_filters_and_limits(library: Stages) -> None:
    knowledge = library.knowledge
    assert names(knowledge.similar(library.uri("bread.md"), filters={"tags": ["sea"]})) == ["boats.md"]
    assert names(knowledge.similar(library.uri("sailing.md"), passage=0, limit=1)) == ["boats.md"]
    with pytest.raises(QueryError, match="no searchable passage 7"):
        knowledge.similar(library.uri("sailing.md"), passage=7)
    with pytest.raises(QueryError, match="limit"):
        knowledge.similar(library.uri("sailing.md"), limit=0)
    with pytest.raises(UnknownDocumentError):
        knowledge.similar("nothing.md")


def test_a_removed_document_is_not_similar(library: Stages) -> None:
    (library.root / "boats.md").unlink()
    library.run()
    assert "boats.md" not in names(library.knowledge.similar(library.uri("sailing.md")))
    with pytest.raises(QueryError, match="not searchable"):
        library.knowledge.similar(library.uri("boats.md"))

"""Suggestions of a query: words that no passage holds become the nearest words that some passage holds."""

from collections.abc import Iterator

import pytest

from sourcebook import KnowledgeBase
from sourcebook.database.embedded import EmbeddedServer
from tests.integration.word_corpus import Written, new_corpus, word_database


@pytest.fixture(scope="module")
def knowledge(server: EmbeddedServer) -> Iterator[KnowledgeBase]:
    with word_database(server) as database, database.connection() as connection:
        new_corpus(connection).write(
            {
                0: Written(("The batteries of the lighthouse last all winter.",), language="en"),
                1: Written(("New batteries come by boat; harbour dues are paid in autumn.",), language="en"),
            }
        )
        yield KnowledgeBase(database)


@pytest.mark.parametrize(
    ("query", "suggestion"),
    [
        ("battries for the lihgthouse", "batteries for the lighthouse"),
        ("Harbor dues", "harbour dues"),
        ("harbour dues", None),
        ("quantum chromodynamics", None),
    ],
)
def test_nearly_known_words_are_suggested(knowledge: KnowledgeBase, query: str, suggestion: str | None) -> None:
    """A suggestion is made of words as passages write them, and keeps the rest of the query."""
    results = knowledge.search(query, mode="keyword")
    assert results.suggestion == suggestion
    assert results.as_dict()["suggestion"] == suggestion


def test_nothing_is_suggested_where_misspelt_words_are_searched_for(knowledge: KnowledgeBase) -> None:
    results = knowledge.search("battries", mode="keyword", typos=True)
    assert len(results) == 2
    assert results.suggestion is None

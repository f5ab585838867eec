"""Snippets and highlights of results: the words of the query in the forms in which a passage has them."""

from collections.abc import Iterator

import pytest

from sourcebook import KnowledgeBase
from sourcebook.contract.search_results import SearchResult
from sourcebook.database.embedded import EmbeddedServer
from tests.integration.word_corpus import Written, new_corpus, word_database


@pytest.fixture(scope="module")
def knowledge(server: EmbeddedServer) -> Iterator[KnowledgeBase]:
    with word_database(server) as database, database.connection() as connection:
        english = (
            "Nobody slept. " * 40
            + "The batteries of both gauges were replaced in sourcebook.yaml. "
            + "It rained. " * 40
        )
        new_corpus(connection).write(
            {
                0: Written((english,), language="en"),
                1: Written(("Die Häuser am Hafen stehen leer; ein Haus ist bewohnt.",), language="de"),
                2: Written(("知識庫和圖書館",), language="zh"),
                3: Written(("Un résumé of the RESUME",), language="en"),
            }
        )
        yield KnowledgeBase(database)


def first(knowledge: KnowledgeBase, query: str) -> SearchResult:
    return knowledge.search(query, mode="keyword")[0]


def words(hit: SearchResult) -> list[str]:
    return [hit.text[start:end] for start, end in hit.highlights]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("battery gauge", ["batteries", "gauges"]),
        ("replacing sourcebook.yaml", ["replaced", "sourcebook.yaml"]),
        ("Haus", ["Häuser", "Haus"]),
        ("圖書館", ["圖書", "館"]),
        ("resume", ["résumé", "RESUME"]),
    ],
)
def test_words_are_highlighted_in_whichever_form(knowledge: KnowledgeBase, query: str, expected: list[str]) -> None:
    assert words(first(knowledge, query)) == expected


def test_the_snippet_is_the_part_that_answers(knowledge: KnowledgeBase) -> None:
    """Its highlights are at the same words."""
    hit = first(knowledge, "battery")
    assert "batteries" in hit.snippet
    assert hit.text[hit.snippet_start :].startswith(hit.snippet)
    assert [hit.snippet[start:end] for start, end in hit.snippet_highlights] == ["batteries"]
    assert hit.as_dict()["snippet_highlights"] == hit.snippet_highlights

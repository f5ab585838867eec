"""Stand-ins for misspelt words, with `typos`."""

from collections.abc import Iterator

import pytest

from sourcebook import KnowledgeBase
from sourcebook.contract.search_results import SearchResults
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from tests.integration.word_corpus import Written, new_corpus, word_database


@pytest.fixture(scope="module")
def database(server: EmbeddedServer) -> Iterator[Database]:
    with word_database(server) as database, database.connection() as connection:
        new_corpus(connection).write(
            {
                0: Written(("the thermometer is broken",)),
                1: Written(("a wooden pole",)),
                2: Written(("salt, sand, ice", "wooden and wooded banks")),
                3: Written(("gauge",)),
            }
        )
        yield database


@pytest.fixture
def knowledge(database: Database) -> KnowledgeBase:
    return KnowledgeBase(database)


def numbers(hits: SearchResults) -> list[int]:
    return [int(hit.uri.rsplit("/", 1)[1]) for hit in hits]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("brokn", {0}),
        ("brokenn", {0}),
        ("bruken", {0}),
        ("borken", {0}),
        ("rboken", {0}),
        ("brokne", {0}),
        ("brkoen", {0}),
        ("roken", {0}),
        ("bbroken", {0}),
        ("gaug", {3}),
        ("guage", {3}),
        ("thermoemter", {0}),
        ("termometer", {0}),
        ("thermmoometer", {0}),
        ("thermometrr", {0}),
        ("thermoetmer", {0}),
        ("wooden plole", {1, 2}),
    ],
)
def test_the_nearest_words_stand_in_where_asked_for(knowledge: KnowledgeBase, asked: str, found: set[int]) -> None:
    """A letter less, more, other, or swapped with the next, wherever in the word; two of them in one half of a long
    word. Without `typos` none is forgiven."""
    assert set(numbers(knowledge.search(asked, mode="keyword", typos=True))) == found
    if " " not in asked:
        assert numbers(knowledge.search(asked, mode="keyword")) == []


@pytest.mark.parametrize("asked", ["bruk", "brukne", "icf", "slt", "sxxt", "thermomxxxer", "12345", "woodens3"])
def test_what_is_too_far_stays_unknown(knowledge: KnowledgeBase, asked: str) -> None:
    """Two mistakes in a short word, one in a very short one, three in any, and whatever is no word."""
    assert numbers(knowledge.search(asked, mode="keyword", typos=True)) == []


def test_a_known_word_stands_for_itself_and_above_its_stand_ins(knowledge: KnowledgeBase) -> None:
    known, strict = (knowledge.search("wooden", mode="keyword", typos=typos) for typos in (True, False))
    assert [hit.keyword_score for hit in known] == [hit.keyword_score for hit in strict]
    misspelt = knowledge.search("woden", mode="keyword", typos=True)
    assert numbers(misspelt) == numbers(known)
    for wrong, right in zip(misspelt, known, strict=True):
        assert wrong.keyword_score == pytest.approx(0.8 * (right.keyword_score or 0), rel=1e-5)


def test_a_page_of_rubbish_is_looked_up_in_reasonable_time(knowledge: KnowledgeBase) -> None:
    """Only so many unknown words are looked at, as each takes a moment; known ones are found beside them."""
    rubbish = " ".join(f"qwrt{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}z" for n in range(676))
    hits = knowledge.search(f"{rubbish} gauge", mode="keyword", typos=True, min_relevance=0)
    assert numbers(hits) == [3]
    assert hits.took_ms < 10_000

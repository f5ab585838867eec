"""Operators that no passage fulfils, operators in running text, and words that a query repeats."""

from collections.abc import Iterator

import pytest

from sourcebook import KnowledgeBase
from sourcebook.contract.search_results import SearchResults
from sourcebook.database.embedded import EmbeddedServer
from tests.integration.word_corpus import Written, new_corpus, word_database


@pytest.fixture(scope="module")
def knowledge(server: EmbeddedServer) -> Iterator[KnowledgeBase]:
    with word_database(server) as database, database.connection() as connection:
        new_corpus(connection).write(
            {
                0: Written(("the cut of the power was long",)),
                1: Written(("a wooden pole and salt",)),
                2: Written(("salt and gravel",)),
                3: Written(("gravel and gravel and gravel and a pole",)),
                4: Written(("the option -Wall of sieve warns of stones",)),
                5: Written(("the option -O2 of sieve runs quickly",)),
            }
        )
        yield KnowledgeBase(database)


def numbers(hits: SearchResults) -> list[int]:
    return [int(hit.uri.rsplit("/", 1)[1]) for hit in hits]


def test_conditions_that_no_passage_fulfils_are_given_up_with_a_note(knowledge: KnowledgeBase) -> None:
    """The phrase first; the exclusion holds as long as it leaves a passage. `literal=False` keeps all of them."""
    assert not knowledge.search('"power cut"', mode="keyword", literal=False)
    hits = knowledge.search('"power cut"', mode="keyword")
    assert numbers(hits) == [0]
    assert any("no passage fulfils the query with 'power cut'" in note for note in hits.notes)
    assert set(numbers(knowledge.search('"salt pole" -wooden', mode="keyword"))) == {2, 3}
    hits = knowledge.search("salt -and", mode="keyword")
    assert set(numbers(hits)) == {1, 2}


def test_pages_of_a_relaxed_query_go_on_from_one_another(knowledge: KnowledgeBase) -> None:
    first = knowledge.search('"salt pole"', mode="keyword", limit=2)
    second = knowledge.search('"salt pole"', mode="keyword", limit=2, offset=first.next_offset or 0)
    assert sorted(numbers(first) + numbers(second)) == [1, 2, 3]


def test_a_word_that_passages_have_with_its_dash_is_an_option_and_no_exclusion(knowledge: KnowledgeBase) -> None:
    """An exclusion is said in a note; `literal=False` makes one of every dash."""
    assert numbers(knowledge.search("sieve -Wall", mode="keyword"))[0] == 4
    assert not knowledge.search("sieve -Wall", mode="keyword").notes
    hits = knowledge.search("sieve -stones", mode="keyword")
    assert numbers(hits) == [5]
    assert any("passages with 'stones' are left out" in note for note in hits.notes)
    assert numbers(knowledge.search("sieve -Wall", mode="keyword", literal=False)) == [5]


def test_filters_are_never_given_up(knowledge: KnowledgeBase) -> None:
    assert not knowledge.search('"power cut"', mode="keyword", filters={"kind": "page"})


def test_a_quotation_in_a_question_is_no_condition(knowledge: KnowledgeBase) -> None:
    """A note says so, and the option makes it one."""
    question = 'Is there any place where salt is called "gravel pole"?'
    hits = knowledge.search(question, mode="keyword", min_relevance=0)
    assert numbers(hits)[0] in {1, 2}
    assert any("running text" in note for note in hits.notes)
    assert not knowledge.search(question, mode="keyword", literal=False)


def test_a_word_that_the_query_repeats_counts_as_often(knowledge: KnowledgeBase) -> None:
    """BM25's query term frequency: the score of a word alone is multiplied."""
    once, twice = (knowledge.search(query, mode="keyword") for query in ("gravel", "gravel gravel"))
    assert [hit.keyword_score for hit in twice] == pytest.approx([2 * (hit.keyword_score or 0) for hit in once])
    assert numbers(knowledge.search("wooden gravel", mode="keyword"))[0] == 1
    assert numbers(knowledge.search("wooden gravel gravel gravel", mode="keyword"))[0] == 3

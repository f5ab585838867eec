"""The snippet of a passage without a word of the query: its beginning, or the sentence nearest in meaning."""

import pytest

from sourcebook.errors import QueryError
from tests.integration.stages import Stages

STATION = """# Station

The station stands on a hill above the harbour and was painted white.

## Heating

Warm rooms come from an oil burner in the cellar.

## Kitchen

Bread is baked on Fridays. Two cooks prepare soup for everybody.
"""
QUERY = "who makes meals"


@pytest.fixture
def library(stages: Stages) -> Stages:
    stages.write("station.md", STATION)
    stages.configure()
    stages.run()
    return stages


def test_the_snippet_and_the_place_are_those_of_the_nearest_sentence(library: Stages) -> None:
    """No word of the query stands in the passage: by default the snippet is its beginning."""
    (plain,) = library.search(QUERY, mode="vector")
    (found,) = library.search(QUERY, mode="vector", snippets="meaning")
    assert plain.highlights == found.highlights == ()
    assert plain.snippet.startswith("# Station")
    assert (found.snippet, found.anchor) == ("Two cooks prepare soup for everybody.", "kitchen")


def test_one_sentence_of_a_passage_that_speaks_of_several_things_answers(library: Stages) -> None:
    """As a whole it is as far from them as from questions of something else, which are refused."""
    for asked in ("On what day is bread made?", "What does the burner burn?"):
        (found,) = library.search(asked, min_relevance=None)
        assert found.title == "Station"
    for asked in ("How do I renew my passport?", "Who won the cup in 1998?"):
        assert library.search(asked, min_relevance=None).nothing_relevant


def test_words_of_the_query_decide_where_there_are_some(library: Stages) -> None:
    (found,) = library.search("cellar meals", snippets="meaning")
    assert found.anchor == "heating"
    with pytest.raises(QueryError, match="snippets is 'best'"):
        library.search(QUERY, snippets="best")

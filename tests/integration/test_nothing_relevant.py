"""Relevance with the real model: an answer is told from the best of what does not answer."""

from pathlib import Path

import pytest

from sourcebook.cli.passages import show_results
from sourcebook.search.ranking.relevance import RELEVANT_FROM
from tests.integration.stages import Stages

DOCUMENTS = {
    "tides.md": "# Tide gauge\n\nThe station runs on its batteries for thirty hours when the mains fail. "
    "Ice on the stilling well is broken with a wooden pole, never with salt.\n",
    "bread.md": "# Bread\n\nFlour, water and salt; bake for forty minutes until the crust is brown.\n",
    "leave.md": "# Leave\n\nEmployees have thirty days of leave a year. Unused days expire at the end of March.\n",
    "travel.md": "# Travel expenses\n\nA trip is paid for after its receipts are handed in, within four weeks.\n",
}
ANSWERED = {
    "How long do the batteries of the station last?": "tides.md",
    "When do unused days of leave expire?": "leave.md",
    "How long must bread be baked?": "bread.md",
    "wooden pole": "tides.md",
    "receipts": "travel.md",
}
UNANSWERED = (
    "What is the capital of Peru?",
    "Who painted the ceiling of the Sistine Chapel?",
    "Which enzyme unwinds the double helix of DNA?",
)


@pytest.fixture(scope="module")
def filled(shared_stages: Stages) -> Stages:
    """Four documents, read by all tests and changed by none."""
    for name, text in DOCUMENTS.items():
        shared_stages.write(name, text)
    shared_stages.configure()
    shared_stages.run()
    return shared_stages


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_answers_are_relevant(filled: Stages, mode: str) -> None:
    """By both legs or by one of them alone, the passage that answers is likely to, more than the others."""
    for question, name in ANSWERED.items():
        hits = filled.search(question, mode=mode, min_relevance=None)
        assert (hits.nothing_relevant, hits.withheld) == (False, 0), question
        assert Path(hits[0].uri).name == name
        assert all(hits[0].relevance > hit.relevance >= 0 for hit in hits[1:]), question
        assert hits[0].relevance > (0.25 if mode == "hybrid" else RELEVANT_FROM), question


def test_an_answer_in_other_words_is_not_refused(filled: Stages) -> None:
    """No passage holds a word of the query, and vector search finds the one that is meant."""
    hits = filled.search("holiday entitlement", min_relevance=None)
    assert Path(hits[0].uri).name == "leave.md"
    assert not hits.nothing_relevant


@pytest.mark.parametrize("mode", ["hybrid", "vector"])
@pytest.mark.parametrize("question", UNANSWERED)
def test_questions_about_something_else_are_refused(
    filled: Stages, capsys: pytest.CaptureFixture[str], mode: str, question: str
) -> None:
    """The search says so; what it found is shown on request."""
    refused = filled.search(question, mode=mode, min_relevance=None)
    assert (len(refused), refused.nothing_relevant, refused.withheld) == (0, True, 4)
    assert str(refused) == "Nothing relevant was found."
    show_results(refused)
    assert "Nothing relevant was found. 4 passages left out; --all shows them.\n" in capsys.readouterr().out
    everything = filled.search(question, mode=mode, min_relevance=0)
    assert (len(everything), everything.nothing_relevant, everything.withheld) == (4, True, 0)
    assert max(hit.relevance for hit in everything) < RELEVANT_FROM


def test_a_filter_changes_no_relevance(filled: Stages) -> None:
    """Relevance is a property of query and passage: that of a document alone is that of the document among others."""
    for question, name in ANSWERED.items():
        among = {hit.uri: hit.relevance for hit in filled.search(question)}
        hits = filled.search(question, min_relevance=None, filters={"documents": [filled.uri(name)]})
        assert [(hit.uri, hit.relevance) for hit in hits] == [(filled.uri(name), among[filled.uri(name)])], question
    for question in UNANSWERED:
        refused = filled.search(question, min_relevance=None, filters={"documents": [filled.uri("bread.md")]})
        assert refused.nothing_relevant, question


def test_a_least_relevance_leaves_out_the_others(filled: Stages) -> None:
    """The least relevant of what is shown is relevant enough; the page counts what it leaves out."""
    everything = filled.search("How long do the batteries of the station last?")
    least = everything[0].relevance
    hits = filled.search("How long do the batteries of the station last?", min_relevance=least)
    assert [hit.uri for hit in hits] == [everything[0].uri]
    assert hits.withheld == len(everything) - 1
    assert (hits.total_candidates, everything.total_candidates) == (1, len(everything))


def test_all_pages_say_the_same(filled: Stages) -> None:
    """The second page of an answered question has its passages, however little they answer; one passage has one
    relevance on every page."""
    question = "When do unused days of leave expire?"
    whole = filled.search(question, limit=4)
    second = filled.search(question, limit=1, offset=1, min_relevance=None)
    assert [hit.relevance for hit in second] == [whole[1].relevance]
    assert not second.nothing_relevant
    refused = filled.search(UNANSWERED[0], limit=1, offset=1, min_relevance=None)
    assert (len(refused), refused.nothing_relevant) == (0, True)


def test_a_phrase_that_was_asked_for_is_an_answer(filled: Stages) -> None:
    """A passage that fulfils the query's phrase is shown, however much else the query says."""
    hits = filled.search('capital of Peru "wooden pole"', min_relevance=None)
    assert [Path(hit.uri).name for hit in hits] == ["tides.md"]


def test_it_is_explained(filled: Stages) -> None:
    """Each passage of the page, the withheld ones included, has the quantities behind its relevance."""
    explanation = filled.search(UNANSWERED[0], min_relevance=None, explain=True).explanation
    assert explanation is not None
    assert len(explanation.relevance) == 4
    assert "\nrelevance  1. 0.0" in str(explanation)
    assert ": intercept adds -" in str(explanation)


def test_grouped_reranked_or_diverse_pages_have_a_relevance(filled: Stages) -> None:
    question = "When do unused days of leave expire?"
    for options in ({"group_by": "document"}, {"diversity": 0.5}, {"neighbours": 1}, {"fusion": "rrf"}):
        assert filled.search(question, min_relevance=None, **options)[0].relevance > 0.1, options

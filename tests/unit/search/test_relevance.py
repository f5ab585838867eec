"""Relevance: what the legs found, as a probability that compares between searches."""

from dataclasses import replace

import pytest

from sourcebook.search.query_terms import QueryTerm
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.leg import LegResult
from sourcebook.search.ranking.relevance import FITTED, RELEVANT_FROM, Background, Evidence

MINILM = ["all-MiniLM-L6-v2:53aa51172d14"]
TERMS = (QueryTerm("batteri", 2, {1: 7}, 3.0), QueryTerm("winter", 9, {1: 8}, 1.0))
LEGS = {
    "vector": LegResult([(1, 0.7), (2, 0.4), (3, 0.2)]),
    "keyword": LegResult([(1, 6.0), (4, 2.0)], terms=TERMS),
}
FIRST = Candidate(1, 2.0, 100, vector_rank=1, vector_score=0.7, keyword_rank=1, keyword_score=6.0)
SECOND = Candidate(2, 0.5, 100, vector_rank=2, vector_score=0.4)
ANSWER = Evidence(cosine=0.65, cosine_margin=0.15, matched=0.8, keyword_margin=0.4)
STRANGER = Evidence(cosine=0.15, cosine_margin=0.02, matched=0.05, keyword_margin=0.01)


def test_an_answer_and_a_passage_about_something_else() -> None:
    """The best passage of a search that finds nothing useful is not relevant, although it is the best."""
    assert FITTED.relevance(ANSWER) > 0.8
    assert FITTED.relevance(STRANGER) < RELEVANT_FROM


@pytest.mark.parametrize("quantity", ["cosine", "cosine_margin", "matched", "keyword_margin"])
def test_more_of_each_quantity_is_more_relevant(quantity: str) -> None:
    more = replace(ANSWER, **{quantity: getattr(ANSWER, quantity) + 0.1})
    assert 0 < FITTED.relevance(ANSWER) < FITTED.relevance(more) < 1


@pytest.mark.parametrize(
    "known",
    [
        Evidence(matched=0.9, keyword_margin=0.5),
        Evidence(cosine=0.7, cosine_margin=0.2),
        Evidence(standing=6.0, cosine_margin=0.2, matched=0.9, keyword_margin=0.5),
    ],
)
def test_without_one_of_the_legs(known: Evidence) -> None:
    """Words alone, vectors alone, and vectors of a model that nothing was fitted on are enough for a relevance."""
    assert FITTED.relevance(known) > 0.5


def test_a_passage_that_no_leg_knows() -> None:
    assert FITTED.relevance(Evidence()) == 0.0
    assert FITTED.explain(Evidence()) == "0.00: no leg found the passage"


def test_a_language_that_the_model_has_not_learnt() -> None:
    """Its cosines are high for any two texts, and count for nothing."""
    words = FITTED.relevance(Evidence(matched=0.1, keyword_margin=0.0))
    near = Evidence(cosine=0.8, cosine_margin=0.1, matched=0.1, keyword_margin=0.0, language_weight=0.0)
    assert FITTED.relevance(near) == pytest.approx(words)
    half = FITTED.relevance(replace(near, language_weight=0.5))
    assert words < half < FITTED.relevance(replace(near, language_weight=1.0))


def test_the_evidence_of_a_search() -> None:
    """Margins are above 0 for the best passage of a leg alone; words count by their idf."""
    background = Background.of(LEGS, MINILM)
    first = background.evidence(FIRST, ["batteri"])
    assert first.cosine == 0.7
    assert first.cosine_margin == pytest.approx(0.3)
    assert first.matched == pytest.approx(0.75)
    assert first.keyword_margin == 1.0, "never above 1"
    second = background.evidence(SECOND)
    assert second.cosine_margin == pytest.approx(-0.3)
    assert (second.matched, second.keyword_margin) == (0.0, -1.0)


def test_words_that_no_passage_holds_count_against_all() -> None:
    """A query of unknown words is not matched by the one word that is known."""
    unknown = QueryTerm("zeppelin", 0, {}, 8.0)
    legs = {"keyword": replace(LEGS["keyword"], terms=(*TERMS, unknown))}
    assert Background.of(legs, MINILM).evidence(FIRST, ["batteri", "winter"]).matched == pytest.approx(4 / 12)


def test_a_passage_that_one_leg_did_not_find() -> None:
    """It is at most as near as the last passage that the vector leg gave; it has none of the words."""
    found_by_words = Candidate(4, 0.3, 100, keyword_rank=2, keyword_score=2.0)
    known = Background.of(LEGS, MINILM).evidence(found_by_words, ["winter"])
    assert known.cosine == 0.2
    assert known.matched == 0.25


def test_words_that_no_passage_holds_leave_the_judgment_to_the_vectors() -> None:
    """`vacation` may be what a passage calls leave; in a language that the model has not learnt, it is unknown."""
    legs = {**LEGS, "keyword": LegResult(terms=(QueryTerm("vacat", 0, {}, 5.0),))}
    near = Background.of(legs, MINILM).evidence(FIRST)
    assert (near.matched, near.keyword_margin) == (0.0, None)
    assert FITTED.relevance(near) == FITTED.relevance(replace(near, matched=None))
    assert FITTED.relevance(replace(near, language_weight=0.0)) < RELEVANT_FROM


def test_the_only_passage_has_no_nearer_one() -> None:
    """The next passage of the keyword leg has a score of 0; vectors of one passage tell no margin."""
    legs = {"vector": LegResult([(1, 0.7)]), "keyword": LegResult([(1, 1.0)], terms=TERMS)}
    alone = FIRST._replace(keyword_score=1.0)
    known = Background.of(legs, MINILM).evidence(alone, ["batteri"])
    assert (known.cosine_margin, known.keyword_margin) == (0.0, 0.25)


def test_cosines_of_another_model_are_compared_with_their_own() -> None:
    """Some models give any two texts .8: what counts is how far a passage stands out."""
    flat = {"vector": LegResult([(1, 0.9), *((number, 0.8) for number in range(2, 50))])}
    known = Background.of(flat, ["other:1", *MINILM]).evidence(FIRST._replace(vector_score=0.9))
    assert known.cosine is None
    assert known.standing is not None
    assert known.standing > 5
    alike = {"vector": LegResult([(number, 0.8) for number in range(1, 50)])}
    plain = Background.of(alike, ["other:1"]).evidence(FIRST._replace(vector_score=0.8))
    assert FITTED.relevance(plain) < FITTED.relevance(known)
    assert not Background.of(flat, ["other:1"]).can_refuse, "the best of them stands out also where none answers"
    assert Background.of(flat, MINILM).can_refuse
    assert Background.of(flat | {"keyword": LEGS["keyword"]}, ["other:1"]).can_refuse
    unheld = replace(LEGS["keyword"], ranking=[])
    assert not Background.of(flat | {"keyword": unheld}, ["other:1"]).can_refuse, "a question in another language"
    assert not Background.of({"keyword": LEGS["keyword"]}, MINILM).can_refuse, "its words were asked for"


def test_an_explanation_adds_up() -> None:
    said = FITTED.explain(ANSWER)
    assert said.startswith(f"{FITTED.relevance(ANSWER):.2f}: intercept adds -")
    assert "cosine 0.65 adds +" in said
    assert "keyword margin 0.40 adds +" in said

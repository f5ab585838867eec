"""Relevance: a property of query and passage, as a probability that compares between searches."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from sourcebook.embedding.weights import BUNDLED_NAME, MULTILINGUAL_DIMENSIONS, MULTILINGUAL_NAME
from sourcebook.search.query_terms import QueryTerm, idf
from sourcebook.search.ranking.evidence import LARGEST_RISE, bounded_order
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.language_free import FILE, similarity
from sourcebook.search.ranking.leg import LegResult
from sourcebook.search.ranking.relevance import FITTED, RELEVANT_FROM, Background, Evidence

MINILM = f"{BUNDLED_NAME}:53aa51172d14"


def _towards(cosine: float) -> NDArray[np.float32]:
    """Return a vector of length 1 in two dimensions whose cosine to (1, 0) is given."""
    return np.array([cosine, (1 - cosine**2) ** 0.5], np.float32)


def _random(seed: int) -> NDArray[np.float32]:
    """Return a vector of length 1 in the dimensions of multilingual-e5-small."""
    vector = np.random.default_rng(seed).normal(size=MULTILINGUAL_DIMENSIONS)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


ASKED = _towards(1.0)
MULTILINGUAL = f"{MULTILINGUAL_NAME}:cd1caf181241"
TERMS = (QueryTerm("batteri", 2, {1: 7}, 3.0), QueryTerm("winter", 9, {1: 8}, 1.0))
LEGS = {
    "vector": LegResult([(1, 0.7), (2, 0.4), (3, 0.2)], vectors={MINILM: ASKED}),
    "keyword": LegResult([(1, 6.0), (4, 2.0)], terms=TERMS),
}
FIRST = Candidate(1, 2.0, 100, vector_rank=1, vector_score=0.7, keyword_rank=1, keyword_score=6.0)
SECOND = Candidate(2, 0.5, 100, vector_rank=2, vector_score=0.4)
BY_WORDS = Candidate(4, 0.3, 100, keyword_rank=2, keyword_score=2.0)
ANSWER = Evidence(cosine=0.65, matched=0.8)
STRANGER = Evidence(cosine=0.15, matched=0.05)


def test_an_answer_and_a_passage_about_something_else() -> None:
    """The best passage of a search that finds nothing useful is not relevant, although it is the best."""
    assert FITTED.relevance(ANSWER) > 0.6
    assert FITTED.relevance(STRANGER) < RELEVANT_FROM


@pytest.mark.parametrize("quantity", ["cosine", "matched"])
def test_more_of_each_quantity_is_more_relevant(quantity: str) -> None:
    more = replace(ANSWER, **{quantity: getattr(ANSWER, quantity) + 0.1})
    assert 0 < FITTED.relevance(ANSWER) < FITTED.relevance(more) < 1


@pytest.mark.parametrize(
    "known",
    [
        Evidence(matched=0.9),
        Evidence(cosine=0.7),
        Evidence(cosine=0.9, standing=6.0, matched=0.9, model="another"),
    ],
)
def test_without_one_of_the_legs(known: Evidence) -> None:
    """Words alone, vectors alone, and vectors of a model that is not calibrated are enough for a relevance."""
    assert FITTED.relevance(known) > 0.5


def test_a_passage_that_no_leg_knows() -> None:
    assert FITTED.relevance(Evidence()) == 0.0
    assert FITTED.explain(Evidence()) == "0.00: no leg found the passage"


def test_a_language_that_the_model_has_not_learnt() -> None:
    """Its cosines are high for any two texts, and count for nothing."""
    words = FITTED.relevance(Evidence(matched=0.1))
    near = Evidence(cosine=0.8, matched=0.1, language_weight=0.0)
    assert FITTED.relevance(near) == pytest.approx(words)
    half = FITTED.relevance(replace(near, language_weight=0.5))
    assert words < half < FITTED.relevance(replace(near, language_weight=1.0))


def test_the_evidence_of_a_search() -> None:
    """Words count by their idf."""
    background = Background.of(LEGS)
    first = background.evidence(FIRST, ["batteri"], MINILM)
    assert (first.cosine, first.standing, first.model) == (0.7, None, BUNDLED_NAME)
    assert first.matched == pytest.approx(0.75)
    assert background.evidence(SECOND, model=MINILM).matched == 0.0


def test_what_else_was_found_changes_no_relevance() -> None:
    """A filter that leaves one passage, or better ones beside it, say nothing about it."""
    few = {
        "vector": replace(LEGS["vector"], ranking=[(2, 0.4)]),
        "keyword": replace(LEGS["keyword"], ranking=[]),
    }
    among_others, alone = (Background.of(legs).evidence(SECOND, ["winter"], MINILM) for legs in (LEGS, few))
    assert among_others == alone
    assert Background.of(few).can_refuse


def test_words_that_no_passage_holds_count_against_all() -> None:
    """A query of unknown words is not matched by the one word that is known."""
    unknown = QueryTerm("zeppelin", 0, {}, 8.0)
    legs = {"keyword": replace(LEGS["keyword"], terms=(*TERMS, unknown))}
    assert Background.of(legs).evidence(FIRST, ["batteri", "winter"]).matched == pytest.approx(4 / 12)


def test_the_size_of_the_collections_hardly_matters() -> None:
    """Among four passages a word of one weighs nearly as much as a word of none, as it does among five thousand."""
    shares = []
    for entries in (4, 5_000):
        counts = {"bath": 1, "mercuri": 1, "heavi": 0}
        terms = [
            QueryTerm(token, known, {1: 1} if known else {}, idf(known, entries), all_entries=entries)
            for token, known in counts.items()
        ]
        legs = {"keyword": LegResult([(1, 2.0)], terms=tuple(terms))}
        shares.append(Background.of(legs).evidence(FIRST, ["bath", "mercuri"]).matched)
    assert shares == pytest.approx([0.63, 0.63], abs=0.03)


def test_a_passage_that_the_vector_leg_did_not_find() -> None:
    """Its own vector tells its cosine; without one it is at most as near as the last passage of the leg."""
    background = Background.of(LEGS)
    assert background.evidence(BY_WORDS, ["winter"], MINILM, _towards(0.1)).cosine == pytest.approx(0.1)
    known = background.evidence(BY_WORDS, ["winter"], MINILM)
    assert (known.cosine, known.matched) == (0.2, 0.25)


def test_words_that_no_passage_holds_leave_the_judgment_to_the_vectors() -> None:
    """`vacation` may be what a passage calls leave; in a language that the model has not learnt, it is unknown."""
    legs = {**LEGS, "keyword": LegResult(terms=(QueryTerm("vacat", 0, {}, 5.0),))}
    near = Background.of(legs).evidence(FIRST, model=MINILM)
    assert (near.matched, near.has_known_words) == (0.0, False)
    assert FITTED.relevance(near) == FITTED.relevance(replace(near, matched=None))
    assert FITTED.relevance(replace(near, language_weight=0.0)) < RELEVANT_FROM


def test_cosines_of_another_model_are_compared_with_their_own() -> None:
    """Some models give any two texts .8: what counts is how far a passage stands out."""
    flat = {"vector": LegResult([(1, 0.9), *((number, 0.8) for number in range(2, 50))], vectors={"other:1": ASKED})}
    near = FIRST._replace(vector_score=0.9)
    known = Background.of(flat).evidence(near, model="other:1")
    assert known.standing is not None
    assert known.standing > 5
    alike = {"vector": LegResult([(number, 0.8) for number in range(1, 50)], vectors={"other:1": ASKED})}
    plain = Background.of(alike).evidence(FIRST._replace(vector_score=0.8), model="other:1")
    assert FITTED.relevance(plain) < FITTED.relevance(known)
    assert not Background.of(flat).can_refuse, "the best of them stands out also where none answers"
    assert Background.of(LEGS).can_refuse
    assert Background.of(flat | {"keyword": LEGS["keyword"]}).can_refuse
    unheld = replace(LEGS["keyword"], ranking=[], terms=(QueryTerm("vacat", 0, {}, 5.0),))
    assert not Background.of(flat | {"keyword": unheld}).can_refuse, "a question in another language"
    assert not Background.of({"keyword": LEGS["keyword"]}).can_refuse, "its words were asked for"


def test_each_passage_is_judged_by_its_own_model() -> None:
    """Collections of two models may be searched at once."""
    asked = _random(1)
    legs = {"vector": replace(LEGS["vector"], vectors={MINILM: ASKED, MULTILINGUAL: asked})}
    background = Background.of(legs)
    other = background.evidence(FIRST, model=MULTILINGUAL, vector=_random(2))
    assert (other.model, other.cosine == FIRST.vector_score) == (MULTILINGUAL_NAME, False)
    assert background.evidence(FIRST, model=MINILM).model == BUNDLED_NAME
    assert background.can_refuse
    shortened = background.evidence(FIRST, model=MULTILINGUAL, vector=_towards(0.5))
    assert (shortened.model, shortened.cosine) == ("", FIRST.vector_score)


def test_what_a_vector_says_of_the_language_does_not_count() -> None:
    """A passage moved along the directions of languages is as near as before, and in another language."""
    _, mean, *directions = np.load(FILE).astype(np.float32)
    asked, passage = _random(3), _random(4)
    moved = passage + 0.5 * directions[0] - 0.3 * directions[5]
    assert similarity(asked, moved).cosine == pytest.approx(similarity(asked, passage).cosine, abs=1e-3)
    assert similarity(asked, moved).language != pytest.approx(similarity(asked, passage).language, abs=1e-2)
    assert similarity(asked, mean).cosine == pytest.approx(0.0, abs=1e-3), "the mean passage is about nothing"


def test_an_answer_in_another_language_lacks_the_words_of_the_query() -> None:
    """Words that it lacks count half, words that it has count whole."""
    answer = Evidence(cosine=0.35, language=0.8, matched=0.0, model=MULTILINGUAL_NAME)
    translated = replace(answer, language=-0.2)
    alone = FITTED.relevance(replace(translated, matched=None))
    assert FITTED.relevance(answer) < FITTED.relevance(translated) < alone
    assert FITTED.relevance(replace(translated, matched=1.0)) > alone
    unheld = replace(answer, has_known_words=False)  # as half of the words, where no passage has one of them
    assert FITTED.relevance(answer) < FITTED.relevance(unheld) < FITTED.relevance(replace(unheld, matched=None))


@pytest.mark.parametrize(
    ("relevances", "order"),
    [
        ([0.9, 0.5, 0.1], [0, 1, 2]),
        ([0.04, 0.04, 0.18], [2, 0, 1]),
        ([0.5, 0.58, 0.55], [0, 1, 2]),
        ([0.2, 0.9, 0.25, 0.6], [1, 3, 0, 2]),
        ([0.1, 0.19, 0.25], [2, 0, 1]),
        ([], []),
    ],
)
def test_the_relevance_rises_little_down_a_page(relevances: list[float], order: list[int]) -> None:
    """A passage moves before what is clearly less relevant, and nowhere else."""
    assert bounded_order(relevances) == order


def test_no_order_leaves_a_larger_rise() -> None:
    """Between any two places, for any relevances."""
    for seed in range(50):
        relevances = list(np.random.default_rng(seed).random(10).round(2))
        ordered = [relevances[place] for place in bounded_order(relevances)]
        assert sorted(ordered) == sorted(relevances)
        assert all(later <= earlier + LARGEST_RISE for at, earlier in enumerate(ordered) for later in ordered[at:])
        assert all(later <= earlier + LARGEST_RISE for earlier, later in pairwise(ordered))


def test_an_explanation_adds_up() -> None:
    said = FITTED.explain(ANSWER)
    assert said.startswith(f"{FITTED.relevance(ANSWER):.2f}: intercept adds -")
    assert "cosine 0.65 adds +" in said
    assert "matched 0.80 adds +" in said

"""The benchmark's logistic regression and calibration error."""

import numpy as np
import pytest

from benchmarks.corpora.asked_questions import asked_questions, collections_of
from benchmarks.corpora.judged_sets import RetrievalSet
from benchmarks.harness.calibration import expected_calibration_error, fit_logistic, reliability


def test_the_regression_finds_what_made_the_outcomes() -> None:
    random = np.random.default_rng(7)
    quantities = random.normal(size=(20_000, 2))
    chance = 1 / (1 + np.exp(-(quantities @ [2.0, -1.0] - 0.5)))
    outcomes = (random.random(20_000) < chance).astype(float)
    assert fit_logistic(quantities, outcomes, np.ones(20_000)) == pytest.approx([-0.5, 2.0, -1.0], abs=0.08)


def test_the_error_is_the_mean_difference() -> None:
    """Of two tenths of the scale, one is right and one off by .3; weights count."""
    predicted, outcomes = [0.5, 0.5, 0.8, 0.8], [0.0, 1.0, 0.0, 1.0]
    assert expected_calibration_error(reliability(predicted, outcomes, [1, 1, 1, 1])) == pytest.approx(0.15)
    assert expected_calibration_error(reliability(predicted, outcomes, [3, 3, 1, 1])) == pytest.approx(0.075)


def judged(name: str) -> RetrievalSet:
    numbers = range(200)
    return RetrievalSet(
        {f"{name}{number}": ("", f"text {number}") for number in numbers},
        {f"{name}?{number}": f"question {number}" for number in numbers},
        {f"{name}?{number}": {f"{name}{number}": 1} for number in numbers},
    )


def test_no_question_is_asked_as_foreign_where_it_is_answered() -> None:
    """Also not in another language; the questions of left-out documents are asked where those are missing."""
    asked = list(asked_questions(collections_of({"sea": judged("s"), "land-en": judged("l"), "land-de": judged("l")})))
    foreign = {(each.collection, next(iter(each.questions))[0]) for each in asked if each.kind == "foreign"}
    assert foreign == {
        *(("sea", "l"), ("sea-small", "l")),
        *((name, "s") for name in ("land-en", "land-de", "land-en-small", "land-de-small")),
    }
    for each in asked:
        if each.kind == "own":
            assert each.questions.keys() <= each.relevant.keys()
        if each.kind == "removed":
            own = next(other for other in asked if (other.collection, other.kind) == (each.collection, "own"))
            assert each.questions
            assert not each.questions.keys() & own.questions.keys()

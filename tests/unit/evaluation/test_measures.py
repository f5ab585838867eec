"""Measures have the values that their definitions give by hand."""

from math import log2

import pytest

from sourcebook.config.evaluation import MEASURES, Measure
from sourcebook.evaluation.measures import measures_within, score


def scored(grades: dict[str, int], ranking: list[str]) -> dict[Measure, float]:
    """Score one query."""
    return score({"q": grades}, {"q": ranking}, MEASURES)["q"]


def test_ndcg_is_what_its_definition_gives_by_hand() -> None:
    """Grades 3, 2, 1 and a ranking that puts them on ranks 2, 1 and 4."""
    found = scored({"a": 3, "b": 2, "c": 1, "no": 0}, ["b", "a", "no", "c", "unjudged"])
    gain = 2 / log2(2) + 3 / log2(3) + 1 / log2(5)
    best = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert found["ndcg@10"] == pytest.approx(gain / best)
    assert scored({"a": 3, "b": 2, "c": 1}, ["a", "b", "c"])["ndcg@10"] == pytest.approx(1.0)


def test_ndcg_looks_at_ten_documents_only() -> None:
    """The eleventh adds nothing, to the ranking as to the best one."""
    wrong = [f"no{number}" for number in range(10)]
    assert scored({"a": 1}, [*wrong, "a"])["ndcg@10"] == 0
    many = {f"d{number}": 1 for number in range(20)}
    assert scored(many, list(many))["ndcg@10"] == pytest.approx(1.0)


def test_reciprocal_rank_is_that_of_the_first_relevant_document() -> None:
    """At any rank, and 0 where there is no relevant document."""
    grades = {"a": 1, "b": 1}
    assert scored(grades, ["x", "y", "b", "a"])["mrr"] == pytest.approx(1 / 3)
    assert scored(grades, [*(f"x{number}" for number in range(39)), "a"])["mrr"] == pytest.approx(1 / 40)
    assert scored(grades, ["x"])["mrr"] == 0


def test_recall_and_precision_count_relevant_documents() -> None:
    """Recall is of all relevant ones, precision of ten places even where fewer were found."""
    grades = {f"d{number}": 1 for number in range(4)}
    ranking = ["d0", "x", "d1", *(f"y{number}" for number in range(20)), "d2"]
    found = scored(grades, ranking)
    assert found["recall@10"] == pytest.approx(0.5)
    assert found["recall@100"] == pytest.approx(0.75)
    assert found["p@10"] == pytest.approx(0.2)
    assert scored(grades, ["d0", "d1"])["p@10"] == pytest.approx(0.2)


def test_the_order_of_the_ranking_decides_not_the_names() -> None:
    """Names that sort the other way change nothing: no two places are a tie."""
    assert scored({"z": 1}, ["z", "a"])["mrr"] == 1
    assert scored({"a": 1}, ["z", "a"])["mrr"] == pytest.approx(0.5)


@pytest.mark.parametrize("grade", [0, -1, -2])
def test_grades_of_zero_and_less_are_not_relevant(grade: int) -> None:
    """TREC marks spam with negative grades; they neither count as relevant nor lower a score."""
    found = scored({"a": 1, "spam": grade}, ["spam", "a"])
    assert found["mrr"] == pytest.approx(0.5)
    assert found["p@10"] == pytest.approx(0.1)
    assert found["ndcg@10"] == pytest.approx(1 / log2(3))


def test_a_query_that_finds_nothing_scores_zero() -> None:
    """It is not left out of the mean, also where no query finds anything."""
    nothing = dict.fromkeys(MEASURES, 0.0)
    both = score({"q": {"a": 1}, "r": {"a": 1}}, {"q": ["a"], "r": []}, MEASURES)
    assert both["r"] == nothing
    assert both["q"]["mrr"] == 1
    assert score({"r": {"a": 1}}, {"r": []}, MEASURES) == {"r": nothing}


def test_a_measure_that_looks_further_than_the_ranking_is_left_out() -> None:
    """recall@100 of fifty documents would be another measure under its name."""
    assert measures_within(100) == MEASURES
    assert measures_within(99) == ("ndcg@10", "mrr", "recall@10", "p@10")
    assert set(score({"q": {"a": 1}}, {"q": ["a"]}, measures_within(50))["q"]) == set(measures_within(50))

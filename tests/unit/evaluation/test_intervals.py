"""Intervals are repeatable, shrink with more queries, and contain the true mean."""

import numpy as np
import pytest

from sourcebook.evaluation.intervals import estimate_means


def test_the_same_values_give_the_same_interval() -> None:
    """Every run draws the same samples."""
    values = np.random.default_rng(1).random((40, 3))
    assert estimate_means(values) == estimate_means(values)
    assert estimate_means(values) != estimate_means(values, seed=99)


def test_the_mean_is_the_mean_and_lies_inside() -> None:
    """Column by column."""
    values = np.random.default_rng(2).random((50, 2))
    for column, estimate in enumerate(estimate_means(values)):
        assert estimate.mean == pytest.approx(values[:, column].mean())
        assert estimate.low < estimate.mean < estimate.high


def test_four_times_the_queries_halve_the_interval() -> None:
    """Its width is about 3.92 standard errors."""
    generator = np.random.default_rng(3)
    widths = []
    for queries in (100, 400, 1600):
        (estimate,) = estimate_means(generator.random((queries, 1)))
        widths.append(estimate.high - estimate.low)
        assert widths[-1] == pytest.approx(3.92 * np.sqrt(1 / 12 / queries), rel=0.12)
    assert widths[0] > 1.7 * widths[1] > 2.9 * widths[2]


def test_about_95_of_100_intervals_hold_the_true_mean() -> None:
    """Samples come from a known distribution."""
    generator = np.random.default_rng(4)
    held = 0
    for _ in range(200):
        (estimate,) = estimate_means(generator.beta(2, 1, (60, 1)), samples=1000)
        held += estimate.low <= 2 / 3 <= estimate.high
    assert 178 <= held <= 199


def test_a_paired_difference_is_narrower_than_the_parts_tell() -> None:
    """Two ways that are good at the same queries are distinguished although their own intervals overlap."""
    hard = np.random.default_rng(5).random(100)
    better = np.clip(hard + 0.05, 0, 1)
    first, second, difference = estimate_means(np.column_stack([better, hard, better - hard]))
    assert first.low < second.high
    assert difference.low > 0
    assert difference.mean == pytest.approx(first.mean - second.mean)


@pytest.mark.parametrize("queries", [1, 7])
def test_queries_that_all_score_alike_leave_no_interval(queries: int) -> None:
    """And one query is no error."""
    (estimate,) = estimate_means([[0.25]] * queries)
    assert (estimate.mean, estimate.low, estimate.high) == (0.25, 0.25, 0.25)


def test_many_queries_stay_within_memory() -> None:
    """Drawn in parts: more queries than cells fit at once give what fewer parts give."""
    values = np.linspace(0, 1, 30_000).reshape(-1, 1)
    (estimate,) = estimate_means(values, samples=300)
    assert estimate.low < 0.5 < estimate.high
    assert estimate.high - estimate.low == pytest.approx(3.92 * np.sqrt(1 / 12 / 30_000), rel=0.2)


def test_an_estimate_reads_as_a_person_writes_it() -> None:
    """Mean, and interval in brackets."""
    (estimate,) = estimate_means([[0.5], [0.5]])
    assert str(estimate) == "0.500 (0.500 to 0.500)"

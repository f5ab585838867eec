"""Floors and baselines report search that became worse, and by how much."""

import json
from pathlib import Path

import pytest

from sourcebook.contract.search import Mode
from sourcebook.evaluation import (
    Baseline,
    Estimate,
    Evaluation,
    EvaluationError,
    Floor,
    ModeScores,
    check_floors,
    compare_with_baseline,
    missed_floors,
    read_baseline,
)

NAMES = [f"q{number}" for number in range(40)]


def evaluation(mode: Mode, values: dict[str, float]) -> Evaluation:
    """An evaluation in which each query has one value of two measures."""
    mean = sum(values.values()) / len(values)
    scores = ModeScores(
        mode,
        {"ndcg@10": Estimate(mean, mean - 0.1, mean + 0.1), "mrr": Estimate(mean, mean, mean)},
        1.0,
        {query: {"ndcg@10": value, "mrr": value} for query, value in values.items()},
    )
    return Evaluation("handbook", len(values), 100, 10_000, (scores,), (), 0, 0, ())


def write(path: Path, found: Evaluation) -> Baseline:
    path.write_text(json.dumps(found.as_dict()))
    return read_baseline(path)


@pytest.mark.parametrize("text", ["ndcg@10=0.6", " NDCG@10 = .6", "ndcg@10=6e-1"])
def test_a_floor_is_a_measure_and_a_number(text: str) -> None:
    """Spaces and case make no difference."""
    assert Floor.parse(text) == Floor("ndcg@10", 0.6)


@pytest.mark.parametrize("text", ["", "ndcg@10", "ndcg=0.6", "ndcg@10=60", "ndcg@10=nan", "ndcg@10=-0.1", "mrr=much"])
def test_what_is_no_floor_is_told_with_what_one_is(text: str) -> None:
    """All measures are named."""
    with pytest.raises(
        ValueError, match=r"such as ndcg@10=0\.6; the measures are ndcg@10, mrr, recall@10, recall@100, p"
    ):
        Floor.parse(text)


def test_a_floor_holds_of_the_mean() -> None:
    """Reached where it is equalled; a missed one is said with mode, mean and how much is lacking."""
    (scores,) = evaluation("hybrid", {"a": 0.5, "b": 0.7}).modes
    assert missed_floors(scores, [Floor("ndcg@10", 0.6), Floor("mrr", 0.1)]) == ()
    (missed,) = missed_floors(scores, [Floor("ndcg@10", 0.65), Floor("mrr", 0.1)])
    assert str(missed) == "hybrid: ndcg@10 is 0.6000, 0.0500 below the floor of 0.65"


def test_a_floor_on_what_is_not_measured_is_an_error() -> None:
    """Before anything is asked."""
    check_floors([Floor("recall@100", 0.5)], 100)
    with pytest.raises(EvaluationError, match="recall@100, and only 50 documents"):
        check_floors([Floor("recall@100", 0.5)], 50)


def test_a_baseline_is_compared_query_by_query(tmp_path: Path) -> None:
    """A small loss on every query is reported although the means' intervals overlap widely."""
    before = {name: number / 40 for number, name in enumerate(NAMES)}
    after = {name: value - 0.02 for name, value in before.items()}
    (difference,) = compare_with_baseline(
        evaluation("vector", after), write(tmp_path / "before.json", evaluation("vector", before))
    )
    assert (difference.mode, difference.against, difference.queries) == ("vector", "before.json", 40)
    estimate = difference.estimates["ndcg@10"]
    assert estimate.mean == pytest.approx(-0.02)
    assert estimate.high == pytest.approx(-0.02)
    assert set(difference.estimates) == {"ndcg@10", "mrr"}


def test_only_queries_that_both_asked_are_compared(tmp_path: Path) -> None:
    """And their number is said."""
    path = write(tmp_path / "before.json", evaluation("hybrid", {"a": 0.5, "b": 0.5, "gone": 1.0}))
    (difference,) = compare_with_baseline(evaluation("hybrid", {"b": 0.75, "a": 0.5, "new": 0.0}), path)
    assert difference.queries == 2
    assert difference.estimates["mrr"].mean == pytest.approx(0.125)


def test_a_baseline_of_other_questions_or_another_mode_is_an_error(tmp_path: Path) -> None:
    """There is nothing to compare."""
    found = evaluation("hybrid", {"a": 0.5})
    for other in (evaluation("hybrid", {"z": 0.5}), evaluation("keyword", {"a": 0.5})):
        baseline = write(tmp_path / "before.json", other)
        with pytest.raises(EvaluationError, match=r"before\.json has no query and mode in common"):
            compare_with_baseline(found, baseline)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"per_query": 1}', b'{"per_query": {"hybrid": {"a": {"mrr": "x"}}}}', b"\xff\xfe"]
)
def test_a_baseline_that_is_something_else_is_an_error(tmp_path: Path, content: bytes) -> None:
    """The message says what such a file is."""
    path = tmp_path / "before.json"
    path.write_bytes(content)
    with pytest.raises(EvaluationError, match="not what `sourcebook evaluate --json` prints"):
        read_baseline(path)
    path.unlink()
    with pytest.raises(EvaluationError, match="cannot be read: No such file"):
        read_baseline(path)


def test_notes_say_what_a_reader_has_to_know() -> None:
    """Few queries, queries that were not asked, and judged documents that are not there."""
    few = evaluation("hybrid", {"a": 0.5})
    assert few.notes == ("few queries: with 1 of them the intervals are narrower than they ought to be",)
    found = Evaluation("handbook", 300, 100, 10_000, few.modes, (), 4, 1, ("x", "y", "z", "w"))
    assert [note.split(": ")[1][0] for note in found.notes] == ["4", "1", "4"]
    assert "4 (x, y, z, …)" in found.notes[-1]
    assert found.as_dict()["unmatched"] == {"count": 4, "examples": ["x", "y", "z", "w"]}


def test_the_scores_of_a_mode_are_found_by_its_name() -> None:
    """One that was not evaluated is a KeyError."""
    found = evaluation("keyword", {"a": 0.5})
    assert found.of("keyword") is found.modes[0]
    with pytest.raises(KeyError):
        found.of("hybrid")

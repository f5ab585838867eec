"""Fusion: the formulas, the weights, and what only one leg says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.errors import QueryError
from sourcebook.search.fusion import Fusion, fuse

VECTOR = [(1, 0.9), (2, 0.5), (3, 0.1)]
KEYWORD = [(3, 12.0), (4, 6.0), (1, 4.0)]
rankings = st.lists(st.tuples(st.integers(1, 20), st.floats(0, 1e6)), unique_by=lambda pair: pair[0]).map(
    lambda pairs: sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
)


def scores(
    legs: dict[str, list[tuple[int, float]]], fusion: Fusion, trust: dict[str, float] | None = None
) -> dict[int, float]:
    return {entry.chunk_id: entry.score for entry in fuse(legs, fusion, trust)}


def test_a_weighted_sum_scales_each_leg_to_one() -> None:
    """(score - lowest) / (highest - lowest), times the leg's weight."""
    assert scores({"vector": VECTOR, "keyword": KEYWORD}, Fusion()) == pytest.approx({1: 1.0, 3: 1.0, 2: 0.5, 4: 0.25})
    weighted = scores({"vector": VECTOR, "keyword": KEYWORD}, Fusion(vector=2, keyword=0.5))
    assert weighted == pytest.approx({1: 2.0, 2: 1.0, 3: 0.5, 4: 0.125})


def test_reciprocal_ranks() -> None:
    """1 / (k + rank), ranks counted from 1."""
    fused = scores({"vector": VECTOR, "keyword": KEYWORD}, Fusion("rrf", vector=2, k=10))
    assert fused == pytest.approx({1: 2 / 11 + 1 / 13, 2: 2 / 12, 3: 2 / 13 + 1 / 11, 4: 1 / 12})


def test_equals_stand_in_the_order_of_their_ids() -> None:
    fused = fuse({"vector": [(7, 1.0), (9, 0.0)], "keyword": [(5, 3.0), (8, 2.0)]}, Fusion())
    assert [entry.chunk_id for entry in fused] == [5, 7, 8, 9]


def test_a_leg_whose_scores_are_all_alike_counts_fully() -> None:
    assert scores({"vector": [(1, 0.3), (2, 0.3)], "keyword": [(2, 5.0)]}, Fusion()) == {1: 1.0, 2: 2.0}


@pytest.mark.parametrize("method", ["weighted", "rrf"])
def test_one_leg_alone_keeps_its_order(method: str) -> None:
    """Whatever its weight and trust."""
    fusion = Fusion(method, keyword=0)  # type: ignore[arg-type]
    fused = fuse({"keyword": KEYWORD}, fusion, {"keyword": 0.0})
    assert [entry.chunk_id for entry in fused] == [3, 4, 1]
    assert fused[0].score > 0


def test_a_leg_of_no_weight_is_left_out() -> None:
    assert scores({"vector": VECTOR, "keyword": KEYWORD}, Fusion(keyword=0)).keys() == {1, 2, 3}


def test_trust_lessens_a_leg_unless_told_not_to() -> None:
    """What only a leg of no trust found stands at the end, but is found."""
    legs = {"vector": VECTOR, "keyword": KEYWORD}
    half = scores(legs, Fusion(), {"vector": 0.5})
    assert half == pytest.approx({1: 0.5, 2: 0.25, 3: 1.0, 4: 0.25})
    assert [entry.chunk_id for entry in fuse(legs, Fusion(), {"vector": 0.0})] == [3, 4, 1, 2]
    assert scores(legs, Fusion(by_language=False), {"vector": 0.0}) == scores(legs, Fusion())


def test_nothing_found_is_nothing_fused() -> None:
    assert fuse({}, Fusion()) == []
    assert fuse({"vector": [], "keyword": []}, Fusion()) == []
    assert scores({"vector": [], "keyword": KEYWORD}, Fusion()).keys() == {1, 3, 4}


@given(rankings, rankings, st.sampled_from(["weighted", "rrf"]), st.floats(0, 1))
def test_each_entry_comes_once_and_the_best_first(
    vector: list[tuple[int, float]], keyword: list[tuple[int, float]], method: str, trust: float
) -> None:
    fused = fuse({"vector": vector, "keyword": keyword}, Fusion(method), {"vector": trust})  # type: ignore[arg-type]
    found = [entry.chunk_id for entry in fused]
    assert sorted(found) == sorted({chunk for chunk, _ in vector + keyword})
    assert [(-entry.score, entry.chunk_id) for entry in fused] == sorted((-e.score, e.chunk_id) for e in fused)
    assert all(0 <= entry.score <= 2 for entry in fused)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "sum"}, "the fusion is 'sum'; it must be one of weighted, rrf"),
        ({"vector": -1}, "must be 0 or more"),
        ({"keyword": float("nan")}, "must be 0 or more"),
        ({"keyword": float("inf")}, "must be 0 or more"),
        ({"vector": "1"}, "must be 0 or more"),
        ({"vector": 0, "keyword": 0}, "both weights of the fusion are 0"),
        ({"k": 0}, "k of the fusion is 0"),
        ({"k": "60"}, "k of the fusion is '60'"),
        ({"depth": 5}, "the depth of the fusion is 5"),
        ({"depth": 10.5}, "the depth of the fusion is 10.5"),
        ({"depth": 1_000_000}, "it must be 10 to 1,000"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(QueryError) as refused:
        Fusion(**options)  # type: ignore[arg-type]
    assert message in str(refused.value)


def test_it_says_what_it_does() -> None:
    assert Fusion("rrf", k=20).describe() == "reciprocal rank fusion, k = 20"
    assert "0..1" in Fusion().describe()

"""Fusion: the formulas, the weights, and what only one leg says."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.contract.fusion import Fusion
from sourcebook.errors import QueryError
from sourcebook.search.ranking.fusion import RankedList, described, fuse, leg_weights
from sourcebook.search.ranking.leg import LegRanking, LegResult, StandingOut

VECTOR = [(1, 0.9), (2, 0.5), (3, 0.1)]
KEYWORD = [(3, 12.0), (4, 6.0), (1, 4.0)]
rankings = st.lists(st.tuples(st.integers(1, 20), st.floats(0, 1e6)), unique_by=lambda pair: pair[0]).map(
    lambda pairs: sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
)


def fused(rankings: dict[str, LegRanking], fusion: Fusion, language_weight: float = 1.0) -> LegRanking:
    """Return the fusion of rankings; the language weight is the vector leg's."""
    weights = {"vector": language_weight}
    legs = {name: LegResult(ranking, language_weight=weights.get(name, 1.0)) for name, ranking in rankings.items()}
    return fuse(legs, fusion, depth=1)


def scores(rankings: dict[str, LegRanking], fusion: Fusion, language_weight: float = 1.0) -> dict[int, float]:
    return dict(fused(rankings, fusion, language_weight))


def test_a_weighted_sum_scales_each_leg_to_one() -> None:
    """(score - lowest) / (highest - lowest), times the leg's weight."""
    assert scores({"vector": VECTOR, "keyword": KEYWORD}, Fusion()) == pytest.approx({1: 1.0, 3: 1.0, 2: 0.5, 4: 0.25})
    weighted = scores({"vector": VECTOR, "keyword": KEYWORD}, Fusion(vector=2, keyword=0.5))
    assert weighted == pytest.approx({1: 2.0, 2: 1.0, 3: 0.5, 4: 0.125})


def test_words_that_few_passages_hold_count_against_those_that_hold_none() -> None:
    """A keyword leg with fewer entries than it was asked for has all of them: the others' score is 0."""
    legs = {"vector": LegResult(VECTOR), "keyword": LegResult(KEYWORD)}
    assert dict(fuse(legs, Fusion(), depth=4)) == pytest.approx({1: 1 + 1 / 3, 3: 1.0, 2: 0.5, 4: 0.5})
    assert dict(fuse(legs, Fusion(), depth=3)) == pytest.approx({1: 1.0, 3: 1.0, 2: 0.5, 4: 0.25})


def test_reciprocal_ranks() -> None:
    """1 / (k + rank), ranks counted from 1."""
    found = scores({"vector": VECTOR, "keyword": KEYWORD}, Fusion("rrf", vector=2, k=10))
    assert found == pytest.approx({1: 2 / 11 + 1 / 13, 2: 2 / 12, 3: 2 / 13 + 1 / 11, 4: 1 / 12})


def test_equals_stand_in_the_order_of_their_ids() -> None:
    found = fused({"vector": [(7, 1.0), (9, 0.0)], "keyword": [(5, 3.0), (8, 2.0)]}, Fusion())
    assert [chunk for chunk, _ in found] == [5, 7, 8, 9]


def test_a_leg_whose_scores_are_all_alike_counts_fully() -> None:
    assert scores({"vector": [(1, 0.3), (2, 0.3)], "keyword": [(2, 5.0)]}, Fusion()) == {1: 1.0, 2: 2.0}


@pytest.mark.parametrize("method", ["weighted", "rrf"])
def test_one_leg_alone_keeps_its_order(method: str) -> None:
    """Whatever its weight and its language weight."""
    fusion = Fusion(method, keyword=0)  # type: ignore[arg-type]
    found = fuse({"keyword": LegResult(KEYWORD, language_weight=0.0)}, fusion, 100)
    assert [chunk for chunk, _ in found] == [3, 4, 1]
    assert found[0][1] > 0


def test_a_leg_of_no_weight_is_left_out() -> None:
    assert scores({"vector": VECTOR, "keyword": KEYWORD}, Fusion(keyword=0)).keys() == {1, 2, 3}


def test_the_language_weight_lessens_a_leg_unless_it_is_switched_off() -> None:
    """Entries that only a leg of language weight 0 found stand at the end, but are found."""
    legs = {"vector": VECTOR, "keyword": KEYWORD}
    half = scores(legs, Fusion(), 0.5)
    assert half == pytest.approx({1: 0.5, 2: 0.25, 3: 1.0, 4: 0.25})
    assert [chunk for chunk, _ in fused(legs, Fusion(), 0.0)] == [3, 4, 1, 2]
    assert scores(legs, Fusion(by_language=False), 0.0) == scores(legs, Fusion())


def test_nothing_found_is_nothing_fused() -> None:
    assert fuse({}, Fusion(), 100) == []
    assert fused({"vector": [], "keyword": []}, Fusion()) == []
    assert scores({"vector": [], "keyword": KEYWORD}, Fusion()).keys() == {1, 3, 4}


STANDS_OUT = {"vector": StandingOut(least=0.1, whole=0.4), "keyword": StandingOut(least=0.3)}


def falling(first: float, tenth: float, entries: int = 12, begin: int = 1) -> LegRanking:
    """Return a ranking whose scores fall evenly."""
    return [(begin + place, first - (first - tenth) * place / 9) for place in range(entries)]


def both(
    cosines: LegRanking, words: LegRanking, stands_out: Mapping[str, StandingOut] = STANDS_OUT
) -> dict[str, LegResult]:
    return {"vector": LegResult(cosines, stands_out=stands_out), "keyword": LegResult(words)}


@pytest.mark.parametrize(
    ("cosine", "score", "weights"),
    [
        (0.42, 5.0, (0.775, 0.65)),  # .3 of .4 behind: .1 + .9 * .75; half: .3 + .7 * .5
        (0.6, 10.0, (0.1, 0.3)),
        (0.0, 0.0, (1.0, 1.0)),
        (-0.3, 0.0, (1.0, 1.0)),
    ],
)
def test_a_leg_whose_first_entry_hardly_stands_out_counts_less(
    cosine: float, score: float, weights: tuple[float, float]
) -> None:
    """By the share by which the tenth score, given here, is behind the first one, .6 and 10."""
    legs = both(falling(0.6, cosine), falling(10.0, score, begin=20))
    found = leg_weights(legs, Fusion())
    assert (found["vector"].value, found["keyword"].value) == pytest.approx(weights)
    assert dict(fuse(legs, Fusion(), 12))[1] == pytest.approx(weights[0])


def test_a_leg_that_guesses_does_not_overrule_one_that_knows() -> None:
    """Ten passages hold the words alike, and one is near in meaning: it comes first, as the vectors have it."""
    legs = both([(1, 0.7), *falling(0.4, 0.3, 11, begin=2)], [(2, 4.0), *falling(3.9, 3.5, 99, begin=40)])
    assert fuse(legs, Fusion(), 100)[0][0] == 1
    assert fuse(legs, Fusion(by_scores=False), 100)[0][0] == 2


def test_weights_stay_where_nothing_was_measured_or_the_reader_chose_them() -> None:
    cosines, words = falling(0.6, 0.5), falling(9.0, 8.0, begin=5)
    cases = [
        (both(cosines, words, {}), Fusion(), {"vector": 1.0, "keyword": 1.0}),
        (both(cosines, words), Fusion(by_scores=False), {"vector": 1.0, "keyword": 1.0}),
        (both(cosines, words), Fusion("rrf"), {"vector": 1.0, "keyword": 1.0}),
        (both(cosines, words), Fusion(vector=0.5, keyword=2.0), {"vector": 0.5, "keyword": 2.0}),
        (both(cosines[:9], words[:9]), Fusion(), {"vector": 1.0, "keyword": 1.0}),
        ({"keyword": LegResult(words)}, Fusion(), {"keyword": 1.0}),
    ]
    for legs, fusion, expected in cases:
        found = leg_weights(legs, fusion)
        assert {name: weight.value for name, weight in found.items()} == expected
        assert described(fusion, found) == fusion.describe()


def test_it_is_said_what_a_weight_depends_on() -> None:
    weights = leg_weights(both(falling(0.6, 0.45), falling(8.0, 2.0)), Fusion())
    assert described(Fusion(), weights).endswith(
        "; the tenth is behind the first by 25% in the vector leg and 75% in the keyword leg"
    )


def test_later_pages_keep_the_weights_of_the_first() -> None:
    """An index that is asked for more may find others; the order of the first pages has its weights."""
    ranked = RankedList(
        lambda depth: both(falling(0.6, 0.5 - depth / 1_000, 40), falling(9.0, 4.0, 40)), Fusion(depth=10)
    )
    ranked.extend()
    first = ranked.weights
    ranked.extend()
    assert ranked.weights == first


@given(rankings, rankings, st.sampled_from(["weighted", "rrf"]), st.floats(0, 1))
def test_each_entry_comes_once_and_the_best_first(
    vector: list[tuple[int, float]], keyword: list[tuple[int, float]], method: str, language_weight: float
) -> None:
    fusion = Fusion(method)  # type: ignore[arg-type]
    found = fused({"vector": vector, "keyword": keyword}, fusion, language_weight)
    assert sorted(chunk for chunk, _ in found) == sorted({chunk for chunk, _ in vector + keyword})
    assert [(-score, chunk) for chunk, score in found] == sorted((-score, chunk) for chunk, score in found)
    assert all(0 <= score <= 2 for _, score in found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "sum"}, "the method of the fusion is 'sum'; it must be one of weighted, rrf"),
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

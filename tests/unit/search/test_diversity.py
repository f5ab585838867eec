"""Maximal marginal relevance, against the formula written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sourcebook.search.ranking.diversity import StoredVector, diversify
from sourcebook.search.ranking.fusion import Candidate


def unit(*values: float) -> NDArray[np.float32]:
    vector = np.array(values, np.float32)
    return vector / np.linalg.norm(vector)


def test_of_two_that_say_the_same_the_second_steps_back() -> None:
    """The twin of the best one stands behind another that is less relevant."""
    ranking = [Candidate(1, 1.0, 100), Candidate(2, 0.9, 100), Candidate(3, 0.5, 100), Candidate(4, 0.0, 100)]
    vectors = {
        1: StoredVector("m", unit(1, 0)),
        2: StoredVector("m", unit(1, 0)),
        3: StoredVector("m", unit(0, 1)),
        4: StoredVector("m", unit(1, 1)),
    }
    assert [each.chunk_id for each in diversify(ranking, vectors, 0.5, 4)] == [1, 3, 2, 4]
    assert diversify(ranking, vectors, 0, 4) == ranking


def test_vectors_of_two_models_say_nothing_of_each_other() -> None:
    """Equal numbers under another model are not similar, and other dimensions are not an error."""
    ranking = [Candidate(1, 1.0, 100), Candidate(2, 0.9, 100), Candidate(3, 0.8, 100)]
    vectors = {
        1: StoredVector("m", unit(1, 0)),
        2: StoredVector("m", unit(1, 0)),
        3: StoredVector("other", unit(1, 0, 0)),
    }
    assert [each.chunk_id for each in diversify(ranking, vectors, 0.9, 3)] == [1, 3, 2]


@st.composite
def rankings(draw: st.DrawFn) -> tuple[list[Candidate], dict[int, StoredVector]]:
    """Candidates of up to two depths, the first of them perhaps reranked, with vectors of up to two models."""
    count = draw(st.integers(0, 14))
    first = draw(st.integers(0, count))
    reranked = draw(st.integers(0, count))
    scores = sorted(draw(st.lists(st.integers(0, 20), min_size=count, max_size=count)), reverse=True)
    ranking = [
        Candidate(
            place, scores[place] / 20, 100 if place < first else 400, 1 - place / 50 if place < reranked else None
        )
        for place in range(count)
    ]
    vectors = {}
    for place in range(count):
        angle = draw(st.floats(0, 6))
        model = draw(st.sampled_from(["m", "n", None]))
        if model is not None:
            vectors[place] = StoredVector(model, unit(np.cos(angle), np.sin(angle)))
    return ranking, vectors


def written_out(
    ranking: list[Candidate], vectors: dict[int, StoredVector], diversity: float
) -> list[tuple[Candidate, float]]:
    """Carbonell and Goldstein's formula, one candidate after the other; each with how far it was ahead of the next."""

    def block(candidate: Candidate) -> tuple[bool, int]:
        reranked = candidate.rerank_score is not None
        return not reranked, 0 if reranked else candidate.depth

    def value(candidate: Candidate) -> float:
        return candidate.score if candidate.rerank_score is None else candidate.rerank_score

    def likeness(one: Candidate, other: Candidate) -> float:
        a, b = vectors.get(one.chunk_id), vectors.get(other.chunk_id)
        return float(a.vector @ b.vector) if a and b and a.model == b.model else 0.0

    order: list[tuple[Candidate, float]] = []
    for wanted in sorted({block(candidate) for candidate in ranking}):
        left = [candidate for candidate in ranking if block(candidate) == wanted]
        lowest, highest = min(map(value, left)), max(map(value, left))
        while left:
            marginals = [
                (1 - diversity) * ((value(each) - lowest) / (highest - lowest) if highest > lowest else 1.0)
                - diversity * max((likeness(each, placed) for placed, _ in order), default=0.0)
                for each in left
            ]
            best = max(range(len(left)), key=lambda place: marginals[place])
            others = [marginal for place, marginal in enumerate(marginals) if place != best]
            order.append((left.pop(best), marginals[best] - max(others, default=-np.inf)))
    return order


@given(rankings(), st.sampled_from([0.1, 0.3, 0.5, 0.9, 1.0]))
def test_the_order_is_that_of_the_formula(
    made: tuple[list[Candidate], dict[int, StoredVector]], diversity: float
) -> None:
    """Whatever scores, vectors, models, depths and reranking; up to where two are equal but for rounding."""
    ranking, vectors = made
    found = diversify(ranking, vectors, diversity, len(ranking))
    assert sorted(found, key=lambda each: each.chunk_id) == ranking
    for place, (expected, lead) in enumerate(written_out(ranking, vectors, diversity)):
        if 0 <= lead < 1e-6:
            break
        assert found[place] == expected


@given(rankings(), st.sampled_from([0.2, 0.7, 1.0]), st.integers(0, 14))
def test_the_first_places_do_not_depend_on_how_many_are_wanted(
    made: tuple[list[Candidate], dict[int, StoredVector]], diversity: float, count: int
) -> None:
    """A page is the same asked for alone and as the beginning of a longer one, and whatever stands deeper."""
    ranking, vectors = made
    whole = diversify(ranking, vectors, diversity, len(ranking))
    assert diversify(ranking, vectors, diversity, count)[:count] == whole[:count]
    if not any(each.rerank_score is not None and each.depth == 400 for each in ranking):
        shallow = [each for each in ranking if each.depth == 100]
        assert diversify(shallow, vectors, diversity, len(shallow)) == whole[: len(shallow)]


@pytest.mark.parametrize("diversity", [0.0, 0.5, 1.0])
def test_nothing_found_stays_nothing(diversity: float) -> None:
    assert diversify([], {}, diversity, 10) == []

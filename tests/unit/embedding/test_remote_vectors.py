"""A provider's answer becomes vectors only where it is what was asked for."""

import base64
from typing import Any

import numpy as np
import pytest

from sourcebook.embedding.remote.vectors import most_bytes, tokens_of, vectors_of
from sourcebook.providers.failures import Cure, RequestFailedError


def answer(*rows: Any, indexes: list[Any] | None = None) -> dict[str, Any]:
    places = range(len(rows)) if indexes is None else indexes
    return {"data": [{"index": index, "embedding": row} for index, row in zip(places, rows, strict=True)]}


def test_vectors_stand_in_the_order_of_the_texts() -> None:
    """The index decides, not the place in the answer; each vector has the length 1."""
    found = vectors_of(answer([0.0, 2.0], [3.0, 0.0], [1.0, 1.0], indexes=[2, 0, 1]), 3, 2)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [[1, 0], [0.5**0.5, 0.5**0.5], [0, 1]], atol=1e-6)


def test_vectors_in_base64_are_read() -> None:
    """Some servers encode float32 whatever was asked for."""
    encoded = base64.b64encode(np.array([0, 1, 0], "<f4").tobytes()).decode()
    np.testing.assert_array_equal(vectors_of(answer(encoded), 1, 3), [[0, 1, 0]])


def test_one_text_needs_no_index() -> None:
    assert vectors_of({"data": [{"embedding": [1.0]}]}, 1, 1).shape == (1, 1)


def test_longer_vectors_are_shortened_where_the_settings_say_so() -> None:
    """A server that does not know the parameter `dimensions` gives all numbers: the first ones have the length 1."""
    found = vectors_of(answer([3.0, 4.0, 12.0]), 1, 2, shortened=2)
    np.testing.assert_allclose(found, [[0.6, 0.8]], atol=1e-6)


@pytest.mark.parametrize("large", [1e38, 1e200])
def test_large_numbers_keep_their_direction(large: float) -> None:
    """Their squares, or themselves, are infinite in float32: the vector would be stored as zeros."""
    np.testing.assert_allclose(vectors_of(answer([3 * large, 4 * large]), 1, 2), [[0.6, 0.8]], atol=1e-6)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (answer([1.0, 0.0]), "1 vectors for 2 texts"),
        (answer([1.0, 0.0], [1.0, 0.0], [1.0, 0.0]), "3 vectors for 2 texts"),
        (answer([1.0, 0.0], [0.0, 1.0], indexes=[0, 0]), "twice"),
        (answer([1.0, 0.0], [0.0, 1.0], indexes=[0, 2]), "the index '2'"),
        (answer([1.0, 0.0], [0.0, 1.0], indexes=[0, None]), "the index 'None'"),
        (answer([1.0, 0.0], [0.0, 1.0], indexes=[False, True]), "the index"),
        (answer([1.0, 0.0], [0.0, float("nan")]), "not finite"),
        (answer([1.0, 0.0], [0.0, float("inf")]), "not finite"),
        (answer([1.0, 0.0], [0.0, 0.0]), "zeros"),
        (answer([1.0, 0.0], [1.0, 0.0, 0.0]), "vectors of 2 and of 3 numbers"),
        (answer([1.0], [1.0]), "vectors of 1 numbers, where the model's have 2"),
        (answer([1.0, 0.0], []), "no list of numbers"),
        (answer([1.0, 0.0], None), "no list of numbers"),
        (answer([1.0, 0.0], "?!"), "no list of numbers"),
        (answer([1.0, 0.0], ["1", "0"]), "no list of numbers"),
        (answer([1.0, 0.0], [[1.0, 0.0]]), "no list of numbers"),
        (answer([1.0, 0.0], [10**400, 1]), "no list of numbers"),
        ({"data": [1, 2]}, "no object"),
        ({"data": {}}, "no list of vectors"),
        ({"error": "busy"}, "no list of vectors"),
        ([], "no list of vectors"),
        (None, "no list of vectors"),
    ],
)
def test_any_other_answer_is_refused(given: object, said: str) -> None:
    """A retry may bring a better one."""
    with pytest.raises(RequestFailedError, match=said) as refused:
        vectors_of(given, 2, 2)
    assert refused.value.cure is Cure.RETRY


@pytest.mark.parametrize(
    ("given", "tokens"),
    [
        ({"usage": {"total_tokens": 7, "prompt_tokens": 6}}, 7),
        ({"usage": {"prompt_tokens": 6}}, 6),
        ({"usage": {"total_tokens": -1}}, None),
        ({"usage": {"total_tokens": True}}, None),
        ({"usage": {"total_tokens": 10**30}}, None),
        ({"usage": None}, None),
        ([], None),
    ],
)
def test_tokens_are_what_the_provider_counted(given: object, tokens: int | None) -> None:
    assert tokens_of(given) == tokens


def test_an_answer_may_be_as_long_as_its_vectors() -> None:
    """A gigabyte is not read for vectors whose length is known; a batch with too many numbers each is, to say so."""
    assert most_bytes(2_048, 384) < 50e6
    assert most_bytes(64, 64) > 64 * 4_096 * 20
    assert most_bytes(1) < 2e6
    assert most_bytes(1, 384) <= most_bytes(1)

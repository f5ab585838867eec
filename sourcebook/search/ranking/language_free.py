"""Similarity under multilingual-e5-small without what its vectors say of the language.

Any two texts of one language have a cosine of .75 under it, an answer in another language has one of .80. So the mean
vector of questions and of passages is subtracted, and the directions in which one text differs between languages are
projected out (Mu and Viswanath, All-but-the-Top, ICLR 2018; Yang et al., A Simple and Effective Method To Eliminate
the Self Language Bias in Multilingual Representations, EMNLP 2021). The directions are the first principal components
of the first article of the Universal Declaration of Human Rights in 32 languages, as passages and as queries. The
means are those of fifteen judged sets in six languages, each with the same weight (decision 0088).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE: Final = Path(__file__).with_name("multilingual_directions.npy")
"""float16, a row each: the mean vector of questions, that of passages, then directions at right angles of length 1."""


class Similarity(NamedTuple):
    """Similarity of a query and a passage, in meaning and in language."""

    cosine: float
    """Cosine similarity without the directions of languages, -1..1."""
    language: float
    """Cosine similarity along the directions of languages, -1..1: near 1 for two texts of one language."""


def similarity(query: NDArray[np.float32], passage: NDArray[np.float32]) -> Similarity:
    """Compare two vectors of multilingual-e5-small, each of shape (384,)."""
    query_mean, passage_mean, directions = _directions()
    first, second = query - query_mean, passage - passage_mean
    in_first, in_second = directions @ first, directions @ second
    return Similarity(
        _cosine(first - directions.T @ in_first, second - directions.T @ in_second), _cosine(in_first, in_second)
    )


def can_compare(query: NDArray[np.float32], passage: NDArray[np.float32]) -> bool:
    """Whether both vectors have the model's dimensions: those of a generation may be shortened."""
    return query.shape == passage.shape == _directions()[0].shape


def _cosine(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    lengths = float((first @ first) * (second @ second)) ** 0.5
    return float(first @ second) / lengths if lengths else 0.0


@cache
def _directions() -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    import numpy as np

    rows = np.load(FILE).astype(np.float32)
    return rows[0], rows[1], rows[2:]

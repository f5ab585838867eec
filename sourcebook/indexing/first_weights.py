"""Keyword weights of the first entries of a generation, computed here: a third of the time that the server takes.

The formula is that of the SQL function `keyword_postings`, in the same order of operations on the same 8-byte floats:
the weights are equal bit by bit. Rows are made in the binary format of COPY; a `sparsevec` is sent as its dimension,
its number of elements and a zero, then the indices counted from 0, then 4-byte floats.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int32]
"""Numbers of 4 bytes: a block has most of a million postings, and each needs several."""
Weights = NDArray[np.float32]

HEAD: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
"""Begin of the data of a binary COPY."""
TAIL: Final = struct.pack(">h", -1)
"""End of the data of a binary COPY."""
_LEXEMES_AT_ONCE: Final = 1_000
"""Lexemes whose rows of a block are made at once."""
_ENTRY_DIMENSIONS: Final = 1_000_000_000
"""Dimension of keyword_entry.weights."""
_BLOCK_DIMENSIONS: Final = 8_000
"""Dimension of keyword_block.weights."""
_WORD: Final = re.compile(r"'((?:[^'\\]+|''|\\\\)*)':(\S+)")
"""A lexeme of the text of a tsvector, and its positions, separated by commas."""
_ENTRY: Final = struct.Struct(">hiqiqiiiiii")
_BLOCK: Final = struct.Struct(">hiqiiiiiiii")
_PLACE: Final = struct.Struct(">iiiiii")
_NO_PLACE: Final = struct.Struct(">iiii")


class Vocabulary(dict[str, int]):
    """Lexemes by their order of appearance, counted from 0; a lexeme that is looked up first is added."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: Integers = np.zeros(0, np.int32)
        """Number of entries with each lexeme."""

    def __missing__(self, lexeme: str) -> int:
        number = self[lexeme] = len(self)
        return number

    def count(self, lexemes: Integers) -> None:
        """Count lexemes, each once an entry."""
        counted = np.bincount(lexemes, minlength=len(self)).astype(np.int32)
        counted[: len(self.entries)] += self.entries
        self.entries = counted


@dataclass(frozen=True, slots=True)
class Words:
    """The words of consecutive entries."""

    chunks: tuple[int, ...]
    """Chunk of each entry."""
    counts: tuple[int, ...]
    """Number under which each entry is counted, by who sees it."""
    lengths: Integers
    """Length of each entry in lexemes, repetitions counted."""
    bounds: Integers
    """Index of the first posting of each entry, and the number of postings."""
    lexemes: Integers
    """Lexeme of each posting, as in the vocabulary."""
    frequencies: Integers
    """Frequency of that lexeme in the entry."""


def read_words(rows: Sequence[tuple[int, str, int]], vocabulary: Vocabulary) -> Words:
    """Return the words of entries, and count their lexemes in the vocabulary.

    Args:
        rows: chunk, tsvector as text, and number under which it is counted, of each entry; none without words.
        vocabulary: of the generation.
    """
    lexemes: list[int] = []
    frequencies: list[int] = []
    bounds = [0]
    for _, text, _ in rows:
        found = _WORD.findall(text)
        if "''" in text or "\\\\" in text:
            found = [(lexeme.replace("''", "'").replace("\\\\", "\\"), places) for lexeme, places in found]
        lexemes += [vocabulary[lexeme] for lexeme, _ in found]
        frequencies += [places.count(",") + 1 for _, places in found]
        bounds.append(len(lexemes))
    numbers, occurring = np.array(lexemes, np.int32), np.array(frequencies, np.int32)
    vocabulary.count(numbers)
    starts = np.array(bounds, np.int32)
    chunks, _, counts = zip(*rows, strict=True)
    return Words(chunks, counts, np.add.reduceat(occurring, starts[:-1]), starts, numbers, occurring)


class BlockWeights:
    """The keyword weights of the entries that fill a block, or of the last entries, which fill none.

    Args:
        numbers: number of each lexeme of the vocabulary in the database.
        average_length: average length of the entries of the generation, as its 4-byte float.
        generation: id of the generation.
        block: number of the block that the entries fill; None for entries in no block.
    """

    def __init__(self, numbers: Integers, *, average_length: float, generation: int, block: int | None) -> None:
        self._numbers = numbers
        self._average_length = average_length
        self._generation = generation
        self._block = block
        self._ids: list[Integers] = []
        self._weights: list[NDArray[Any]] = []
        """Weight of each posting, as it is sent."""
        self._entries: list[NDArray[Any]] = []
        """Place in the block of the entry of each posting, counted from 0, as it is sent."""

    def entry_rows(self, parts: Sequence[Words]) -> Iterator[bytes]:
        """Yield data of a COPY into `keyword_entry`, piece by piece.

        Args:
            parts: the words of the entries; each posting of a part takes ten numbers meanwhile.
        """
        yield HEAD
        weighed = 0
        for part in parts:
            ids, weights = _postings(part, self._numbers, self._average_length)
            yield b"".join(_entry_rows(part, ids, weights, self._generation, self._block, slot=weighed + 1))
            if self._block is not None:
                self._ids.append(ids)
                self._weights.append(weights.astype(">f4"))
                self._entries.append((_entries(part) + weighed).astype(">i4"))
            weighed += len(part.chunks)
        yield TAIL

    def block_rows(self) -> Iterator[bytes]:
        """Yield data of a COPY into `keyword_block`, piece by piece, after all rows of the entries were yielded."""
        yield HEAD
        if self._block is not None:
            ids = np.concatenate(self._ids)
            self._ids.clear()
            order = np.argsort(ids, kind="stable")
            ids = ids[order]
            indices, values = _ordered(self._entries, order), _ordered(self._weights, order)
            del order
            yield from _block_rows(ids, indices, values, self._generation, self._block)
        yield TAIL


def _ordered(parts: list[NDArray[Any]], order: NDArray[np.intp]) -> memoryview:
    """Empty a list of numbers, and return the bytes of these in another order."""
    joined = np.concatenate(parts, dtype=parts[0].dtype)  # otherwise in the byte order of the machine
    parts.clear()
    return joined[order].view(np.uint8).data


def _entries(words: Words) -> Integers:
    """Return the entry of each posting, counted from 0."""
    return np.repeat(np.arange(len(words.chunks), dtype=np.int32), np.diff(words.bounds))


def _postings(words: Words, numbers: Integers, average_length: float) -> tuple[Integers, Weights]:
    """Return the lexeme and the weight of each posting: by entry, and by lexeme within it."""
    ids = numbers[words.lexemes]
    entries = _entries(words)
    order = np.lexsort((ids, entries))  # the elements of a sparsevec have ascending indices
    return ids[order], _weights(words.frequencies[order], words.lengths[entries], average_length)


def _weights(frequencies: Integers, lengths: Integers, average_length: float) -> Weights:
    """Return the BM25 weight of postings; see the SQL function `keyword_postings`."""
    norm = 1.2 * (0.25 + 0.75 * lengths / average_length)
    found: NDArray[np.float64] = frequencies * 22 / 10.0 / (frequencies + norm)
    return found.astype(np.float32)


def _entry_rows(
    words: Words, ids: Integers, weights: Weights, generation: int, block: int | None, *, slot: int
) -> Iterator[bytes]:
    """Yield parts of rows (generation_id, chunk_id, length, weights, block, slot, count_id), slots from `slot` on."""
    indices, values = (ids - 1).astype(">i4").tobytes(), weights.astype(">f4").tobytes()
    bounds, lengths = words.bounds.tolist(), words.lengths.tolist()
    entries = zip(words.chunks, words.counts, lengths, pairwise(bounds), strict=True)
    for place, (chunk, count, length, (start, end)) in enumerate(entries, slot):
        size = end - start
        yield _ENTRY.pack(7, 8, generation, 8, chunk, 4, length, 12 + 8 * size, _ENTRY_DIMENSIONS, size, 0)
        yield indices[4 * start : 4 * end]
        yield values[4 * start : 4 * end]
        yield _NO_PLACE.pack(-1, -1, 4, count) if block is None else _PLACE.pack(4, block, 4, place, 4, count)


def _block_rows(ids: Integers, indices: memoryview, values: memoryview, generation: int, block: int) -> Iterator[bytes]:
    """Yield rows (generation_id, lexeme_id, block, weights) of postings that are sorted by lexeme, some at a time."""
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    lexemes, bounds = ids[starts], np.append(starts, len(ids))
    for first in range(0, len(lexemes), _LEXEMES_AT_ONCE):
        rows: list[bytes | memoryview] = []
        some = lexemes[first : first + _LEXEMES_AT_ONCE].tolist()
        for lexeme, (start, end) in zip(some, pairwise(bounds[first : first + len(some) + 1].tolist()), strict=True):
            size = end - start
            rows += (
                _BLOCK.pack(4, 8, generation, 4, lexeme, 4, block, 12 + 8 * size, _BLOCK_DIMENSIONS, size, 0),
                indices[4 * start : 4 * end],
                values[4 * start : 4 * end],
            )
        yield b"".join(rows)

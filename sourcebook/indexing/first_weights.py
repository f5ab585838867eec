"""Keyword weights of the first entries of a generation, computed here: a third of the time that the server takes.

The formula is that of the SQL function `keyword_postings`, in the same order of operations on the same 8-byte floats:
the weights are equal bit by bit. Rows are made in the binary format of COPY; a `sparsevec` is sent as its dimension,
its number of elements and a zero, then the indices counted from 0, then 4-byte floats.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int32]
"""Numbers of 4 bytes: a block has most of a million postings, and each needs several."""
Weights = NDArray[np.float32]

HEAD: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
"""Begin of the data of a binary COPY."""
TAIL: Final = struct.pack(">h", -1)
"""End of the data of a binary COPY."""
_AT_ONCE: Final = 1_000
"""Entries that are weighed at once: each posting takes ten numbers meanwhile."""
_ENTRY_DIMENSIONS: Final = 1_000_000_000
"""Dimension of keyword_entry.weights."""
_BLOCK_DIMENSIONS: Final = 8_000
"""Dimension of keyword_block.weights."""
_WORD: Final = re.compile(r"'((?:[^'\\]+|''|\\\\)*)':(\S+)")
"""A lexeme of the text of a tsvector, and its positions, separated by commas."""
_ENTRY: Final = struct.Struct(">hiqiqiiiiii")
_BLOCK: Final = struct.Struct(">hiqiiiiiiii")
_PLACE: Final = struct.Struct(">iiii")
_NO_PLACE: Final = struct.pack(">ii", -1, -1)


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
    lengths: Integers
    """Length of each entry in lexemes, repetitions counted."""
    bounds: Integers
    """Index of the first posting of each entry, and the number of postings."""
    lexemes: Integers
    """Lexeme of each posting, as in the vocabulary."""
    frequencies: Integers
    """Frequency of that lexeme in the entry."""

    @classmethod
    def joined(cls, parts: Sequence["Words"]) -> "Words":
        """Return the words of parts that follow each other."""
        starts = accumulate((len(part.lexemes) for part in parts), initial=0)
        return cls(
            tuple(chain.from_iterable(part.chunks for part in parts)),
            np.concatenate([part.lengths for part in parts]),
            np.concatenate(
                [[0], *(part.bounds[1:] + start for part, start in zip(parts, starts, strict=False))], dtype=np.int32
            ),
            np.concatenate([part.lexemes for part in parts]),
            np.concatenate([part.frequencies for part in parts]),
        )

    def part(self, first: int, end: int) -> "Words":
        """Return the words of some of the entries, from `first` to before `end`."""
        bounds = self.bounds[first : end + 1]
        postings = slice(int(bounds[0]), int(bounds[-1]))
        return Words(
            self.chunks[first:end],
            self.lengths[first:end],
            bounds - bounds[0],
            self.lexemes[postings],
            self.frequencies[postings],
        )


def read_words(rows: Sequence[tuple[int, str]], vocabulary: Vocabulary) -> Words:
    """Return the words of entries, and count their lexemes in the vocabulary.

    Args:
        rows: chunk and tsvector, as text, of each entry; none without words.
        vocabulary: of the generation.
    """
    lexemes: list[int] = []
    frequencies: list[int] = []
    bounds = [0]
    for _, text in rows:
        found = _WORD.findall(text)
        if "''" in text or "\\\\" in text:
            found = [(lexeme.replace("''", "'").replace("\\\\", "\\"), places) for lexeme, places in found]
        lexemes += [vocabulary[lexeme] for lexeme, _ in found]
        frequencies += [places.count(",") + 1 for _, places in found]
        bounds.append(len(lexemes))
    numbers, counts = np.array(lexemes, np.int32), np.array(frequencies, np.int32)
    vocabulary.count(numbers)
    starts = np.array(bounds, np.int32)
    return Words(tuple(chunk for chunk, _ in rows), np.add.reduceat(counts, starts[:-1]), starts, numbers, counts)


def keyword_rows(
    words: Words, numbers: Integers, *, average_length: float, generation: int, block: int | None
) -> tuple[bytes, bytes]:
    """Return the rows of entries for `keyword_entry` and of their block for `keyword_block`, each as data of a COPY.

    Args:
        words: the words of the entries.
        numbers: number of each lexeme of the vocabulary in the database.
        average_length: average length of the entries of the generation, as its 4-byte float.
        generation: id of the generation.
        block: number of the block that the entries fill; None for entries in no block, which have no rows of a block.
    """
    ids, weights = np.zeros(len(words.lexemes), np.int32), np.zeros(len(words.lexemes), np.float32)
    rows = [HEAD]
    for first in range(0, len(words.chunks), _AT_ONCE):
        part = words.part(first, first + _AT_ONCE)
        place = slice(start := int(words.bounds[first]), start + len(part.lexemes))
        ids[place], weights[place] = _postings(part, numbers, average_length)
        rows.append(b"".join(_entry_rows(part, ids[place], weights[place], generation, block, slot=first + 1)))
    of_entries = b"".join([*rows, TAIL])
    rows.clear()
    if block is None:
        return of_entries, HEAD + TAIL
    order = np.argsort(ids, kind="stable")
    ids, weights = ids[order], weights[order]
    entries = np.repeat(np.arange(len(words.chunks), dtype=np.int32), np.diff(words.bounds))[order]
    return of_entries, b"".join([HEAD, *_block_rows(ids, entries, weights, generation, block), TAIL])


def _postings(words: Words, numbers: Integers, average_length: float) -> tuple[Integers, Weights]:
    """Return the lexeme and the weight of each posting: by entry, and by lexeme within it."""
    ids = numbers[words.lexemes]
    entries = np.repeat(np.arange(len(words.chunks), dtype=np.int32), np.diff(words.bounds))
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
    """Yield the parts of rows (generation_id, chunk_id, length, weights, block, slot), slots from `slot` on."""
    indices, values = (ids - 1).astype(">i4").tobytes(), weights.astype(">f4").tobytes()
    bounds, lengths = words.bounds.tolist(), words.lengths.tolist()
    entries = zip(words.chunks, lengths, pairwise(bounds), strict=True)
    for place, (chunk, length, (start, end)) in enumerate(entries, slot):
        size = end - start
        yield _ENTRY.pack(6, 8, generation, 8, chunk, 4, length, 12 + 8 * size, _ENTRY_DIMENSIONS, size, 0)
        yield indices[4 * start : 4 * end]
        yield values[4 * start : 4 * end]
        yield _NO_PLACE if block is None else _PLACE.pack(4, block, 4, place)


def _block_rows(ids: Integers, entries: Integers, weights: Weights, generation: int, block: int) -> Iterator[bytes]:
    """Yield the parts of rows (generation_id, lexeme_id, block, weights) of postings that are sorted by lexeme."""
    indices, values = entries.astype(">i4").tobytes(), weights.astype(">f4").tobytes()
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    bounds = [*starts.tolist(), len(ids)]
    for lexeme, (start, end) in zip(ids[starts].tolist(), pairwise(bounds), strict=True):
        size = end - start
        yield _BLOCK.pack(4, 8, generation, 4, lexeme, 4, block, 12 + 8 * size, _BLOCK_DIMENSIONS, size, 0)
        yield indices[4 * start : 4 * end]
        yield values[4 * start : 4 * end]

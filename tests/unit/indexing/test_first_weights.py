"""The words of entries are read from the text of their tsvector, and weighed into rows that the server copies."""

import struct
import tracemalloc

import numpy as np
import pytest

from sourcebook.indexing import first_weights
from sourcebook.indexing.first_weights import HEAD, TAIL, BlockWeights, Vocabulary, Words, read_words


def test_words_are_read_with_their_frequencies() -> None:
    """Weights of positions, quotation marks, backslashes, colons and spaces within a lexeme are no separators."""
    vocabulary = Vocabulary()
    words = read_words(
        [(7, r"'it''s':1A,4B 'path\\to':2 'tide':3,5,9", 0), (9, "'a b':1 'http://x:80':2 'tide':3", 0)], vocabulary
    )
    assert list(vocabulary) == ["it's", "path\\to", "tide", "a b", "http://x:80"]
    assert words.chunks == (7, 9)
    assert words.lexemes.tolist() == [0, 1, 2, 3, 4, 2]
    assert words.frequencies.tolist() == [2, 1, 3, 1, 1, 1]
    assert (words.lengths.tolist(), words.bounds.tolist()) == ([6, 3], [0, 3, 6])
    assert vocabulary.entries.tolist() == [1, 1, 2, 1, 1]
    read_words([(10, "'new':1 'tide':2", 0)], vocabulary)
    assert vocabulary.entries.tolist() == [1, 1, 3, 1, 1, 1]


def test_rows_hold_the_weights_of_an_entry_and_those_of_a_lexeme_in_a_block() -> None:
    """Indices ascend, whatever the numbers of the lexemes; slots are counted from 1 in a row, from 0 in a vector."""
    vocabulary = Vocabulary()
    words = read_words([(7, "'salt':1 'tide':2,3", 17), (9, "'tide':1", 0)], vocabulary)
    numbers = np.array([50, 20], np.int32)
    entries, block = rows_of([words], numbers, average_length=2.0, block=4)
    assert entries.startswith(HEAD)
    assert entries.endswith(TAIL)
    once, twice = (np.float32(frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * 3 / 2.0))) for frequency in (1, 2))
    first = struct.unpack(">hiqiqiiiiiiiiffiiiiii", entries[len(HEAD) :][:90])
    assert first[:11] == (7, 8, 3, 8, 7, 4, 3, 28, 1_000_000_000, 2, 0)
    assert first[11:13] == (19, 49)
    assert first[13:15] == pytest.approx((twice, once), rel=1e-6)
    assert first[15:] == (4, 4, 4, 1, 4, 17)
    rows = block[len(HEAD) : -len(TAIL)]
    of_tide = struct.unpack(">hiqiiiiiiiiiiff", rows[:62])
    assert of_tide[:11] == (4, 8, 3, 4, 20, 4, 4, 28, 8_000, 2, 0)
    assert of_tide[11:13] == (0, 1)
    assert of_tide[13] == pytest.approx(twice, rel=1e-6)
    of_salt = struct.unpack(">hiqiiiiiiiiif", rows[62:])
    assert (of_salt[4], of_salt[11]) == (50, 0)
    assert of_salt[12] == pytest.approx(once, rel=1e-6)


def test_entries_that_fill_no_block_have_no_place_in_one() -> None:
    vocabulary = Vocabulary()
    words = read_words([(7, "'salt':1", -1)], vocabulary)
    numbers = np.array([1], np.int32)
    entries, block = rows_of([words], numbers, average_length=1.0, block=None)
    assert entries.endswith(struct.pack(">iiii", -1, -1, 4, -1) + TAIL)
    assert block == HEAD + TAIL


def test_rows_do_not_depend_on_the_parts_that_are_read_and_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [(number, f"'salt':1 'word{number % 3}':2,{number + 3}", 0) for number in range(7)]
    numbers = np.array([9, 4, 7, 2], np.int32)
    found = []
    for at_once in (1_000, 3):
        monkeypatch.setattr(first_weights, "_LEXEMES_AT_ONCE", at_once)
        vocabulary = Vocabulary()
        parts = [read_words(texts[first : first + at_once], vocabulary) for first in range(0, 7, at_once)]
        found.append((rows_of(parts, numbers, average_length=3.0, block=1), vocabulary.entries.tolist()))
    assert found[0] == found[1]


def test_weighing_a_block_takes_little_more_memory_than_its_rows() -> None:
    """Rows are made piece by piece: at the peak there is twice what the postings of the block need, and no more."""
    vocabulary = Vocabulary()
    texts = [
        (number, " ".join(f"'word{(number * 13 + place) % 20_000}':{place + 1}" for place in range(80)), 0)
        for number in range(8_000)
    ]
    parts = [read_words(texts[first : first + 1_000], vocabulary) for first in range(0, 8_000, 1_000)]
    numbers = np.arange(1, len(vocabulary) + 1, dtype=np.int32)
    tracemalloc.start()
    try:
        weights = BlockWeights(numbers, average_length=80.0, generation=3, block=1)
        size = sum(len(piece) for rows in (weights.entry_rows(parts), weights.block_rows()) for piece in rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * size


def rows_of(
    parts: list[Words], numbers: "np.typing.NDArray[np.int32]", *, average_length: float, block: int | None
) -> tuple[bytes, bytes]:
    """Return the rows of entries and of their block, each in one piece."""
    weights = BlockWeights(numbers, average_length=average_length, generation=3, block=block)
    return b"".join(weights.entry_rows(parts)), b"".join(weights.block_rows())

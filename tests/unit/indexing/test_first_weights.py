"""The words of entries are read from the text of their tsvector, and weighed into rows that the server copies."""

import struct
import tracemalloc

import numpy as np
import pytest

from sourcebook.indexing import first_weights
from sourcebook.indexing.first_weights import HEAD, TAIL, Vocabulary, Words, keyword_rows, read_words


def test_words_are_read_with_their_frequencies() -> None:
    """Weights of positions, quotation marks, backslashes, colons and spaces within a lexeme are no separators."""
    vocabulary = Vocabulary()
    words = read_words(
        [(7, r"'it''s':1A,4B 'path\\to':2 'tide':3,5,9"), (9, "'a b':1 'http://x:80':2 'tide':3")], vocabulary
    )
    assert list(vocabulary) == ["it's", "path\\to", "tide", "a b", "http://x:80"]
    assert words.chunks == (7, 9)
    assert words.lexemes.tolist() == [0, 1, 2, 3, 4, 2]
    assert words.frequencies.tolist() == [2, 1, 3, 1, 1, 1]
    assert (words.lengths.tolist(), words.bounds.tolist()) == ([6, 3], [0, 3, 6])
    assert vocabulary.entries.tolist() == [1, 1, 2, 1, 1]
    read_words([(10, "'new':1 'tide':2")], vocabulary)
    assert vocabulary.entries.tolist() == [1, 1, 3, 1, 1, 1]


def test_rows_hold_the_weights_of_an_entry_and_those_of_a_lexeme_in_a_block() -> None:
    """Indices ascend, whatever the numbers of the lexemes; slots are counted from 1 in a row, from 0 in a vector."""
    vocabulary = Vocabulary()
    words = read_words([(7, "'salt':1 'tide':2,3"), (9, "'tide':1")], vocabulary)
    numbers = np.array([50, 20], np.int32)
    entries, block = keyword_rows(words, numbers, average_length=2.0, generation=3, block=4)
    assert entries.startswith(HEAD)
    assert entries.endswith(TAIL)
    once, twice = (np.float32(frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * 3 / 2.0))) for frequency in (1, 2))
    first = struct.unpack(">hiqiqiiiiiiiiffiiii", entries[len(HEAD) :][:82])
    assert first[:11] == (6, 8, 3, 8, 7, 4, 3, 28, 1_000_000_000, 2, 0)
    assert first[11:13] == (19, 49)
    assert first[13:15] == pytest.approx((twice, once), rel=1e-6)
    assert first[15:] == (4, 4, 4, 1)
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
    words = read_words([(7, "'salt':1")], vocabulary)
    numbers = np.array([1], np.int32)
    entries, block = keyword_rows(words, numbers, average_length=1.0, generation=3, block=None)
    assert entries.endswith(struct.pack(">ii", -1, -1) + TAIL)
    assert block == HEAD + TAIL


def test_words_that_are_read_in_parts_are_those_that_are_read_at_once() -> None:
    texts = [(number, f"'salt':1,{number + 2} 'word{number % 3}':{number + 3}") for number in range(7)]
    at_once, in_parts = Vocabulary(), Vocabulary()
    whole = read_words(texts, at_once)
    joined = Words.joined([read_words(texts[first : first + 3], in_parts) for first in (0, 3, 6)])
    assert at_once == in_parts
    assert at_once.entries.tolist() == in_parts.entries.tolist()
    assert joined.chunks == whole.chunks
    for name in ("lengths", "bounds", "lexemes", "frequencies"):
        assert getattr(joined, name).tolist() == getattr(whole, name).tolist()


def test_rows_do_not_depend_on_the_number_of_entries_that_are_weighed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = Vocabulary()
    words = read_words([(number, f"'salt':1 'word{number % 3}':2,3") for number in range(7)], vocabulary)
    numbers = np.array([9, 4, 7, 2], np.int32)
    rows = []
    for entries in (1_000, 3):
        monkeypatch.setattr(first_weights, "_AT_ONCE", entries)
        rows.append(keyword_rows(words, numbers, average_length=3.0, generation=3, block=1))
    assert rows[0] == rows[1]


def test_weighing_a_block_takes_little_more_memory_than_its_rows() -> None:
    """Three times the rows at the peak, of which they are kept in two pieces for a moment."""
    vocabulary = Vocabulary()
    text = " ".join(f"'word{number}':{number + 1}" for number in range(80))
    words = read_words([(number, text) for number in range(8_000)], vocabulary)
    numbers = np.arange(1, 81, dtype=np.int32)
    tracemalloc.start()
    try:
        rows = keyword_rows(words, numbers, average_length=80.0, generation=3, block=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3.5 * sum(map(len, rows))

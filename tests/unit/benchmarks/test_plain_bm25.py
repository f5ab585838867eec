"""The oracle that the keyword leg is compared with."""

import math

import pytest

from benchmarks.peers.plain_bm25 import PlainBM25, Reading, agreement


def test_a_score_is_what_the_formula_gives_by_hand() -> None:
    """k1 1.2, b 0.75: of two entries of lengths 3 and 1, the longer one holds the word twice."""
    oracle = PlainBM25([(1, "english", {"pump": 2, "valv": 1}), (2, "english", {"valv": 1})])
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2))
    ((chunk, score),) = oracle.ranking([Reading("english", "pump", 1)], 10)
    assert chunk == 1
    assert score == pytest.approx(expected)


def test_the_readings_of_one_word_are_as_rare_as_all_of_them_together() -> None:
    """A stemmer that only few entries were made with makes no word rare."""
    oracle = PlainBM25([(1, "english", {"pump": 1}), (2, "english", {"pump": 1}), (3, "german", {"pumps": 1})])
    idfs = oracle.idfs([Reading("english", "pump", 1), Reading("german", "pumps", 1)])
    assert idfs["pump"] == idfs["pumps"] == pytest.approx(math.log(1 + 0.5 / 3.5))


def test_a_stop_word_of_most_entries_is_one_for_all() -> None:
    """`the` is not what few entries in another language are found by."""
    oracle = PlainBM25([(1, "english", {"pump": 1}), (2, "english", {"pump": 1}), (3, "simple", {"the": 1})])
    assert oracle.idfs([Reading("simple", "the", 1)]) == {}


def test_an_agreement_sees_a_wrong_order_and_a_wrong_score() -> None:
    """Entries whose scores cannot be told apart may change places; others may not."""
    expected = [(1, 3.0), (2, 2.0), (3, 2.0), (4, 1.0)]
    assert agreement([(1, 3.0), (3, 2.0), (2, 2.0)], expected, 3).same
    assert not agreement([(2, 2.0), (1, 3.0), (3, 2.0)], expected, 3).same
    assert not agreement([(1, 3.0), (2, 2.0)], expected, 3).same
    assert not agreement([(1, 3.0), (2, 2.0), (9, 2.0)], expected, 3).same
    assert agreement([(1, 3.3)], expected, 1).largest_difference == pytest.approx(0.1)

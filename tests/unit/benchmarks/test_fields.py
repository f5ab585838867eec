"""BM25F of the benchmark: BM25 where all fields weigh alike, and another order where they do not."""

from benchmarks.parts.fields import PLAIN, Fields, Parameters
from benchmarks.peers.plain_bm25 import PlainBM25

_ENTRIES = {
    1: {"batteri": (1, 0, 1), "winter": (0, 0, 3)},
    2: {"batteri": (0, 1, 4), "ice": (0, 0, 9)},
    3: {"winter": (1, 1, 1), "ice": (0, 0, 2)},
}
"""Occurrences in title, headings and text, by chunk and lexeme."""
_IDFS = {"batteri": 1.5, "winter": 0.7}


def _fields() -> Fields:
    entries = [
        (chunk, "english", {lexeme: sum(counts) for lexeme, counts in words.items()})
        for chunk, words in _ENTRIES.items()
    ]
    found = Fields(PlainBM25(entries), {chunk: f"file:///{chunk}" for chunk in _ENTRIES})
    for chunk, words in _ENTRIES.items():
        for lexeme, counts in words.items():
            found.postings.setdefault(lexeme, []).append((chunk, counts))
        first, second, third = (sum(counts[number] for counts in words.values()) for number in range(3))
        found.lengths[chunk] = (first, second, third)
    return found


def test_fields_that_weigh_alike_give_the_scores_of_bm25() -> None:
    fields = _fields()
    expected = {
        chunk: sum(
            idf * sum(words[token]) * 2.2 / (sum(words[token]) + 1.2 * (0.25 + 0.75 * length / average))
            for token, idf in _IDFS.items()
            if token in words
        )
        for chunk, words in _ENTRIES.items()
        for length in [sum(map(sum, words.values()))]
        for average in [sum(sum(map(sum, each.values())) for each in _ENTRIES.values()) / len(_ENTRIES)]
    }
    order = sorted(expected, key=lambda chunk: -expected[chunk])
    assert fields.ranking(_IDFS, PLAIN, fields.norms(PLAIN)) == [f"file:///{chunk}" for chunk in order]


def test_a_heavier_title_puts_its_document_first() -> None:
    fields = _fields()
    heavy = Parameters(50, 0, 0, 0.75, is_joint=False)
    assert fields.ranking({"batteri": 1.5}, PLAIN, fields.norms(PLAIN))[0] == "file:///2"
    assert fields.ranking({"batteri": 1.5}, heavy, fields.norms(heavy))[0] == "file:///1"

"""Spans of a passage that are embedded to find the sentence nearest in meaning."""

from sourcebook.search.sentences import MOST_TEXTS, joined, sentence_spans


def test_few_sentences_stay_as_they_are() -> None:
    spans = sentence_spans("The tide rises. Boats leave.\nNobody waits.")
    assert joined(spans) == spans


def test_many_lines_are_joined_and_none_is_left_out() -> None:
    """A table of a hundred rows is embedded in few pieces that cover each row once."""
    rows = sentence_spans("\n".join(f"| gauge {number} | {number * 'x'} |" for number in range(100)))
    found = joined(rows)
    assert len(found) <= MOST_TEXTS
    assert [found[0][0], found[-1][1]] == [rows[0][0], rows[-1][1]]
    assert all(sum(start <= row[0] and row[1] <= end for start, end in found) == 1 for row in rows)

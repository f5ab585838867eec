"""Whisper's time stamps among its tokens."""

import pytest

from sourcebook.speech.engines.tokens import text_tokens

STAMP, END = 50364, 50257
A, B, C = 11, 12, 13


def at(seconds: float) -> int:
    return STAMP + round(seconds / 0.02)


@pytest.mark.parametrize(
    ("tokens", "text", "end"),
    [
        ([], [], 10.0),
        ([END], [], 10.0),
        ([A, B], [A, B], 10.0),
        ([at(0), A, B, at(4.0)], [A, B], 4.0),
        ([at(0), A, at(2.0), at(2.0), B, at(4.0), END], [A, B], 4.0),
        ([at(0), A, at(2.0), at(2.0), B, C], [A, B, C], 10.0),
        ([at(0), A, at(2.0), at(2.0)], [A], 2.0),
        ([at(0), A, at(30.0)], [A], 10.0),
        ([END + 1, at(0), A, at(4.0)], [A], 4.0),
    ],
    ids=["nothing", "end", "no stamps", "one", "two", "no closing stamp", "begun", "beyond the piece", "special"],
)
def test_text_and_how_far_it_was_heard(tokens: list[int], text: list[int], end: float) -> None:
    """Stamps and special tokens are no text; the last stamp is the end, the piece's own where none closes the text."""
    found, heard = text_tokens(tokens, STAMP, END, 10.0)
    assert found == text
    assert heard == pytest.approx(end)

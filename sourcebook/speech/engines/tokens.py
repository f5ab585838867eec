"""Text, time stamps and punctuation among Whisper's tokens."""

from collections.abc import Sequence
from typing import Final

BEFORE_WORDS: Final = "\"'“¿([{-"
"""Punctuation that belongs to the word after it, as in `whisper.transcribe`."""
BEHIND_WORDS: Final = "\"'.。,，!！?？:：”)]}、"
"""Punctuation that belongs to the word before it, as in `whisper.transcribe`."""
_STEP: Final = 0.02
"""Seconds between two time stamps."""


def text_tokens(tokens: Sequence[int], first_stamp: int, end_of_text: int, length: float) -> tuple[list[int], float]:
    """Return the tokens of a piece's text, and the second at which Whisper stopped.

    Whisper may stop early, after a time stamp: the rest must be transcribed once more. Text without a closing stamp
    extends to the end of the piece.

    Args:
        tokens: decoded tokens, special ones included.
        first_stamp: token that stands for 0.00 s.
        end_of_text: first of the tokens that are not text, except for time stamps.
        length: length of the piece in seconds.
    """
    spoken = [token for token in tokens if token < end_of_text or token >= first_stamp]
    text = [token for token in spoken if token < end_of_text]
    if not spoken or spoken[-1] < first_stamp:
        return text, length
    return text, min((spoken[-1] - first_stamp) * _STEP, length)

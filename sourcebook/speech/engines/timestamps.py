"""Whisper's time stamps among its tokens."""

from collections.abc import Sequence

_STEP = 0.02
"""Seconds between two of them."""


def text_tokens(tokens: Sequence[int], first_stamp: int, end_of_text: int, length: float) -> tuple[list[int], float]:
    """Return the tokens of a piece's text, and up to when Whisper has heard the piece.

    Whisper may end early, behind a stamp: what is said after it is to be heard once more. Text without a closing stamp
    goes on to the end of the piece.

    Args:
        tokens: as decoded, special ones included.
        first_stamp: the token that stands for 0.00 s.
        end_of_text: tokens from here on, but for stamps, are no text.
        length: of the piece, in seconds.
    """
    spoken = [token for token in tokens if token < end_of_text or token >= first_stamp]
    text = [token for token in spoken if token < end_of_text]
    if not spoken or spoken[-1] < first_stamp:
        return text, length
    return text, min((spoken[-1] - first_stamp) * _STEP, length)

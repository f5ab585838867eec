"""Tokens of a text for a model whose tokenizer is not on this machine: pieces of words, estimated by their letters."""

import re
from collections.abc import Sequence
from typing import Final

from sourcebook.chunking.tokenizer import Offsets

_PIECE: Final = re.compile(
    # Scripts without spaces between words, and those whose letters are syllables.
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]{1,2}"
    r"|[a-zA-Z]{1,6}|[^\W\d_]{1,4}|\d{1,3}|_+|[^\w\s]"
)
"""One estimated token."""


class EstimatedTokens:
    """Counts pieces of words: up to six Latin letters, four others, two of an ideographic script, or one mark."""

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens

    @property
    def max_tokens(self) -> int:
        """Maximum tokens of a text for the model, special tokens included."""
        return self._max_tokens

    @property
    def special_tokens(self) -> int:
        """Tokens added to every text: two."""
        return 2

    @property
    def splits_at_spaces(self) -> bool:
        """Whether the pieces of a text split at white space have exactly its tokens: they do."""
        return True

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Return (start, end) of each piece of each text, in characters."""
        return [[piece.span() for piece in _PIECE.finditer(text)] for text in texts]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of pieces of each text, with two special tokens."""
        return [sum(1 for _ in _PIECE.finditer(text)) + self.special_tokens for text in texts]

"""Token counts of the spans of a document, from one pass of the tokenizer."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from sourcebook.chunking.tokenizer import TokenCounter

_WINDOW = 16_384
"""Characters per window; windows end at white space, where tokens end as well."""
_WINDOWS_AT_ONCE = 16
"""Windows per call of the tokenizer."""
_MOST_CHARACTERS_A_TOKEN = 12
"""Characters that count as a token at most: WordPiece makes one [UNK] of a word above 100 letters."""


class TokenIndex:
    """Start positions of the tokens of a document, four bytes each."""

    def __init__(self, text: str, tokenizer: TokenCounter) -> None:
        self._length = len(text)
        self._starts = array("I")
        windows: list[tuple[int, int]] = []
        for window in _windows(text):
            windows.append(window)
            if len(windows) == _WINDOWS_AT_ONCE:
                self._add(text, windows, tokenizer)
                windows = []
        if windows:
            self._add(text, windows, tokenizer)

    def tokens(self, start: int, end: int) -> int:
        """Return the number of tokens that begin in a span."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def size(self, start: int, end: int) -> int:
        """Return the larger of a span's tokens and a twelfth of its characters."""
        return max(self.tokens(start, end), (end - start) // _MOST_CHARACTERS_A_TOKEN)

    def reach(self, start: int, budget: int) -> int:
        """Return the last end with `size(start, end) <= budget`, at least `start + 1`."""
        position = bisect_left(self._starts, start) + budget
        end = self._starts[position] if position < len(self._starts) else self._length
        return max(start + 1, min(end, start + budget * _MOST_CHARACTERS_A_TOKEN))

    def before(self, end: int, tokens: int) -> int:
        """Return the start of the last `tokens` tokens before `end`."""
        position = bisect_left(self._starts, end) - tokens
        return self._starts[position] if 0 <= position < len(self._starts) else 0

    def _add(self, text: str, windows: Sequence[tuple[int, int]], tokenizer: TokenCounter) -> None:
        found = tokenizer.offsets([text[start:end] for start, end in windows])
        for (base, _), offsets in zip(windows, found, strict=True):
            self._starts.extend([base + start for start, _ in offsets])


def _windows(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while len(text) - start > _WINDOW:
        limit = start + _WINDOW
        end = max(text.rfind("\n", start, limit), text.rfind(" ", start, limit)) + 1 or limit
        yield start, end
        start = end
    if start < len(text):
        yield start, len(text)

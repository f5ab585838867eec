"""Words with letters so narrow that docling-parse takes the second of two alike for the first, painted twice."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from sourcebook.parsing.pdf.bidirectional import has_right_to_left
from sourcebook.parsing.pdf.layout.measures import are_beside
from sourcebook.parsing.pdf.words import Word

_NARROW = 1.3
"""Mean advance of a word's letters below which one may be narrower than docling-parse's half point, in points."""


def with_double_letters(words: Sequence[Word], second: Callable[[], Sequence[Word]]) -> Sequence[Word]:
    """Return the words of a page, those with such letters as another reader has them if it finds more letters.

    Args:
        words: words of the page.
        second: returns the words of the other reader.
    """
    narrow = [word for word in words if _is_narrow(word)]
    if not narrow:
        return words
    near = _Places(narrow)
    other = [word for word in second() if near.share(word)]
    taken = _Places(other)
    ids = {id(word) for word in words if _is_narrow(word) or taken.share(word)}
    first = [word for word in words if id(word) in ids]
    if sum(len(word.text) for word in other) <= sum(len(word.text) for word in first):
        return words
    return [*(word for word in words if id(word) not in ids), *other]


def _is_narrow(word: Word) -> bool:
    return word.angle == 0 and word.length < _NARROW * len(word.text) and not has_right_to_left(word.text)


class _Places:
    """Words by the middle of their height."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = sorted(words, key=_middle)
        self._tallest = max((word.height for word in words), default=0.0)

    def share(self, other: Word) -> bool:
        """Tell whether a word is at the place of one of these."""
        reach = (self._tallest + other.height) / 2
        first = bisect_left(self._words, other.middle - reach, key=_middle)
        end = bisect_right(self._words, other.middle + reach, key=_middle)
        return any(
            min(one.right, other.right) - max(one.left, other.left) > 0.3 * min(one.width, other.width)
            and are_beside(one, other)
            for one in self._words[first:end]
        )


def _middle(word: Word) -> float:
    return word.middle

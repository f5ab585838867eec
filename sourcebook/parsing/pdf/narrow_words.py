"""Words with letters so narrow that docling-parse takes the second of two alike for the first, painted twice."""

from collections.abc import Callable, Sequence

from sourcebook.parsing.pdf.words import Word

_NARROW = 1.3
"""Mean advance of a word's letters below which one may be narrower than docling-parse's half point, in points."""


def with_double_letters(words: Sequence[Word], second: Callable[[], Sequence[Word]]) -> Sequence[Word]:
    """Return the words of a page, those with such letters as another reader has them if it finds as many letters.

    Args:
        words: words of the page.
        second: returns the words of the other reader.
    """
    narrow = [word for word in words if _is_narrow(word)]
    if not narrow:
        return words
    other = [word for word in second() if _is_narrow(word)]
    if sum(len(word.text) for word in other) <= sum(len(word.text) for word in narrow):
        return words
    return [*(word for word in words if not _is_narrow(word)), *other]


def _is_narrow(word: Word) -> bool:
    return len(word.text) > 1 and word.length < _NARROW * len(word.text)

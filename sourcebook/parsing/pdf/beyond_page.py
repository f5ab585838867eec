"""Text that runs over the edge of its page, such as long lines of code, which no printer shows and the file holds."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.words import Word

_AT_EDGE = 2.0
"""Largest distance from the edge of the last word of a line that goes on beyond it, in font sizes."""

_NEAR = 0.01
"""Points by which sums of heights may be off."""

_LEAST_WITHIN = 0.25
"""Smallest part of a word before the right edge of the page, in font sizes, for a word of the page."""


@dataclass(frozen=True, slots=True)
class WholeLines:
    """Words of a page with the rest of the lines that run over its right edge."""

    words: Sequence[Word]
    left_out: int = 0
    """Words beyond the edge that go on no line of the page: the other half of a spread, or marks of a printer."""


def with_lines_beyond(words: Sequence[Word], second: Sequence[Word], page: DecodedPage) -> WholeLines:
    """Return the words of a page, the last of each line with what the line has beyond the right edge.

    Args:
        words: words of the page, cut off at its edge.
        second: words of another reader in the order of the page's content, also those beyond the edge.
        page: the decoded page.
    """
    last = _LastWords(words, page.width)
    rests: dict[int, list[Word]] = {}
    left_out = 0
    for beyond in second:
        if beyond.right <= page.width or beyond.angle:
            continue
        place = last.before(beyond)
        if place is None:
            left_out += beyond.left >= page.width
        else:
            rests.setdefault(place, []).append(beyond)
    if not rests:
        return WholeLines(words, left_out)
    result = list(words)
    for place, rest in rests.items():
        cut = words[place]
        whole = [word.text for word in rest]
        kept = [] if rest[0].left < cut.right - 0.2 * cut.size else [cut.text]
        result[place] = replace(cut, text=" ".join([*kept, *whole]))
    return WholeLines(result, left_out)


def words_within(words: Iterable[Word], page: DecodedPage) -> list[Word]:
    """Return the words of a page without those beyond its right edge, each with the part of its box on the page."""
    return [
        word if word.left >= 0 and word.right <= page.width else _cut(word, page)
        for word in words
        if word.right <= page.width or word.left <= page.width - _LEAST_WITHIN * word.size
    ]


def _cut(word: Word, page: DecodedPage) -> Word:
    return replace(word, left=max(word.left, 0.0), right=min(word.right, page.width))


class _LastWords:
    """Words at the right edge of a page, from the top."""

    def __init__(self, words: Sequence[Word], width: float) -> None:
        self._words = sorted(
            (word.top, word.bottom, word.right, place)
            for place, word in enumerate(words)
            if word.angle == 0 and word.right > width - _AT_EDGE * word.size
        )
        self._tallest = max((bottom - top for top, bottom, _, _ in self._words), default=0.0)

    def before(self, beyond: Word) -> int | None:
        """Return the place of the last word on the line of a word, if it is at the edge of the page."""
        middle = beyond.middle
        first = bisect_left(self._words, (middle - self._tallest - _NEAR,))
        end = bisect_left(self._words, (middle,))
        found = [(right, place) for _, bottom, right, place in self._words[first:end] if middle < bottom]
        return max(found)[1] if found else None

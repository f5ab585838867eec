"""Text that runs over the edge of its page, such as long lines of code, which no printer shows and the file holds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.words import Word

_AT_EDGE = 2.0
"""Largest distance from the edge of the last word of a line that goes on beyond it, in font sizes."""


@dataclass(frozen=True, slots=True)
class WholeLines:
    """Words of a page with the rest of the lines that run over its right edge."""

    words: Sequence[Word]
    left_out: int = 0
    """Words beyond the edge that go on no line of the page: the other half of a spread, or marks of a printer."""


def with_lines_beyond(words: Sequence[Word], second: Sequence[Word], page: DecodedPage) -> WholeLines:
    """Return the words of a page, the last of each line with what the line has beyond the right edge.

    Args:
        words: Words of the page, cut off at its edge.
        second: Words of another reader in the order of the page's content, also those beyond the edge.
        page: The decoded page.
    """
    level = [(place, word) for place, word in enumerate(words) if word.angle == 0]
    rests: dict[int, list[Word]] = {}
    left_out = 0
    for beyond in second:
        if beyond.right <= page.width or beyond.angle:
            continue
        place = _last_before(beyond, level, page.width)
        if place is None:
            left_out += beyond.left >= page.width
        else:
            rests.setdefault(place, []).append(beyond)
    if not rests:
        return WholeLines(words, left_out)
    result = list(words)
    for place, rest in rests.items():
        last = words[place]
        whole = [word.text for word in rest]
        kept = [] if rest[0].left < last.right - 0.2 * last.size else [last.text]
        result[place] = replace(last, text=" ".join([*kept, *whole]))
    return WholeLines(result, left_out)


def _last_before(beyond: Word, level: Sequence[tuple[int, Word]], width: float) -> int | None:
    """Return the place of the last word on the line of a word, if it is at the edge of the page."""
    middle = (beyond.top + beyond.bottom) / 2
    found = [
        (word.right, place)
        for place, word in level
        if word.top < middle < word.bottom and word.right > width - _AT_EDGE * word.size
    ]
    return max(found)[1] if found else None

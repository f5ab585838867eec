"""Words that the decoder joins although white space parts them, as in tightly justified lines."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite

from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.words import Word, readable

_SHORTEST = 5
"""Fewest letters of a word that may be several; a letter of Hangul is a syllable, so that two are enough."""
_LONGEST = 80
"""Most letters of a word that may be several."""
_MOST_PARTS = 24
"""Most parts of such a word: a justified line of Korean without any wide space."""
_HANGUL = re.compile("[\uac00-\ud7a3]")
_EDGE = 0.05
"""Distance beyond the edges of a word within which its letters are, in font sizes."""
_GAP = 0.1
"""Smallest white space between two parts, in font sizes."""


def with_parted_words(words: Sequence[Word], second: Mapping[str, int], page: DecodedPage) -> Sequence[Word]:
    """Return the words of a page, those parted that another reader reads as several with white space between.

    Args:
        words: words of the page.
        second: words of the other reader, each with its count.
        page: the decoded page.
    """
    first = Counter(word.text for word in words)
    spare = {text: count - first[text] for text, count in second.items() if count > first[text]}
    if not spare:
        return words
    found = {
        place: parts
        for place, word in enumerate(words)
        if word.angle == 0 and word.text not in second and (parts := _parts(word.text, spare)) is not None
    }
    if not found:
        return words
    letters = _letters(page)
    result: list[Word] = []
    for place, word in enumerate(words):
        result += _parted(word, found[place], letters) if place in found else [word]
    return result


def _parts(text: str, spare: Mapping[str, int]) -> list[str] | None:
    """Return the words of the other reader that make up a text, the longest first, or None."""
    shortest = 2 if _HANGUL.search(text) else _SHORTEST
    if not shortest <= len(text) <= _LONGEST:
        return None
    return _made_of(text, spare, _MOST_PARTS, set())


def _made_of(text: str, spare: Mapping[str, int], most: int, in_vain: set[tuple[str, int]]) -> list[str] | None:
    """Return up to `most` words that make up a text; a rest that was tried in vain is not tried again."""
    for end in range(len(text) - 1, 0, -1):
        if text[:end] not in spare:
            continue
        if text[end:] in spare:
            return [text[:end], text[end:]]
        if most > 2 and (text[end:], most) not in in_vain:
            rest = _made_of(text[end:], spare, most - 1, in_vain)
            if rest is not None:
                return [text[:end], *rest]
            in_vain.add((text[end:], most))
    return None


_Letter = tuple[float, float, float, str]
"""Left and right edge of a letter, middle of its height, and its text."""


def _letters(page: DecodedPage) -> list[_Letter]:
    """Return the letters of a page by the middle of their height."""
    found = [
        (cell.r_x0 - page.left, cell.r_x1 - page.left, page.top - (cell.r_y0 + cell.r_y2) / 2, text)
        for cell in page.letters()
        if isfinite(cell.r_y0 + cell.r_y2) and (text := readable(cell.text)[0])
    ]
    found.sort(key=_level)
    return found


def _level(letter: _Letter) -> float:
    return letter[2]


def _parted(word: Word, parts: Sequence[str], letters: Sequence[_Letter]) -> Iterator[Word]:
    """Yield the parts of a word where white space is between all of them, else the word."""
    line = letters[bisect_right(letters, word.top, key=_level) : bisect_left(letters, word.bottom, key=_level)]
    inside = sorted(
        one for one in line if abs((one[0] + one[1]) / 2 - word.centre) < word.width / 2 + _EDGE * word.size
    )
    spans: list[tuple[float, float]] = []
    place = 0
    for part in parts:
        shown = ""
        start = place
        while place < len(inside) and len(shown) < len(part):
            shown += inside[place][3]
            place += 1
        if shown != part:
            yield word
            return
        spans.append((inside[start][0], inside[place - 1][1]))
    if any(after[0] - before[1] < _GAP * word.size for before, after in pairwise(spans)):
        yield word
        return
    for part, (left, right) in zip(parts, spans, strict=True):
        yield replace(word, text=part, left=left, right=right)

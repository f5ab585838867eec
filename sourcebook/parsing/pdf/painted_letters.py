"""Letters of a page with Hebrew or Arabic as they are painted, each with its vowel marks; lengths in points."""

import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sourcebook.parsing.pdf.bidirectional import has_right_to_left
from sourcebook.parsing.pdf.decoded_pages import Cell, DecodedPage
from sourcebook.parsing.pdf.layout.measures import around
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.words import UNKNOWN, Word, readable

_MOST_LETTERS = 40_000
"""Letters of a page above which its words are kept as the decoder has them."""
_SPACE = 0.18
"""Smallest white space between two words, in font sizes."""
_NO_WIDTH = 1e-3
"""Width of a glyph below which it has none, in its heights."""
_EDGE = 0.05
"""Distance beyond the edges of a run within which its letters are, in heights of the run."""
_FARTHEST_MARK = 1.5
"""Largest distance from a vowel mark to its letter, in heights of the letter."""


@dataclass(slots=True)
class Letter:
    """A letter with its marks."""

    text: str
    """Several letters where one glyph shows them, in the order in which they are read; a space between words."""
    left: float
    right: float
    place: float
    """Middle of its width."""
    level: float
    """Middle of its height."""
    height: float


def painted_letters(words: Sequence[Word], page: DecodedPage) -> list[Letter]:
    """Return the letters of a page from left to right, or none for a page without Hebrew and Arabic."""
    if not any(has_right_to_left(word.text) for word in words):
        return []
    found = _with_marks(letter for cell in page.letters() if (letter := _letter(cell, page)) is not None)
    return sorted(found, key=lambda letter: letter.place) if len(found) <= _MOST_LETTERS else []


def without_single_marks(words: Sequence[Word]) -> list[Word]:
    """Return the words without those of vowel marks without a width, which belong to a letter of another word."""
    return [word for word in words if word.width > _NO_WIDTH * word.height or not is_mark(word.text)]


def painted_text(letters: Sequence[Letter], run: Sequence[Line]) -> str:
    """Return the letters of a run from left to right, with a space between words.

    Args:
        letters: letters of the page from left to right.
        run: words of the run from left to right, whose own letters are taken where the page's letters are others.
    """
    left, top, right, bottom = around(run)
    first = bisect_left(letters, left - _EDGE * (bottom - top), key=lambda letter: letter.place)
    last = bisect_left(letters, right + _EDGE * (bottom - top), key=lambda letter: letter.place)
    inside = [letter for letter in letters[first:last] if top < letter.level < bottom]
    if _letters(letter.text for letter in inside) != _letters(word.text for word in run):
        return " ".join(word.text[::-1] if has_right_to_left(word.text) else word.text for word in run)
    text, reached = "", left
    for place, letter in enumerate(inside):
        if letter.text == " " and (
            reached > letter.place or any(one.left < letter.place for one in inside[place + 1 :][:1])
        ):
            continue  # a letter is painted over the space, which parts nothing
        apart = letter.left - reached > _SPACE * run[0].size
        shown = letter.text[::-1] if has_right_to_left(letter.text) else letter.text
        text += f" {shown}" if apart else shown
        reached = max(reached, letter.right)
    return " ".join(text.split())


def _letters(texts: Iterable[str]) -> list[str]:
    return sorted(letter for text in texts for letter in text if not letter.isspace() and not is_mark(letter))


def _letter(cell: Cell, page: DecodedPage) -> Letter | None:
    text = readable(cell.text)[0] or (" " if cell.text.isspace() else "")
    if not text or text == UNKNOWN:
        return None
    x, y = (cell.r_x0, cell.r_x1, cell.r_x2, cell.r_x3), (cell.r_y0, cell.r_y1, cell.r_y2, cell.r_y3)
    left, right = min(x) - page.left, max(x) - page.left
    return Letter(text, left, right, (left + right) / 2, page.top - (min(y) + max(y)) / 2, max(y) - min(y))


def _with_marks(letters: Iterable[Letter]) -> list[Letter]:
    """Return the letters in the order of the page's content, each with the marks that follow it there."""
    found: list[Letter] = []
    for letter in letters:
        base = found[-1] if found and is_mark(letter.text) else None
        if base is not None and base.text != " " and _is_near(base, letter):
            base.text += letter.text
            if base.right - base.left < _NO_WIDTH * base.height:  # browsers give the letter's width to its mark
                base.left, base.right, base.place = letter.left, letter.right, letter.place
        else:
            found.append(letter)
    return found


def _is_near(base: Letter, mark: Letter) -> bool:
    reach = _FARTHEST_MARK * max(base.height, mark.height)
    apart = max(base.left, mark.left) - min(base.right, mark.right)
    return apart < reach and abs(base.level - mark.level) < reach


def is_mark(text: str) -> bool:
    """Tell whether a text is nothing but vowel marks."""
    return not text.isascii() and all(unicodedata.combining(letter) for letter in text)

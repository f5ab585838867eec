"""Words of two lines that the decoder joins because one begins where the other ends, as a term and its description."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import TypedDict

from sourcebook.parsing.pdf.decoded_pages import Cell, DecodedPage
from sourcebook.parsing.pdf.words import Word, is_bold, is_italic, is_monospaced, readable

_TALLER = 1.6
"""Smallest height of such a word, in median heights of the page's words."""
_NARROW = 0.42
"""Largest width of its letters, in heights of the word."""
_WORD = re.compile(r"[^\W\d_]{3}")
_EDGE = 0.05
"""Distance beyond the edges of a word within which its letters are, in font sizes."""
_STEP = 0.6
"""Smallest vertical distance of two of its letters that are in different lines, in heights of the lower letter."""


class _Type(TypedDict, total=False):
    """Fields of a word that follow from its font."""

    font: str
    bold: bool
    italic: bool
    monospaced: bool


def with_single_lines(words: Sequence[Word], page: DecodedPage) -> Sequence[Word]:
    """Return the words of a page, those that are in two lines parted."""
    level = [word.size for word in words if word.angle == 0]
    if len(level) < 2:
        return words
    least = _TALLER * median(level)
    tall = {
        place
        for place, word in enumerate(words)
        if word.angle == 0
        and word.size > least
        and len(word.text) > 1
        and word.width < _NARROW * word.size * len(word.text)
    }
    if not tall:
        return words
    letters = [cell for cell in page.letters() if cell.text.strip()]
    result: list[Word] = []
    for place, word in enumerate(words):
        result += _parted(word, letters, page) if place in tall else (word,)
    return result


def _parted(word: Word, letters: Sequence[Cell], page: DecodedPage) -> Iterator[Word]:
    """Yield the parts of a word in its lines, or the word itself where its letters do not tell them."""
    inside = [(cell, text) for cell in letters if _holds(word, cell, page) and (text := readable(cell.text)[0])]
    if "".join(text for _, text in inside) != word.text:
        yield word
        return
    ends = [0, *(place for place, step in enumerate(map(_is_step, inside, inside[1:]), start=1) if step), len(inside)]
    if not any(_WORD.search("".join(text for _, text in inside[start:end])) for start, end in pairwise(ends)):
        yield word  # a fraction or another part of a formula
        return
    for start, end in pairwise(ends):
        cells = [cell for cell, _ in inside[start:end]]
        bottom, top = min(cell.r_y0 for cell in cells), max(cell.r_y2 for cell in cells)
        yield replace(
            word,
            text="".join(text for _, text in inside[start:end]),
            left=min(cell.r_x0 for cell in cells) - page.left,
            right=max(cell.r_x1 for cell in cells) - page.left,
            top=page.top - top,
            bottom=page.top - bottom,
            size=top - bottom,
            **_type(word, cells[0].font_name),
        )


def _type(word: Word, font: str) -> _Type:
    """Return the type of a part, which may be in another font than the first one."""
    if font == word.font:
        return {}
    return {"font": font, "bold": is_bold(font), "italic": is_italic(font), "monospaced": is_monospaced(font)}


def _holds(word: Word, cell: Cell, page: DecodedPage) -> bool:
    x, y = (cell.r_x0 + cell.r_x1) / 2 - page.left, page.top - (cell.r_y0 + cell.r_y2) / 2
    slack = _EDGE * word.size
    return word.left - slack < x < word.right + slack and word.top - slack < y < word.bottom + slack


def _is_step(before: tuple[Cell, str], after: tuple[Cell, str]) -> bool:
    """Tell whether the second letter is in another line than the first."""
    (first, _), (second, _) = before, after
    lower = min(first.r_y2 - first.r_y0, second.r_y2 - second.r_y0)
    return abs((first.r_y0 + first.r_y2) - (second.r_y0 + second.r_y2)) / 2 > _STEP * lower

"""Whether a page's text layer says what is on it, or the page must be recognised."""

import re
from collections.abc import Sequence
from typing import Literal

from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.words import Word

TextLayer = Literal["usable", "damaged", "blank", "none", "garbage", "unreadable"]
"""`damaged`: a few words lack letters; `garbage`: many do, or there are none but glyphs without a meaning; `blank`:
nothing is drawn on the page either; `none`: pictures or drawings without words, or nearly so."""

_MOST_TORN = 0.1
"""Share of the words that lack letters."""
_MANY_TORN = 0.03
_FEWEST_TORN = 5
_LETTERS = re.compile(r"[^\W\d_]{2}")
"""What lacks a letter and has two side by side was a word; what has fewer may be a formula."""
_MOST_UNMAPPED = 0.3
"""Share of words, formulas and bullets whose font does not say which characters its glyphs are."""
_FEWEST_BESIDE = 5
"""Readable letters for each word that is not: glyphs without a meaning are often but the bullets of a list."""
_FEW_LETTERS = 40
_FULL_PAGE = 0.65
"""Share of the page that a scan covers; margins are often cut off."""
_SMALLEST_PICTURE = 0.04
_FEWEST_DRAWN = 30
"""Drawn shapes of a page whose letters are drawn as outlines."""


def judge(words: Sequence[Word], page: DecodedPage) -> TextLayer:
    """Return what the text layer of a page is good for."""
    letters = sum(sum(map(str.isalnum, word.text)) for word in words)
    unmapped = sum(word.unmapped for word in words)
    if unmapped > max(3, _MOST_UNMAPPED * len(words)) and letters < _FEWEST_BESIDE * unmapped:
        return "garbage"
    torn = _torn(words)
    if torn > _MOST_TORN:
        return "garbage"
    covered = _covered(page)
    if letters < _FEW_LETTERS and covered > _FULL_PAGE:
        return "none"
    if letters:
        return "usable" if torn <= _MANY_TORN else "damaged"
    drawn = covered > _SMALLEST_PICTURE or page.drawn >= _FEWEST_DRAWN
    return "none" if drawn or words else "blank"


def _torn(words: Sequence[Word]) -> float:
    """Return the share of words that lack letters, 0 where they are too few to tell."""
    whole = torn = 0
    for word in words:
        if _LETTERS.search(word.text):
            whole += 1
            torn += word.unmapped
    return torn / whole if torn >= _FEWEST_TORN else 0.0


def _covered(page: DecodedPage) -> float:
    """Return the share of the page that its pictures cover, counted as if they did not overlap; strips add up."""
    area = 0.0
    for left, top, right, bottom in page.pictures:
        width = min(right, page.width) - max(left, 0.0)
        height = min(bottom, page.height) - max(top, 0.0)
        area += max(0.0, width) * max(0.0, height)
    return area / (page.width * page.height)

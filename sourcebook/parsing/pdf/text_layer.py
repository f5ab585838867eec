"""Quality of a page's text layer, which decides whether OCR reads the page."""

import re
from collections.abc import Sequence
from typing import Literal

from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.words import Word

TextLayer = Literal["usable", "damaged", "blank", "none", "garbage", "unreadable"]
"""Quality of a text layer.

`damaged`: a few words lack letters. `garbage`: many words lack letters, or most glyphs have no Unicode character.
`blank`: the page has no words, pictures or drawings. `none`: the page has pictures or drawings and hardly any words.
"""

_MOST_TORN = 0.1
"""Share of words without some letters above which a text layer is garbage."""
_MANY_TORN = 0.03
"""Share of words without some letters above which a text layer is damaged."""
_FEWEST_TORN = 5
"""Words without some letters below which their share says nothing."""
_LETTERS = re.compile(r"[^\W\d_]{2}")
"""Two adjacent letters, the mark of a word; text with fewer may be a formula."""
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Kana and ideographs, which have no spaces between words, so that a line of them is one."""
_MOST_UNMAPPED = 0.3
"""Share of words with unmapped glyphs above which a text layer is garbage."""
_FEWEST_BESIDE = 5
"""Readable letters per word with unmapped glyphs: such glyphs are often only the bullets of a list."""
_FEW_LETTERS = 40
"""Letters of a page below which a scan with hardly any text layer is recognised."""
_FULL_PAGE = 0.65
"""Share of the page that a scan covers at least; margins are often cut off."""
_SMALLEST_PICTURE = 0.04
"""Share of the page that pictures cover on a page that is not blank."""
_FEWEST_DRAWN = 30
"""Fewest drawn shapes of a page whose letters are outlines."""


def text_layer(words: Sequence[Word], page: DecodedPage) -> TextLayer:
    """Return the quality of a page's text layer."""
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
    """Return the share of words that lack letters, 0 where they are too few; an ideograph is a word."""
    whole = torn = 0
    for word in words:
        if _LETTERS.search(word.text):
            whole += 1 if word.text.isascii() else max(1, len(_UNSPACED.findall(word.text)))
            torn += word.unmapped
    return torn / whole if torn >= _FEWEST_TORN else 0.0


def _covered(page: DecodedPage) -> float:
    """Return the share of the page that its pictures cover together; overlaps count twice."""
    area = 0.0
    for left, top, right, bottom in page.pictures:
        width = min(right, page.width) - max(left, 0.0)
        height = min(bottom, page.height) - max(top, 0.0)
        area += max(0.0, width) * max(0.0, height)
    return area / (page.width * page.height)

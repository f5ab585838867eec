"""Words of Chinese, Japanese and Korean, whose fonts tell size and emphasis in other ways than Latin ones.

Chinese and Japanese have no spaces, and Korean joins its particles to Latin words. The decoder names the font of one
letter of such a word (`TeX入門`), and its box reaches from the lowest to the highest letter, so that neither is that
of the text around it. The boxes of one font may differ from page to page, but ideographs and kana are as wide as their
font is high. These scripts seldom have bold type: titles are set in a font without serifs (Gothic, Hei, Dotum) above
text in one with serifs (Mincho, Song, Batang), in the same weight.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import median_low

from sourcebook.parsing.pdf.decoded_pages import Cell, DecodedPage
from sourcebook.parsing.pdf.words import Word, is_bold, is_italic
from sourcebook.parsing.text.east_asian import EAST_ASIAN, is_east_asian

_OTHER = re.compile(r"[^\W_\u1100-\u11ff\u2e80-\u2fdf\u3005-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff]")
_SQUARE = re.compile(r"[\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]{3,}")
"""Kana and ideographs."""
_FEWEST = 3
"""Fewest words from which a font's size is taken."""
_MOST_OFF = 1.4
"""Ratio of a letter's width to the height of its box up to which the box is that of the letter."""
_PLAIN = re.compile(r"goth|hei(?!ght)|dotum|gulim|malgun|kaku|marugo|sans(?!krit)|meiryo|kozgo|pingfang", re.IGNORECASE)
"""Names of fonts without serifs."""
OF_PDFIUM = "PDFium "
"""Beginning of the names of fonts of words that PDFium has read, with the font and size of such letters."""
_MOST_LETTERS = 40_000
"""Letters of a page above which its words keep their boxes' size."""


class EastAsianFonts:
    """A correction of such words. It belongs to one document and gathers all its pages."""

    def __init__(self) -> None:
        self._letters = Counter[bool]()

    def corrected(self, words: Sequence[Word], page: DecodedPage) -> list[Word]:
        """Return a page's words: with the font and size of their own letters, and bold where a title's font is."""
        places = [place for place, word in enumerate(words) if not word.text.isascii() and is_east_asian(word.text)]
        if not places:
            return list(words)
        result = _as_high_as_wide(_with_own_sizes(words, page), places)
        for place in places:
            self._letters[_is_plain(result[place].font)] += len(result[place].text)
        if self._letters[True] < self._letters[False]:
            for place in places:
                if _is_plain(result[place].font):
                    result[place] = replace(result[place], bold=True)
        return result


def _as_high_as_wide(words: list[Word], places: Sequence[int]) -> list[Word]:
    """Return the words, those of square letters with a font size of a letter's width, by font and height of the box."""
    widths: dict[tuple[str, float], list[float]] = {}
    for place in places:
        word = words[place]
        if word.angle == 0 and _SQUARE.fullmatch(word.text):
            widths.setdefault((word.font, round(word.size, 1)), []).append(word.width / len(word.text))
    sizes = {
        alike: middle
        for alike, found in widths.items()
        if len(found) >= _FEWEST and alike[1] / _MOST_OFF < (middle := median_low(found)) < alike[1] * _MOST_OFF
    }
    for place in places:
        size = sizes.get((words[place].font, round(words[place].size, 1)))
        if size is not None:
            words[place] = replace(words[place], size=size)
    return words


@lru_cache(maxsize=1024)
def _is_plain(font: str) -> bool:
    """Tell whether the name of a font says that it has no serifs."""
    return _PLAIN.search(font) is not None


def _with_own_sizes(words: Sequence[Word], page: DecodedPage) -> list[Word]:
    """Return the words, those of two scripts with the font and size of their Chinese, Japanese or Korean letters."""
    mixed = [place for place, word in enumerate(words) if _is_mixed(word)]
    if not mixed:
        return list(words)
    cells = [cell for cell in page.letters() if EAST_ASIAN.match(cell.text)]
    if len(cells) > _MOST_LETTERS:
        return list(words)
    cells.sort(key=lambda cell: _level(cell, page))
    levels = [_level(cell, page) for cell in cells]
    result = list(words)
    for place in mixed:
        word = words[place]
        line = cells[bisect_left(levels, word.top) : bisect_left(levels, word.bottom)]
        inside = [cell for cell in line if word.left - 0.5 < (cell.r_x0 + cell.r_x1) / 2 - page.left < word.right + 0.5]
        if inside:
            result[place] = _with_font(word, inside)
    return result


def _is_mixed(word: Word) -> bool:
    if word.angle or word.text.isascii() or word.font.startswith(OF_PDFIUM):
        return False
    return is_east_asian(word.text) and _OTHER.search(word.text) is not None


def _level(cell: Cell, page: DecodedPage) -> float:
    """Return the middle of a letter's height, in points from the page's upper edge."""
    return page.top - (cell.r_y0 + cell.r_y2) / 2


def _with_font(word: Word, letters: Sequence[Cell]) -> Word:
    fonts = Counter((cell.font_name, round(abs(cell.r_y3 - cell.r_y0), 2)) for cell in letters)
    (font, size), _ = fonts.most_common(1)[0]
    return replace(word, size=size or word.size, bold=is_bold(font), italic=is_italic(font), font=font)

"""Words of fonts whose boxes end at the ink of their letters, as those of fonts drawn as pictures do (Type 3).

The boxes of one line then differ in height and base line, so that its words seem to stand on several lines.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from unicodedata import combining, normalize

from sourcebook.parsing.pdf.words import Word

_CYRILLIC_CAPITALS, _GREEK_CAPITALS = "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯІЄҐЂЋЉЊЏЈЅ", "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ"
_TALL = frozenset(
    f"ABCDEFGHIJKLMNOPQRSTUVWXYZbdfhklß0123456789()[]{{}}/{_CYRILLIC_CAPITALS}бфђћ{_GREEK_CAPITALS}βδζθλξφψ"
)
_MIDDLE = frozenset("ijtіј")
_DEEP = frozenset("gjpqyQ,;()[]{}ДЦЩдруфцщјџβγζημξρςφχψ")
_LOW = frozenset("acemnorsuvwxzавгежзиклмнопстхчшъыьэюяєґљњѕαεικνοπστυω")
"""Letters as high as an x."""
_MARKED = "i"
"""Letter as high as one with a mark."""
_KNOWN = _TALL | _MIDDLE | _DEEP | _LOW
_LOWER = 0.8
"""Height of words without tall letters below which the boxes end at the ink, in heights of words with tall ones."""
_HIGHER = 1.15
"""Height of words with tall and deep letters above which the boxes end at the ink, in heights of tall words."""
_MOST_MIXED = 0.2
"""Share of words of one shape with the usual height of the other at which the boxes are as high as their font."""
_FEWEST = 4
"""Fewest words of each shape that a font's measures are taken from."""
_ASCENT, _MIDDLE_ASCENT, _LOW_ASCENT = 0.7, 0.64, 0.45
"""Height above the base line of tall letters, of those like `t`, and of low ones, in font sizes."""
_DESCENT = 0.22
"""Depth of deep letters below the base line, in font sizes."""
_NEAR = 0.2
"""Difference of a word's own font size up to which it has its font's usual size, as a share of that."""


@dataclass(slots=True)
class _Measures:
    """Heights of a font's words, in order."""

    tall: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    tall_and_deep: list[float] = field(default_factory=list)

    def add(self, word: Word) -> None:
        """Add a word's height to those of words with letters of its shape."""
        letters, height = _shapes(word.text), word.height
        if letters & _DEEP and letters & _TALL:
            insort(self.tall_and_deep, height)
        elif letters & _TALL:
            insort(self.tall, height)
        elif letters <= _LOW:
            insort(self.low, height)


class TightBoxes:
    """A correction of the boxes of such fonts. It belongs to one document and gathers all its pages."""

    def __init__(self) -> None:
        self._fonts: dict[str, _Measures] = {}

    def corrected(self, words: Sequence[Word]) -> list[Word]:
        """Return a page's words with boxes as high as their font."""
        for word in words:
            if word.angle == 0 and word.text.isalpha() and _shapes(word.text) <= _KNOWN:
                self._fonts.setdefault(word.font, _Measures()).add(word)
        sizes = {font: size for font in self._fonts if (size := self._size(font)) is not None}
        return [_grown(word, sizes[word.font]) if word.font in sizes and word.angle == 0 else word for word in words]

    def _size(self, font: str) -> float | None:
        """Return the size of a font with tight boxes, or None for another font."""
        measures = self._fonts.get(font)
        if measures is None or min(len(measures.tall), len(measures.low), len(measures.tall_and_deep)) < _FEWEST:
            return None
        tall, low = _middle(measures.tall), _middle(measures.low)
        if low >= _LOWER * tall or _middle(measures.tall_and_deep) <= _HIGHER * tall:
            return None
        # A font that is used in two sizes has words of both shapes in both heights.
        mixed = max(_share_near(measures.low, tall), _share_near(measures.tall, low))
        return tall / _ASCENT if mixed < _MOST_MIXED else None


@lru_cache(maxsize=4096)
def _shapes(text: str) -> frozenset[str]:
    """Return the letters of a text without their marks; one with a mark above it is at least as high as `t`."""
    parts = normalize("NFD", text)
    return frozenset(parts) if parts.isascii() else frozenset(_MARKED if combining(one) else one for one in parts)


def _middle(ordered: Sequence[float]) -> float:
    """Return the median of heights in order."""
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _share_near(heights: Sequence[float], height: float) -> float:
    """Return the share of heights, in order, that differ from another by less than a twelfth."""
    near = height / 12
    first = bisect_right(heights, -near, key=lambda one: one - height)
    return (bisect_left(heights, near, key=lambda one: one - height) - first) / len(heights)


def _grown(word: Word, usual: float) -> Word:
    """Return the word with the box of its font on its base line; words far larger or smaller keep their own size."""
    letters = _shapes(word.text)
    if not any(map(str.isalnum, letters)):
        return replace(word, size=usual)
    above = _ASCENT if letters & _TALL else _MIDDLE_ASCENT if letters & _MIDDLE else _LOW_ASCENT
    below = _DESCENT if letters & _DEEP else 0.0
    size = word.height / (above + below)
    base = word.bottom - below * size
    size = usual if abs(size - usual) < _NEAR * usual else size
    return replace(word, top=base - (1 - _DESCENT) * size, bottom=base + _DESCENT * size, size=size)

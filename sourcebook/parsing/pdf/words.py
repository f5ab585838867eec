"""Words of a PDF page with position, font size and font."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import atan2, degrees, hypot, isfinite
from typing import NamedTuple

from sourcebook.parsing.pdf.decoded_pages import Cell, DecodedPage
from sourcebook.parsing.pdf.layout.measures import Rectangle, letter_widths
from sourcebook.parsing.pdf.presentation_forms import as_letters
from sourcebook.parsing.text.decode import clean

_TEX = r"(?:cm|sf|ec|tc|la|lh|pl|cs)"
"""Families of TeX's Computer Modern: the same faces in encodings for other letters, as SFBX1000 for CMBX10."""
_BOLD = re.compile(
    rf"bold|black|heavy|demi|medium|-medi|{_TEX}(?:ss)?(?:bx|xc|sx|b)(?:ti|sl)?\d|-b$|[,-]bd|-w[6-9]$", re.IGNORECASE
)
_ITALIC = re.compile(
    rf"(?<!cap)ital|oblique|slant|{_TEX}(?:bx)?(?:ti|sl|bi|bl)\d|{_TEX}(?:ssi|sltt|itt)\d|-it?$", re.IGNORECASE
)
_MONOSPACED = re.compile(
    rf"mono(?!type)|courier|consol|{_TEX}(?:tt|sltt|itt|st|it)\d|nimbusmon|typewriter|menlo|monaco|inconsolata"
    r"|lettergothic|fixed|terminal|t1?xb?tt",
    re.IGNORECASE,
)
_NARROW = re.compile(r"[ijlt.,;:|']")
_WIDE = re.compile(r"[mwMWOQ@]")
_LEAST_DIFFERENCE = 1.12
"""Ratio of the usual mean widths of words from which one width of all letters is no chance."""
_INVISIBLE = re.compile("[\u200b\u200e\u200f\u2060\ufeff]")
_CONTROLS = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}
"""Punctuation of Windows' encoding in place of the control characters that some fonts give for it."""
_UNMAPPED = re.compile(r"GLYPH<[^>]*>|[\ue000-\uf8ff\ufffd]|[\x01-\x08\x0e-\x1f\x7f]|\(cid:\d+\)")
_ONLY_CLIPS = 7
"""PDF's text rendering mode of letters that only clip a picture."""
_BELOW_BASE = 0.18
"""Share of a letter's box below the base line."""
_GLYPH_NAME = re.compile(r"/?[A-Za-z]{0,5}[-_.]?\d{2,8}")
UNKNOWN = "\ufffd"
"""Text of a glyph without a Unicode character."""
UPSIDE_DOWN = 180
"""Rotation in degrees."""


@dataclass(slots=True)  # frozen ones take six times as long to make, and a page has thousands
class Word(Rectangle):
    """A word on an upright page, never changed; lengths in points from the page's upper left corner."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    size: float
    """Font size."""
    bold: bool = False
    italic: bool = False
    monospaced: bool = False
    angle: int = 0
    """Counter-clockwise rotation in degrees: 0, 90, 180 or 270."""
    unmapped: bool = False
    """Whether some of its glyphs have no Unicode character; the text is without them."""
    font: str = ""
    """Name of the font in the file."""

    @property
    def length(self) -> float:
        """Length along the direction of the text."""
        return self.height if self.angle % 180 else self.width


def page_words(page: DecodedPage) -> list[Word]:
    """Return the words painted on the page, or hidden over its picture; words painted twice are returned once."""
    cells = [_Painted.of(cell) for cell in page.cells]
    monospaced = _monospaced(cells)
    words = []
    for cell in cells:
        if cell.mode == _ONLY_CLIPS:
            continue
        word = _word(cell, cell.font in monospaced, left=page.left, top=page.top)
        if word and word.right > 0 and word.left < page.width and word.bottom > 0 and word.top < page.height:
            words.append(word)
    return list(_once(words))


class _Painted(NamedTuple):
    """A word of docling-parse: each look at one of its own takes longer than a calculation."""

    text: str
    font: str
    mode: int
    x: tuple[float, float, float, float]
    y: tuple[float, float, float, float]

    @classmethod
    def of(cls, cell: Cell) -> "_Painted":
        x, y = (cell.r_x0, cell.r_x1, cell.r_x2, cell.r_x3), (cell.r_y0, cell.r_y1, cell.r_y2, cell.r_y3)
        return cls(cell.text, cell.font_name, cell.rendering_mode, x, y)


def _word(cell: _Painted, monospaced: bool, *, left: float, top: float) -> Word | None:
    x, y = cell.x, cell.y
    if not isfinite(sum(x) + sum(y)) and not all(map(isfinite, (*x, *y))):
        return None
    level = y[0] == y[1] and x[0] == x[3] and x[1] >= x[0]  # most words are: their sides need no roots and angles
    height = abs(y[3] - y[0]) if level else hypot(x[3] - x[0], y[3] - y[0])
    if height <= 0:
        return None
    text, unmapped = readable(cell.text)
    if not text:
        return None
    length = x[1] - x[0] if level else hypot(x[1] - x[0], y[1] - y[0])
    # A name of many letters in the width of one letter is the name of a glyph without a Unicode character.
    if length < 0.16 * height * len(text) and _GLYPH_NAME.fullmatch(text):
        text, unmapped = UNKNOWN, True
    font = cell.font
    return Word(
        text,
        min(x) - left,
        max(x) - left,
        top - max(y),
        top - min(y),
        height,
        is_bold(font),
        is_italic(font),
        monospaced,
        0 if level else _angle(x, y),
        unmapped,
        font,
    )


def _angle(x: Sequence[float], y: Sequence[float]) -> int:
    """Return the rotation of a word by its corners; a mirrored letter, as the first E of XeTeX's logo, has none."""
    angle = round(degrees(atan2(y[1] - y[0], x[1] - x[0])) / 90) % 4 * 90
    return 0 if angle == UPSIDE_DOWN and y[3] > y[0] else angle


@lru_cache(maxsize=1024)
def is_bold(font: str) -> bool:
    """Tell whether the name of a font says that it is bold."""
    return _BOLD.search(font) is not None


@lru_cache(maxsize=1024)
def is_monospaced(font: str) -> bool:
    """Tell whether the name of a font says that all letters have one width."""
    return _MONOSPACED.search(font) is not None


@lru_cache(maxsize=1024)
def is_italic(font: str) -> bool:
    """Tell whether the name of a font says that it is italic."""
    return _ITALIC.search(font) is not None


def readable(text: str) -> tuple[str, bool]:
    """Return the text without presentation forms and invisible characters, and whether it had unmapped glyphs."""
    if text.isascii() and text.isprintable() and "<" not in text and "(" not in text:
        return text.strip(), False
    text = as_letters(clean(text.translate(_CONTROLS)))
    text, unmapped = _UNMAPPED.subn("", _INVISIBLE.sub("", text))
    text = " ".join(text.split())
    if unmapped and not text:
        return UNKNOWN, True
    return text, unmapped > 0


def _once(words: Iterable[Word]) -> Iterator[Word]:
    """Yield the words without repetitions at one place, which make a shadow or a heavier weight."""
    seen: dict[str, list[tuple[float, float]]] = {}
    for word in words:
        places = seen.get(word.text)
        if places is None:
            seen[word.text] = [(word.left, word.top)]
            yield word
            continue
        near = 0.15 * word.size
        # Repetitions follow each other; a search further back would be quadratic.
        if any(abs(word.left - left) < near and abs(word.top - top) < near for left, top in places[-4:]):
            continue
        places.append((word.left, word.top))
        yield word


class LetterHeights:
    """A correction of font sizes far too small for the letters' width, for fonts that state a wrong height.

    It belongs to one document and gathers all its pages, so that equal sizes stay equal.
    """

    def __init__(self) -> None:
        self._heights = 0.0
        self._letters = 0

    def corrected(self, words: Sequence[Word]) -> list[Word]:
        """Return a page's words with corrected font sizes."""
        usual = _usual_sizes(words)
        wrong = {size for size, true in usual.items() if size[0] < 0.6 * true}
        if not wrong:
            return list(words)
        for size in wrong:
            letters = sum(letter_widths(word.text) for word in words if _alike(word) == size)
            self._heights += letters * usual[size] / max(size[0], 0.1)
            self._letters += letters
        factor = self._heights / self._letters
        return [_grown(word, factor) if _alike(word) in wrong else word for word in words]


def _grown(word: Word, factor: float) -> Word:
    """Return the word with its font size times `factor`, on the same base line."""
    size = word.size * factor
    below = _BELOW_BASE * (size - word.size)
    above = size - word.size - below
    match word.angle:
        case 0:
            return replace(word, size=size, top=word.top - above, bottom=word.bottom + below)
        case 90:
            return replace(word, size=size, left=word.left - above, right=word.right + below)
        case 180:
            return replace(word, size=size, top=word.top - below, bottom=word.bottom + above)
        case _:
            return replace(word, size=size, left=word.left - below, right=word.right + above)


def _alike(word: Word) -> tuple[float, bool]:
    return round(word.size, 1), word.monospaced


def _usual_sizes(words: Sequence[Word]) -> dict[tuple[float, bool], float]:
    """Return the usual font size of letters of that width, by stated font size."""
    widths: dict[tuple[float, bool], tuple[float, int]] = {}
    for word in words:
        size = _alike(word)
        length, letters = widths.get(size, (0.0, 0))
        widths[size] = (length + word.length, letters + letter_widths(word.text))
    return {size: 1.8 * length / letters for size, (length, letters) in widths.items()}


def _monospaced(cells: Sequence[_Painted]) -> frozenset[str]:
    """Return the fonts whose narrow and wide letters have one width."""
    ratios: dict[str, dict[str, float]] = {}
    narrow: set[str] = set()
    for text, font, _, x, y in cells:
        if len(text) < 3 or not text.isascii() or "GLYPH<" in text:
            continue
        ratios.setdefault(font, {})[text] = hypot(x[1] - x[0], y[1] - y[0]) / len(text)
        if font not in narrow and _NARROW.search(text) and _WIDE.search(text):
            narrow.add(font)
    return frozenset(
        font
        for font, found in ratios.items()
        if is_monospaced(font)
        or (font in narrow and len(found) > 2 and max(found.values()) < 1.03 * min(found.values()) and _differ(found))
    )


def _differ(texts: Iterable[str]) -> bool:
    """Tell whether the words would have letters of different mean width in most fonts."""
    widths = [sum(map(_usual_width, text)) / len(text) for text in texts]
    return max(widths) > _LEAST_DIFFERENCE * min(widths)


def _usual_width(letter: str) -> float:
    """Return the width of a letter in fonts whose letters have different ones, in font sizes."""
    if _NARROW.match(letter):
        return 0.3
    return 0.8 if _WIDE.match(letter) else 0.67 if letter.isupper() else 0.5

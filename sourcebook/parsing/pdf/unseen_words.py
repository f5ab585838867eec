"""Words of a page that nobody sees: without them, its picture is the same."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from ctypes import c_double, c_int
from dataclasses import dataclass
from typing import Any

from pypdfium2 import raw  # type: ignore[import-untyped] # has no stubs

from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.painted_objects import DoubtfulTexts, address, doubtful_texts
from sourcebook.parsing.pdf.pdfium_words import pdfium_words
from sourcebook.parsing.pdf.words import Word

_SMALLEST, _LARGEST_TINY = 0.0014, 1.2
"""Font size below which nobody reads a word, as a share of the page's longer side and in points, as on A4."""
_LEAST_PIXELS, _MOST_PIXELS = 900, 2_000
"""Pixels of the longer side of the pictures that are compared."""
_SEEN = 10
"""Difference of colour, 0 to 255, from which a change is seen."""
_INK = 40
"""Difference of colour within a word's box on a scan, from which a word is there."""
_FEWEST_DRAWN = 30
"""Fewest drawn shapes of a page whose letters may be outlines."""
_LEAST = 0.5
"""Share of a word's letters that are invisible."""
_FAR = 1e5
"""Points beyond the edge of a page within which text is looked for."""


@dataclass(slots=True)
class _Letter:
    index: int
    text: str
    middle: tuple[float, float]
    """Middle of its box, in pixels of the picture."""
    changed: bool
    """Whether the picture is another one without the doubtful texts."""
    recognised: bool
    over_picture: bool


def without_tiny(words: Sequence[Word], page: DecodedPage) -> list[Word]:
    """Return the words large enough to be read by anybody."""
    least = min(_SMALLEST * max(page.width, page.height), _LARGEST_TINY)
    return [word for word in words if word.size >= least or word.length >= least * len(word.text)]


@dataclass(frozen=True, slots=True)
class SeenWords:
    """Words that a reader of a page sees, and those that OCR wrote over a scan."""

    words: Sequence[Word]
    unseen: int = 0
    """Number of the other words."""
    beyond: int = 0
    """Words above, below and left of the page."""


def seen_words(words: Sequence[Word], page: DecodedPage, opened: Any, text: Any, *, with_layers: bool) -> SeenWords:
    """Return the words of a page without those that change nothing in its picture.

    Args:
        words: words of the page.
        page: the decoded page.
        opened: PDFium's page.
        text: its text.
        with_layers: whether the file has layers that may be switched off.
    """
    doubtful = doubtful_texts(opened, with_layers=with_layers)
    beyond = _words_beyond(opened, text)
    if not doubtful.texts or not words:
        return SeenWords(words, beyond=beyond)
    longer = max(page.width, page.height)
    scale = min(_MOST_PIXELS / longer, max(1.0, _LEAST_PIXELS / longer))
    shown = opened.render(scale=scale).to_numpy()
    _set_active(doubtful, active=False)
    changed = abs(opened.render(scale=scale).to_numpy().astype("int16") - shown).max(axis=2) > _SEEN
    _set_active(doubtful, active=True)
    owners = [raw.FPDFText_GetTextObject(text.raw, index) for index in range(text.count_chars())]
    picked = [index for index, owner in enumerate(owners) if owner and address(owner) in doubtful.texts]
    unseen = [one for one in _letters(text, picked, opened, doubtful, changed) if not one.changed]
    if not unseen:
        return SeenWords(words, beyond=beyond)
    gone = {one.index for one in unseen}
    others = [index for index, owner in enumerate(owners) if owner and index not in gone]
    seen = list(_letters(text, others, opened, doubtful, changed))
    places, visible = _Places(unseen), _Places(seen)
    is_scan = doubtful.scanned and len(seen) < len(unseen)
    drawn = page.drawn >= _FEWEST_DRAWN

    kept: list[Word] = []
    mixed: list[Word] = []
    for word in words:
        box = (word.left * scale, word.top * scale, word.right * scale, word.bottom * scale)
        hidden = places.within(box)
        if not hidden or (
            all(one.recognised and (one.over_picture or drawn) for one in hidden) and (is_scan or _ink(shown, box))
        ):
            kept.append(word)
            continue
        inside = _letter_counts("".join(one.text for one in hidden))
        own, beside = _letter_counts(word.text), _letter_counts("".join(one.text for one in visible.within(box)))
        lacking = (own - beside) & inside
        if lacking.total() < _LEAST * min(own.total(), inside.total()):
            kept.append(word)
        elif own.total() > inside.total():
            mixed.append(word)
    unseen_count = len(words) - len(kept) - len(mixed)
    if mixed:  # letters of both in one word: PDFium has them apart
        apart = [word for word in pdfium_words(text, page, without=gone) if any(_holds(one, word) for one in mixed)]
        kept += apart
        unseen_count += len(mixed)
    return SeenWords(kept, unseen_count, beyond)


def _ink(shown: Any, box: tuple[float, float, float, float]) -> bool:
    """Tell whether something is drawn within a box."""
    left, top, right, bottom = (max(0, round(edge)) for edge in box)
    below = shown[top : bottom + 1, left : right + 1].reshape(-1, shown.shape[2])
    return bool(len(below) and (below.max(axis=0) - below.min(axis=0)).max() >= _INK)


def _holds(word: Word, other: Word) -> bool:
    middle = (other.left + other.right) / 2
    return word.left <= middle <= word.right and word.top <= other.middle <= word.bottom


def _words_beyond(opened: Any, text: Any) -> int:
    left, bottom, right, top = opened.get_bbox()
    strips = (
        (-_FAR, -_FAR, left, _FAR),
        (left, top, right, _FAR),
        (left, -_FAR, right, bottom),
    )
    return sum(len(text.get_text_bounded(*strip).split()) for strip in strips)


def _set_active(doubtful: DoubtfulTexts, *, active: bool) -> None:
    for one in doubtful.texts.values():
        raw.FPDFPageObj_SetIsActive(one, active)


def _letters(
    text: Any, indexes: Iterable[int], opened: Any, doubtful: DoubtfulTexts, changed: Any
) -> Iterator[_Letter]:
    """Yield the letters of these indexes with their places on the picture of which `changed` has a value a pixel."""
    edges = [c_double() for _ in range(4)]
    x, y = c_int(), c_int()
    height, width = changed.shape
    for index in indexes:
        letter = chr(min(raw.FPDFText_GetUnicode(text.raw, index), 0x10FFFF))
        if letter.isspace() or not raw.FPDFText_GetCharBox(text.raw, index, *edges):
            continue
        left, right, bottom, top = (edge.value for edge in edges)
        corners = []
        for point in ((left, bottom), (right, top)):
            raw.FPDF_PageToDevice(opened.raw, 0, 0, width, height, 0, *point, x, y)
            corners.append((x.value, y.value))
        (one_x, one_y), (other_x, other_y) = corners
        rows = slice(max(0, min(one_y, other_y)), max(0, one_y, other_y) + 1)
        columns = slice(max(0, min(one_x, other_x)), max(0, one_x, other_x) + 1)
        x_place, y_place = (left + right) / 2, (bottom + top) / 2
        recognised = address(raw.FPDFText_GetTextObject(text.raw, index)) in doubtful.recognised
        over_picture = recognised and any(
            box[0] < x_place < box[2] and box[1] < y_place < box[3] for box in doubtful.pictures
        )
        middle = ((one_x + other_x) / 2, (one_y + other_y) / 2)
        yield _Letter(index, letter, middle, bool(changed[rows, columns].any()), recognised, over_picture)


class _Places:
    """Letters by the middle of their boxes."""

    def __init__(self, letters: Sequence[_Letter]) -> None:
        import numpy as np

        self._letters = letters
        self._x, self._y = np.array([one.middle for one in letters]).reshape(-1, 2).T

    def within(self, box: tuple[float, float, float, float]) -> list[_Letter]:
        """Return the letters in a box."""
        left, top, right, bottom = box
        inside = (self._x >= left - 1) & (self._x <= right + 1) & (self._y >= top - 1) & (self._y <= bottom + 1)
        return [self._letters[int(place)] for place in inside.nonzero()[0]]


def _letter_counts(text: str) -> Counter[str]:
    return Counter(letter for letter in text.casefold() if letter.isalnum()) or Counter(text)

"""Words in the text of a page that PDFium reads."""

import ctypes
from collections.abc import Container, Iterator
from math import degrees
from typing import Any

import pypdfium2  # type: ignore[import-untyped] # has no stubs
from pypdfium2 import raw

from sourcebook.model.document import Box
from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.east_asian_words import OF_PDFIUM
from sourcebook.parsing.pdf.words import UPSIDE_DOWN, Word, is_bold, is_italic, is_monospaced, readable
from sourcebook.parsing.text.east_asian import is_east_asian

_LIGATURES = ("ff", "fi", "fl", "ffi", "ffl")
_TEX_LETTERS = {**dict(enumerate(_LIGATURES, 0x0B)), **dict(enumerate(_LIGATURES, 0x1B)), 0x88: "•"}
"""Letters of TeX's encodings OT1, T1 and TS1 at codes of control characters, for fonts that name no characters."""
_TEX_SIGNS = {
    0x0B: "⊘",
    0x0C: "⊙",
    0x0D: "◯",
    0x0E: "◦",
    0x0F: "•",
    0x1B: "⊃",
    0x1C: "≪",
    0x1D: "≫",
    0x1E: "≺",
    0x1F: "≻",
}
"""Signs at these codes in TeX's font of symbols."""
_LONGEST_NAME = 256
"""Most bytes of a font's name."""


def pdfium_words(
    text: Any, page: DecodedPage, *, reach: float = 0.0, marked: bool = False, without: Container[int] = ()
) -> Iterator[Word]:
    """Yield the words between white space; a word that is divided at the end of a line is two.

    Args:
        text: text of the page.
        page: the decoded page.
        reach: points beyond the right edge within which words end; with it, only those that end beyond the edge.
        marked: whether words of fonts that name no characters are unmapped.
        without: indexes of letters that are left out.
    """
    letters: list[str] = []
    first = angle = 0
    count = text.count_chars()
    text = text.raw  # each letter is asked for several times, and pypdfium2's object takes longer than PDFium
    is_hyphen, unicode = raw.FPDFText_IsHyphen, raw.FPDFText_GetUnicode
    for index in range(count + 1):
        if letters and index < count and is_hyphen(text, index) == 1:
            if (word := _word(text, page, f"{''.join(letters)}-", first, index + 1, reach, marked)) is not None:
                yield word
            letters = []
            continue
        code = unicode(text, index) if index < count and index not in without else 0x20
        letter = chr(code) if 0 < code < 0x110000 else " "
        if code in _TEX_LETTERS and raw.FPDFText_HasUnicodeMapError(text, index) == 1:
            letter = _TEX_SIGNS.get(code, " ") if "cmsy" in _font(text, index).lower() else _TEX_LETTERS[code]
        is_space = letter.isspace()
        turned = 0 if is_space else _angle(text, index)
        if not is_space and (not letters or turned == angle):
            if not letters:
                first, angle = index, turned
            letters.append(letter)
            continue
        if letters and (word := _word(text, page, "".join(letters), first, index, reach, marked)) is not None:
            yield word
        letters = [] if is_space else [letter]
        first, angle = index, turned


def _angle(text: Any, index: int) -> int:
    """Return the counter-clockwise rotation of a letter: 0, 90, 180 or 270 degrees."""
    turned = raw.FPDFText_GetCharAngle(text, index)
    if turned == 0:
        return 0
    angle = round(-degrees(turned) / 90) % 4 * 90
    return 0 if angle == UPSIDE_DOWN and _is_mirrored(text, index) else angle


def _is_mirrored(text: Any, index: int) -> bool:
    matrix = raw.FS_MATRIX()
    return bool(raw.FPDFText_GetMatrix(text, index, matrix)) and matrix.a * matrix.d - matrix.b * matrix.c < 0


def _word(text: Any, page: DecodedPage, letters: str, first: int, end: int, reach: float, marked: bool) -> Word | None:
    edge = page.left + page.width
    if reach and all(_box(text, index)[2] <= edge for index in (first, end - 1)):
        return None  # nearly all words of such a page
    shown, unmapped = readable(letters)
    boxes = [_box(text, index) for index in range(first, end)]
    boxes = [box for box in boxes if box[2] > box[0] and box[3] > box[1]]
    if not boxes or not shown:
        return None
    left, right = min(box[0] for box in boxes) - page.left, max(box[2] for box in boxes) - page.left
    top, bottom = page.top - max(box[3] for box in boxes), page.top - min(box[1] for box in boxes)
    if right <= 0 or left >= page.width + reach or bottom <= 0 or top >= page.height:
        return None
    main = first
    if not letters.isascii():
        main = next((index for index in range(first, end) if _is_east_asian(text, index)), first)
    font, angle = _font(text, main), _angle(text, main)
    size = right - left if angle % 180 else bottom - top
    if main != first or (end > first + 1 and not letters.isascii() and _is_east_asian(text, first)):
        box = _box(text, main)  # the word's own box is also that of another font's letters
        size = abs(box[2] - box[0] if angle % 180 else box[3] - box[1]) or size
    return Word(
        text=shown,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        size=size,
        bold=is_bold(font),
        italic=is_italic(font),
        monospaced=is_monospaced(font),
        angle=angle,
        unmapped=unmapped or (marked and raw.FPDFText_HasUnicodeMapError(text, first) == 1),
        font=f"{OF_PDFIUM}{font}",
    )


def _box(text: Any, index: int) -> Box:
    """Return the left, lower, right and upper edge of a letter's box, which is as high as its font."""
    box = raw.FS_RECTF()
    if not raw.FPDFText_GetLooseCharBox(text, index, box):
        raise pypdfium2.PdfiumError("Failed to get charbox.")
    return box.left, box.bottom, box.right, box.top


def _is_east_asian(text: Any, index: int) -> bool:
    code = raw.FPDFText_GetUnicode(text, index)
    return code > 0xFF and is_east_asian(chr(code))


def _font(text: Any, index: int) -> str:
    name, flags = ctypes.create_string_buffer(_LONGEST_NAME), ctypes.c_int()
    raw.FPDFText_GetFontInfo(text, index, name, _LONGEST_NAME, flags)
    return name.value.decode("utf-8", "replace")

"""Words of pages as PDFium reads them, for pages whose fonts docling-parse decodes wrongly."""

import ctypes
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import degrees
from typing import Any

import pypdfium2  # type: ignore[import-untyped] # has no stubs
from pypdfium2 import raw

from sourcebook.parsing.pdf.beyond_page import WholeLines, with_lines_beyond
from sourcebook.parsing.pdf.bidirectional import has_right_to_left
from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.east_asian_words import OF_PDFIUM
from sourcebook.parsing.pdf.glued_words import with_parted_words
from sourcebook.parsing.pdf.layout.east_asian import is_east_asian
from sourcebook.parsing.pdf.presentation_forms import as_letters
from sourcebook.parsing.pdf.tight_boxes import TightBoxes
from sourcebook.parsing.pdf.unknown_fonts import with_known_fonts, with_other_scripts
from sourcebook.parsing.pdf.words import UNKNOWN, UPSIDE_DOWN, Word, is_bold, is_italic, is_monospaced, readable

_LEAST_ALIKE = 0.99
"""Share of the words that both readers find at which the first reading is kept."""
_LEAST_GAIN = 0.01
"""Share of plain words more in the second reading at which it is taken."""
_MOST_MORE = 0.1
"""Share of letters more, in words that the first reading lacks, above which the second is taken: a font was lost."""
_MOST_LESS_PLAIN = 0.05
"""Share of plain words by which such a second reading may be behind."""
_MANY_MORE = 1.0
_LEAST_PLAIN = 0.4
"""Share of letters more from which a page is nearly lost in the first reading, and of plain words in the second."""
_FEWEST_TORN = 5
_MOST_TORN = 0.03
"""Words with unknown letters from which a page has holes: their number, and their share of its words."""
_LEAST_FILLED = 0.01
"""Share of letters more, in words that the first reading lacks, with which another reading fills the holes."""
_MOST_UNKNOWN = 0.5
"""Largest number of words without any known character, per other word."""
_FEWEST_WORDS = 12
"""Words of both readings of a page below which they are not compared."""
_FAR = 1e5
"""Points beyond the edge of a page within which text is looked for."""
_DIVIDED = "\ufffe"
"""PDFium's sign for the hyphen of a word that is divided at the end of a line."""
_PLAIN = re.compile(r"\W*[^\W\d_]+(?:['’-][^\W\d_]+)*\W*")
_TWO_LETTERS = re.compile(r"[^\W\d_]{2}")
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


class SecondReading:
    """A PDF opened with PDFium."""

    def __init__(self, document: Any) -> None:
        self._document = document

    def better_words(self, words: Sequence[Word], page: DecodedPage, number: int, boxes: TightBoxes) -> WholeLines:
        """Return the words of a page as PDFium reads them where these are other and more plain words.

        Else the words are the same, but for those that PDFium parts where white space is. Lines that run over the right
        edge of the page are whole in both.

        Args:
            words: Words of the first reading.
            page: The decoded page.
            number: Number of the page, counted from 1.
            boxes: Correction of the boxes that PDFium gives; those of the first reading are corrected already.
        """
        if self._document is None or not words or number > len(self._document):
            return WholeLines(words)
        try:
            with _text_page(self._document, number) as (opened, text):
                better = _better_words(words, page, opened, text, boxes)
                edge = page.left + page.width
                if opened.get_rotation() or not text.get_text_bounded(edge, -_FAR, edge + _FAR, _FAR).strip():
                    return WholeLines(better)
                return with_lines_beyond(better, list(_words(text, page, reach=_FAR)), page)
        except pypdfium2.PdfiumError:
            return WholeLines(words)


def _better_words(
    words: Sequence[Word], page: DecodedPage, opened: Any, text: Any, boxes: TightBoxes
) -> Sequence[Word]:
    second = Counter(text.get_text_range().replace(_DIVIDED, "- ").split())
    if max(len(words), second.total()) < _FEWEST_WORDS:
        return words
    words = with_other_scripts(words, second, lambda: list(_words(text, page, marked=True)))
    first = Counter(word.text for word in words)
    torn = _torn(words)
    if opened.get_rotation() or not (
        _is_better(second, first) or _is_fuller(second, first) or (torn and _fills_holes(second, first))
    ):
        return _with_second_words(words, second, page, text)
    if any(has_right_to_left(word.text) for word in words) and _has_letters_of(words, second):
        return words  # PDFium parts and turns words from right to left at brackets and Latin letters
    read = list(_words(text, page))
    shown = Counter(word.text for word in read)
    if not (
        _is_better(second, first)
        or _is_fuller(shown, first)
        or (torn and not _torn(read) and _fills_holes(shown, first))
    ):
        return _with_second_words(words, second, page, text)  # what the first reading lacks is beyond the page
    return boxes.corrected(read)


def _with_second_words(words: Sequence[Word], second: Counter[str], page: DecodedPage, text: Any) -> Sequence[Word]:
    """Return the words of the first reading, the unknown ones and those that it glues together as PDFium has them."""
    known = with_known_fonts(words, lambda: list(_words(text, page, marked=True)))
    return with_parted_words(known, second, page)


@contextmanager
def second_reading(content: bytes) -> Iterator[SecondReading]:
    """Open a file with PDFium; where PDFium cannot, every first reading is kept."""
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError:
        yield SecondReading(None)
        return
    try:
        yield SecondReading(document)
    finally:
        document.close()


@contextmanager
def _text_page(document: Any, number: int) -> Iterator[tuple[Any, Any]]:
    page = document[number - 1]
    try:
        text = page.get_textpage()
        try:
            yield page, text
        finally:
            text.close()
    finally:
        page.close()


def _is_better(second: Counter[str], first: Counter[str]) -> bool:
    """Tell whether a second reading has other and more plain words; bullets without a character do not count."""
    known = _known(first)
    alike = (known & second).total() >= _LEAST_ALIKE * known.total()
    if alike and first[UNKNOWN] <= _MOST_UNKNOWN * known.total():
        return False
    return _plain_share(second) >= _plain_share(known) + _LEAST_GAIN


def _is_fuller(second: Counter[str], first: Counter[str]) -> bool:
    """Tell whether a second reading has words whose letters are missing in the first one.

    Words that the first reading glues together, or has once where they are painted twice, are not missing.
    """
    lost = Counter({word: count for word, count in second.items() if word not in first})
    if _letter_count(lost) <= _MOST_MORE * _letter_count(first):  # nearly every page; the rest takes a millisecond
        return False
    known, other = _letters(first), _letters(second)
    if other.total() <= known.total() * (1 + _MOST_MORE):
        return False
    more = (other - known) & _letters(lost)
    least = _plain_share(first) - _MOST_LESS_PLAIN
    if more.total() > _MANY_MORE * known.total():
        least = min(least, _LEAST_PLAIN)  # the few words of the first reading say little about the page
    is_plain = _plain_share(second) >= least
    return more.total() > _MOST_MORE * known.total() and is_plain


def _torn(words: Sequence[Word]) -> bool:
    """Tell whether so many words have glyphs without a character that a page has holes."""
    torn = sum(word.unmapped for word in words)
    return torn >= max(_FEWEST_TORN, _MOST_TORN * len(words))


def _fills_holes(second: Counter[str], first: Counter[str]) -> bool:
    """Tell whether a second reading has words that the first one lacks; a letter alone may stand for a bullet."""
    lost = Counter({word: count for word, count in second.items() if word not in first and _TWO_LETTERS.search(word)})
    known = _letters(first)
    more = (_letters(second) - known) & _letters(lost)
    return more.total() > _LEAST_FILLED * known.total() and _plain_share(second) >= _plain_share(_known(first))


def _known(words: Counter[str]) -> Counter[str]:
    return Counter({word: count for word, count in words.items() if word != UNKNOWN})


def _letter_count(words: Counter[str]) -> int:
    return sum(count * sum(map(str.isalpha, word)) for word, count in words.items())


def _letters(words: Counter[str]) -> Counter[str]:
    letters = Counter[str]()
    for word, count in words.items():
        for letter in filter(str.isalpha, as_letters(word)):
            letters[letter] += count
    return letters


def _has_letters_of(words: Sequence[Word], second: Counter[str]) -> bool:
    """Tell whether the first reading has the letters of the second, whatever their order."""
    first, other = Counter[str](), Counter[str]()
    for word in words:
        first.update(word.text)
    for text, count in second.items():
        other.update({letter: count * times for letter, times in Counter(readable(text)[0]).items()})
    return (first & other).total() >= _LEAST_ALIKE * other.total()


def _plain_share(words: Counter[str]) -> float:
    """Return the share of words of letters alone, with punctuation around them."""
    plain = sum(count for word, count in words.items() if _PLAIN.fullmatch(word))
    return plain / max(1, words.total())


def _words(text: Any, page: DecodedPage, *, reach: float = 0.0, marked: bool = False) -> Iterator[Word]:
    """Yield the words between white space; a word that is divided at the end of a line is two.

    Args:
        text: Text of the page.
        page: The decoded page.
        reach: Points beyond the right edge within which words end; with it, only those that end beyond the edge.
        marked: Whether words of fonts that name no characters are unmapped.
    """
    letters: list[str] = []
    first = angle = 0
    count = text.count_chars()
    for index in range(count + 1):
        if letters and index < count and raw.FPDFText_IsHyphen(text, index) == 1:
            if (word := _word(text, page, f"{''.join(letters)}-", first, index + 1, reach, marked)) is not None:
                yield word
            letters = []
            continue
        code = raw.FPDFText_GetUnicode(text, index) if index < count else 0x20
        letter = chr(code) if 0 < code < 0x110000 else " "
        if code in _TEX_LETTERS and raw.FPDFText_HasUnicodeMapError(text, index) == 1:
            letter = _TEX_SIGNS.get(code, " ") if "cmsy" in _font(text, index).lower() else _TEX_LETTERS[code]
        turned = 0 if letter.isspace() else _angle(text, index)
        if not letter.isspace() and (not letters or turned == angle):
            if not letters:
                first, angle = index, turned
            letters.append(letter)
            continue
        if letters and (word := _word(text, page, "".join(letters), first, index, reach, marked)) is not None:
            yield word
        letters = [] if letter.isspace() else [letter]
        first, angle = index, turned


def _angle(text: Any, index: int) -> int:
    """Return the counter-clockwise rotation of a letter: 0, 90, 180 or 270 degrees."""
    angle = round(-degrees(raw.FPDFText_GetCharAngle(text, index)) / 90) % 4 * 90
    return 0 if angle == UPSIDE_DOWN and _is_mirrored(text, index) else angle


def _is_mirrored(text: Any, index: int) -> bool:
    matrix = raw.FS_MATRIX()
    return bool(raw.FPDFText_GetMatrix(text, index, matrix)) and matrix.a * matrix.d - matrix.b * matrix.c < 0


def _word(text: Any, page: DecodedPage, letters: str, first: int, end: int, reach: float, marked: bool) -> Word | None:
    edge = page.left + page.width
    if reach and all(text.get_charbox(index, loose=True)[2] <= edge for index in (first, end - 1)):
        return None  # nearly all words of such a page
    shown, unmapped = readable(letters)
    boxes = [text.get_charbox(index, loose=True) for index in range(first, end)]
    boxes = [box for box in boxes if box[2] > box[0] and box[3] > box[1]]
    if not boxes or not shown:
        return None
    left, right = min(box[0] for box in boxes) - page.left, max(box[2] for box in boxes) - page.left
    top, bottom = page.top - max(box[3] for box in boxes), page.top - min(box[1] for box in boxes)
    if right <= 0 or left >= page.width + reach or bottom <= 0 or top >= page.height:
        return None
    main = next((index for index in range(first, end) if _is_east_asian(text, index)), first)
    font, angle = _font(text, main), _angle(text, main)
    size = right - left if angle % 180 else bottom - top
    if main != first or (end > first + 1 and _is_east_asian(text, first)):
        box = text.get_charbox(main, loose=True)  # the word's own box is also that of another font's letters
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


def _is_east_asian(text: Any, index: int) -> bool:
    code = raw.FPDFText_GetUnicode(text, index)
    return code > 0xFF and is_east_asian(chr(code))


def _font(text: Any, index: int) -> str:
    name, flags = ctypes.create_string_buffer(_LONGEST_NAME), ctypes.c_int()
    raw.FPDFText_GetFontInfo(text, index, name, _LONGEST_NAME, flags)
    return name.value.decode("utf-8", "replace")

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

from sourcebook.model.document import Box
from sourcebook.parsing.pdf.beyond_page import WholeLines, with_lines_beyond, words_within
from sourcebook.parsing.pdf.bidirectional import has_right_to_left
from sourcebook.parsing.pdf.crowded_pages import is_crowded
from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.east_asian_words import OF_PDFIUM
from sourcebook.parsing.pdf.glued_words import with_parted_words
from sourcebook.parsing.pdf.layout.east_asian import is_east_asian
from sourcebook.parsing.pdf.presentation_forms import as_letters
from sourcebook.parsing.pdf.tight_boxes import TightBoxes
from sourcebook.parsing.pdf.words import UNKNOWN, UPSIDE_DOWN, Word, is_bold, is_italic, is_monospaced, readable

_LEAST_ALIKE = 0.99
"""Share of the words that both readers find at which the first reading is kept."""
_LEAST_GAIN = 0.01
"""Share of plain words more in the second reading at which it is taken."""
_MOST_MORE = 0.1
"""Share of letters more, in words that the first reading lacks, above which the second is taken: a font was lost."""
_MOST_LESS_PLAIN = 0.05
"""Share of plain words by which such a second reading may be behind."""
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
_PLAIN = re.compile(r"\W*[^\W\d_]+(?:['’-][^\W\d_]+)*\W*")
_TWO_LETTERS = re.compile(r"[^\W\d_]{2}")
_LIGATURES = ("ff", "fi", "fl", "ffi", "ffl")
_TEX_LETTERS = {**dict(enumerate(_LIGATURES, 0x0B)), **dict(enumerate(_LIGATURES, 0x1B)), 0x88: "•"}
"""Letters of TeX's encodings OT1, T1 and TS1 at codes of control characters, for fonts that name no characters."""
_LONGEST_NAME = 256
"""Most bytes of a font's name."""


class SecondReading:
    """A PDF opened with PDFium."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._open: tuple[int, Any, Any] | None = None

    def _page(self, number: int) -> tuple[Any, Any]:
        """Return a page and its text; they stay open until another page is asked for."""
        if self._open is None or self._open[0] != number:
            self.close()
            page = self._document[number - 1]
            try:
                self._open = (number, page, page.get_textpage())
            except pypdfium2.PdfiumError:
                page.close()
                raise
        return self._open[1], self._open[2]

    def close(self) -> None:
        """Close the page that is open."""
        if self._open is not None:
            _, page, text = self._open
            self._open = None
            text.close()
            page.close()

    def must_read(self, number: int) -> bool:
        """Tell whether a page has so many letters beyond its edges that the first reader would take minutes.

        Args:
            number: Number of the page, counted from 1.
        """
        if self._document is None or number > len(self._document):
            return False
        try:
            return is_crowded(*self._page(number))
        except pypdfium2.PdfiumError:
            return False

    def only_words(self, page: DecodedPage, number: int, boxes: TightBoxes) -> WholeLines:
        """Return the words of a page that PDFium alone reads; arguments as for `better_words`."""
        try:
            _, text = self._page(number)
            words = boxes.corrected(words_within(_words(text, page), page))
            return with_lines_beyond(words, list(_words(text, page, reach=_FAR)), page)
        except pypdfium2.PdfiumError:
            return WholeLines(())

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
            opened, text = self._page(number)
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
    second = Counter(text.get_text_range().split())
    if max(len(words), second.total()) < _FEWEST_WORDS:
        return words
    first = Counter(word.text for word in words)
    torn = _torn(words)
    if opened.get_rotation() or not (
        _is_better(second, first) or _is_fuller(second, first) or (torn and _fills_holes(second, first))
    ):
        return with_parted_words(words, second, page)
    if any(has_right_to_left(word.text) for word in words) and _has_letters_of(words, second):
        return words  # PDFium parts and turns words from right to left at brackets and Latin letters
    read = list(_words(text, page))
    shown = Counter(word.text for word in read)
    if not (
        _is_better(second, first)
        or _is_fuller(shown, first)
        or (torn and not _torn(read) and _fills_holes(shown, first))
    ):
        return with_parted_words(words, second, page)  # what the first reading lacks is beyond the page
    return boxes.corrected(read)


@contextmanager
def second_reading(content: bytes) -> Iterator[SecondReading]:
    """Open a file with PDFium; where PDFium cannot, every first reading is kept."""
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError:
        yield SecondReading(None)
        return
    reading = SecondReading(document)
    try:
        yield reading
    finally:
        reading.close()
        document.close()


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
    is_plain = _plain_share(second) >= _plain_share(first) - _MOST_LESS_PLAIN
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


def _words(text: Any, page: DecodedPage, *, reach: float = 0.0) -> Iterator[Word]:
    """Yield the words between white space; with `reach`, only those that end within it beyond the right edge.

    A word that is divided at the end of a line is two.
    """
    letters: list[str] = []
    first = angle = 0
    count = text.count_chars()
    text = text.raw  # each letter is asked for several times, and pypdfium2's object takes longer than PDFium
    is_hyphen, unicode = raw.FPDFText_IsHyphen, raw.FPDFText_GetUnicode
    for index in range(count + 1):
        if letters and index < count and is_hyphen(text, index) == 1:
            if (word := _word(text, page, f"{''.join(letters)}-", first, index + 1, reach)) is not None:
                yield word
            letters = []
            continue
        code = unicode(text, index) if index < count else 0x20
        letter = chr(code) if 0 < code < 0x110000 else " "
        if code in _TEX_LETTERS and raw.FPDFText_HasUnicodeMapError(text, index) == 1:
            letter = _TEX_LETTERS[code]
        is_space = letter.isspace()
        turned = 0 if is_space else _angle(text, index)
        if not is_space and (not letters or turned == angle):
            if not letters:
                first, angle = index, turned
            letters.append(letter)
            continue
        if letters and (word := _word(text, page, "".join(letters), first, index, reach)) is not None:
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


def _word(text: Any, page: DecodedPage, letters: str, first: int, end: int, reach: float) -> Word | None:
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
        unmapped=unmapped,
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

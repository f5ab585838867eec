"""Words of pages as PDFium reads them, for pages whose fonts docling-parse decodes wrongly."""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pypdfium2  # type: ignore[import-untyped] # has no stubs

from sourcebook.parsing.pdf.beyond_page import WholeLines, with_lines_beyond, words_within
from sourcebook.parsing.pdf.bidirectional import has_right_to_left
from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.glued_words import with_parted_words
from sourcebook.parsing.pdf.marks.page_marks import PageMarks, page_marks
from sourcebook.parsing.pdf.narrow_words import with_double_letters
from sourcebook.parsing.pdf.pdfium_words import pdfium_words
from sourcebook.parsing.pdf.presentation_forms import as_letters
from sourcebook.parsing.pdf.raised_words import texts_with_scripts
from sourcebook.parsing.pdf.tight_boxes import TightBoxes
from sourcebook.parsing.pdf.unknown_fonts import with_known_fonts, with_other_scripts
from sourcebook.parsing.pdf.unseen_words import SeenWords, seen_words
from sourcebook.parsing.pdf.words import UNKNOWN, Word, readable

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
_LAYERED = re.compile(rb"/OC\s*[\d<]")
"""Entry of a drawing that is in a layer; the dictionaries of drawings are not compressed."""
_DIVIDED = "\ufffe"
"""PDFium's sign for the hyphen of a word that is divided at the end of a line."""
_PLAIN = re.compile(r"\W*[^\W\d_]+(?:['’-][^\W\d_]+)*\W*")
_TWO_LETTERS = re.compile(r"[^\W\d_]{2}")
_BAND = 2
"""Height of the bands in which words are looked up, in points."""
_MOST_MOVED = 250_000_000
"""Letters beyond a page times letters behind them in the file, at 10 ns each: 2.5 seconds."""


class SecondReading:
    """A PDF opened with PDFium."""

    def __init__(self, document: Any, *, with_layers: bool = False) -> None:
        self._document = document
        self._with_layers = with_layers
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
            number: number of the page, counted from 1.
        """
        if self._document is None or number > len(self._document):
            return False
        try:
            return is_crowded(*self._page(number))
        except pypdfium2.PdfiumError:
            return False

    def marks(self, words: Sequence[Word], page: DecodedPage, number: int) -> tuple[Sequence[Word], PageMarks]:
        """Return the words of a page's content, and the form fields and annotations that lie on it.

        Args:
            words: words of the first reading, those of fields and annotations included.
            page: the decoded page.
            number: number of the page, counted from 1.
        """
        if self._document is None or number > len(self._document):
            return words, PageMarks()
        try:
            opened, text = self._page(number)
            found = page_marks(opened, text, self._document.formenv, page)
            return found.without_appearances(words, page, opened, text), found
        except pypdfium2.PdfiumError:
            return words, PageMarks()

    def seen(self, words: Sequence[Word], page: DecodedPage, number: int) -> SeenWords:
        """Return the words of a page that its reader sees; arguments as for `better_words`."""
        if self._document is None or number > len(self._document):
            return SeenWords(words)
        try:
            return seen_words(words, page, *self._page(number), with_layers=self._with_layers)
        except pypdfium2.PdfiumError:
            return SeenWords(words)

    def only_words(self, page: DecodedPage, number: int, boxes: TightBoxes) -> WholeLines:
        """Return the words of a page that PDFium alone reads; arguments as for `better_words`."""
        try:
            _, text = self._page(number)
            words = boxes.corrected(words_within(pdfium_words(text, page), page))
            return with_lines_beyond(words, list(pdfium_words(text, page, reach=_FAR)), page)
        except pypdfium2.PdfiumError:
            return WholeLines(())

    def better_words(self, words: Sequence[Word], page: DecodedPage, number: int, boxes: TightBoxes) -> WholeLines:
        """Return the words of a page as PDFium reads them where these are other and more plain words.

        Else the words are the same, but for those that PDFium parts where white space is. Lines that run over the right
        edge of the page are whole in both.

        Args:
            words: words of the first reading.
            page: the decoded page.
            number: number of the page, counted from 1.
            boxes: correction of the boxes that PDFium gives; those of the first reading are corrected already.
        """
        if self._document is None or not words or number > len(self._document):
            return WholeLines(words)
        try:
            opened, text = self._page(number)
            if not opened.get_rotation():
                words = with_double_letters(words, lambda: boxes.corrected(list(pdfium_words(text, page))))
            better = _better_words(words, page, opened, text, boxes)
            edge = page.left + page.width
            if opened.get_rotation() or not text.get_text_bounded(edge, -_FAR, edge + _FAR, _FAR).strip():
                return WholeLines(better)
            return with_lines_beyond(better, list(pdfium_words(text, page, reach=_FAR)), page)
        except pypdfium2.PdfiumError:
            return WholeLines(words)


def _better_words(
    words: Sequence[Word], page: DecodedPage, opened: Any, text: Any, boxes: TightBoxes
) -> Sequence[Word]:
    second = Counter(text.get_text_range().replace(_DIVIDED, "- ").split())
    if max(len(words), second.total()) < _FEWEST_WORDS:
        return words
    torn = _torn(words)
    if not torn:  # holes are filled by the whole page, whose words are then of one reader
        words = _with_other_scripts(words, second, page, text)
    first = Counter(word.text for word in words)
    if _is_better(second, first):
        first = Counter(texts_with_scripts(words))
    if opened.get_rotation() or not (
        _is_better(second, first) or _is_fuller(second, first) or (torn and _fills_holes(second, first))
    ):
        return _with_second_words(words, second, page, text)
    if any(has_right_to_left(word.text) for word in words) and _has_letters_of(words, second):
        return words  # PDFium parts and turns words from right to left at brackets and Latin letters
    read = list(pdfium_words(text, page))
    shown = Counter(word.text for word in read)
    alone = _seen_by_one(words, read)
    first -= Counter(word.text for word in alone)  # what PDFium cannot see speaks for neither
    if not (
        _is_better(second, first)
        or _is_fuller(shown, first)
        or (torn and not _torn(read) and _fills_holes(shown, first))
    ):
        return _with_second_words(words, second, page, text)  # what the first reading lacks is beyond the page
    return [*boxes.corrected(read), *alone]


def _seen_by_one(words: Sequence[Word], others: Sequence[Word]) -> list[Word]:
    """Return the readable words in lines of which another reading has nothing; wrong letters run over their place."""
    taken = {band for other in others for band in _bands(other)}
    return [word for word in words if not word.unmapped and taken.isdisjoint(_bands(word))]


def _bands(word: Word) -> range:
    return range(int(max(word.top, 0.0) // _BAND), int(min(word.bottom, _FAR) // _BAND) + 1)


def _with_second_words(words: Sequence[Word], second: Counter[str], page: DecodedPage, text: Any) -> Sequence[Word]:
    """Return the words of the first reading, the unknown ones and those that it glues together as PDFium has them."""
    words = _with_other_scripts(words, second, page, text)
    known = with_known_fonts(words, lambda: list(pdfium_words(text, page, marked=True)))
    return with_parted_words(known, second, page)


def _with_other_scripts(words: Sequence[Word], second: Counter[str], page: DecodedPage, text: Any) -> Sequence[Word]:
    return with_other_scripts(words, second, lambda: list(pdfium_words(text, page, marked=True)))


@contextmanager
def second_reading(content: bytes) -> Iterator[SecondReading]:
    """Open a file with PDFium; where PDFium cannot, every first reading is kept."""
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError:
        yield SecondReading(None)
        return
    with suppress(pypdfium2.PdfiumError):
        logging.getLogger("pypdfium2").setLevel(logging.ERROR)  # it warns of every XFA form
        document.init_forms()
    reading = SecondReading(document, with_layers=_LAYERED.search(content) is not None)
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


def is_crowded(page: Any, text: Any) -> bool:  # pypdfium2 has no stubs
    """Tell whether docling-parse would take too long for a page.

    Args:
        page: PDFium's page.
        text: PDFium's text of the page.
    """
    letters = text.count_chars()
    if letters * letters < 2 * _MOST_MOVED:  # nearly all pages
        return False
    inside = len(text.get_text_bounded(*page.get_bbox()))
    beyond = max(0, letters - inside)
    return bool(beyond * (inside + beyond / 2) > _MOST_MOVED)

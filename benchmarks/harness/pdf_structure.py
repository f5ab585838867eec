"""Headings and table cells of PDFs as the files themselves tell them: by their outline and by the tags of their text.

PDFium reads both. The outline is hidden from readers, which would only copy it.

Outlines leave out the headings of the lower levels: an outline of two levels says nothing about a heading of the third.
So a heading that a reader finds is scored twice: right or wrong by the outline alone, and, in a figure of its own,
neither right nor wrong where its level is deeper than the outline goes. Level 1 is the document's title, which outlines
do not name, so that an outline of two levels covers the levels up to 3. No other heading is excused: not the title
itself, nor `Contents`, nor `References`, which many outlines leave out.
"""

import ctypes
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pypdfium2  # type: ignore[import-untyped] # has no stubs
from pypdfium2 import raw

from benchmarks.harness.document_scores import headings_by_level, table_cells

_NUMERALS = "〇零一二三四五六七八九十百两兩"
"""Digits of Chinese numbers."""
_SPELLED = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    "|nineteen|twenty"
)
_CHAPTERS = (
    "apéndice|anexo|parte|apêndice|appendice|capítol|apèndix|hoofdstuk|bijlage|deel|kapittel|vedlegg|bilaga?|luku|liite"
    "|rozdział|część|dodatek|załącznik|kapitola|část|příloha|kapitol|poglavlje|poglavje|capitolul|anexa|bölüm|chương|phần"
    "|phụ lục|bab|lampiran|розд[іi]л"
)
"""Words for chapters, parts and appendices beside those below."""
_NUMBER = re.compile(
    r"\A§?\s?(?:(?:(?:appendix|chapter|part|section|anhang|kapitel|teil|abschnitt|annexe|chapitre|partie|capítulo|capitolo"
    rf"|{_CHAPTERS}"
    r"|глава|часть|раздел|приложение|частина|додаток|част|κεφάλαιο|μέρος|παράρτημα|अध्याय|भाग|परिशिष्ट"
    r"|(?:ال)?(?:فصل|باب|بخش|قسم|جزء|ملحق|پیوست)|פרק|חלק|נספח|附录|附錄|付録|부록|บทที่)\s+)?"
    r"(?:(?:\d+|[a-z])(?:\.\d+)*|[ivxlc]+)[.:)]?\s+(?=[\\$`{]?\w)"
    rf"|第\s?(?:[\d{_NUMERALS}]+|[ivxlc]+)\s?[章节節部編编篇回講讲課课卷巻]\s*(?=\w)|제\s?(?:\d+|[ivxlc]+)\s?[장절부편]\s+(?=\w)"
    rf"|[({_NUMERALS}][{_NUMERALS}]*[)、]\s?(?=\w)|(?:chapter|part|appendix)\s(?:{_SPELLED})[.:]?\s+(?=\w)|(?:\d+(?:\.\d+)+\.?|\d+[.、])(?=[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]))"
)
_ALIKE = str.maketrans("يكى", "یکی")
"""Letters of Arabic that are drawn alike in Persian, and that fonts confuse."""
_LONE_LETTER = re.compile(r"\A(?:[a-z]|[ivxlc]+)[.:)]?\s+(?=\w)")
"""Letter that may be a number or a word: `A simple example` in an outline is `4.1 A simple example` on its page."""
_HEADING = re.compile(r"H[1-6]?|Title")
_CELL = frozenset({"TD", "TH"})
_DEEPEST = 40
"""Levels of tags that are read."""
_DEEPEST_OUTLINE = 10
"""Levels of the outline that are read."""
_LONGEST_TYPE = 200
"""Most bytes of a tag's name."""
_TEXT_OBJECT = 1
"""PDFium's type of a text on a page (FPDF_PAGEOBJ_TEXT)."""


@dataclass(frozen=True)
class Structure:
    """Headings and table cells, each with its count; the letters and digits alone, in lower case."""

    headings: Counter[str]
    """Titles without their number."""
    cells: Counter[str]
    depth: int = 0
    """Levels of headings that the PDF tells, without the title's; 0 for the structure that a reader finds."""
    levels: Mapping[int, Counter[str]] = field(default_factory=dict)
    """Headings that a reader finds, by level from 1 to 6."""

    def within(self, told: "Structure") -> int:
        """Return the number of headings that the other structure can tell right from wrong."""
        deepest = 1 + told.depth
        deeper = sum((found for level, found in self.levels.items() if level > deepest), Counter[str]())
        return self.headings.total() - (deeper - (deeper & told.headings)).total()


def told_structure(content: bytes) -> Structure:
    """Return what the outline and the tags of a PDF tell; titles that are not on its pages are left out."""
    with pypdfium2.PdfDocument(content) as document:
        text = _letters("".join(page.get_textpage().get_text_range() for page in document))
        outline = [(mark.level, mark.get_title() or "") for mark in document.get_toc(max_depth=_DEEPEST_OUTLINE)]
        tagged = [one for page in document for one in _tagged(page)]
    titles = outline or [(_tag_level(kind), title) for kind, title in tagged if _HEADING.fullmatch(kind)]
    told = Counter(title for title in (plain_title(title) for _, title in titles) if title and title in text)
    cells = Counter(cell for kind, one in tagged if kind in _CELL and (cell := _letters(one)))
    return Structure(told, cells, depth=1 + max((level for level, _ in titles), default=-1))


def _tag_level(kind: str) -> int:
    """Return the level of the tag of a heading, from 0 as PDFium counts those of outlines."""
    return int(kind[1]) - 1 if kind[1:].isdigit() else 0


def read_structure(markdown: str) -> Structure:
    """Return the headings and cells of a document in Markdown."""
    levels = {
        level: Counter(title for title in map(plain_title, found.elements()) if title)
        for level, found in headings_by_level(markdown).items()
    }
    return Structure(
        sum(levels.values(), Counter()),
        Counter(cell for cell in map(_letters, table_cells(markdown).elements()) if cell),
        levels=levels,
    )


def without_outline(content: bytes) -> bytes:
    """Return the PDF's pages in a new PDF, without its outline and tags."""
    with pypdfium2.PdfDocument(content) as document, pypdfium2.PdfDocument.new() as copy:
        copy.import_pages(document)
        written = io.BytesIO()
        copy.save(written)
        return written.getvalue()


def plain_title(title: str) -> str:
    """Return the letters and digits of a title without its number, in lower case."""
    without_number = _NUMBER.sub("", _folded(title).strip(), count=1)
    return _letters(_LONE_LETTER.sub("", without_number, count=1))


def _letters(text: str) -> str:
    return "".join(letter for letter in _folded(text) if letter.isalnum())


def _folded(text: str) -> str:
    """Return a text in lower case, full-width letters, presentation forms and radicals as the letters they stand for.

    Outlines hold the letters; the text of the pages holds whatever the font names, by every reader alike.
    """
    return unicodedata.normalize("NFKC", text.translate(_ALIKE)).casefold()


def _tagged(page: Any) -> Iterator[tuple[str, str]]:
    """Yield the tag of each element of a page and its text, with that of the elements within."""
    tree = raw.FPDF_StructTree_GetForPage(page)
    if not tree:
        return
    try:
        texts = _marked_texts(page)
        for index in range(raw.FPDF_StructTree_CountChildren(tree)):
            child = raw.FPDF_StructTree_GetChildAtIndex(tree, index)
            if child:
                yield from _elements(child, texts, 0)
    finally:
        raw.FPDF_StructTree_Close(tree)


def _elements(element: Any, texts: dict[int, str], depth: int) -> Iterator[tuple[str, str]]:
    yield _type(element), " ".join(_texts(element, texts, depth))
    for child in _children(element) if depth < _DEEPEST else ():
        yield from _elements(child, texts, depth + 1)


def _texts(element: Any, texts: dict[int, str], depth: int) -> Iterator[str]:
    for index in range(raw.FPDF_StructElement_GetMarkedContentIdCount(element)):
        yield texts.get(raw.FPDF_StructElement_GetMarkedContentIdAtIndex(element, index), "")
    for child in _children(element) if depth < _DEEPEST else ():
        yield from _texts(child, texts, depth + 1)


def _children(element: Any) -> Iterator[Any]:
    for index in range(raw.FPDF_StructElement_CountChildren(element)):
        child = raw.FPDF_StructElement_GetChildAtIndex(element, index)
        if child:
            yield child


def _type(element: Any) -> str:
    name = ctypes.create_string_buffer(_LONGEST_TYPE)
    length = raw.FPDF_StructElement_GetType(element, name, _LONGEST_TYPE)
    return name.raw[: max(0, length - 2)].decode("utf-16-le")


def _marked_texts(page: Any) -> dict[int, str]:
    """Return the text of each marked part of a page, by its number."""
    found: dict[int, str] = {}
    text_page = page.get_textpage()
    for one in page.get_objects(filter=[_TEXT_OBJECT]):
        number = raw.FPDFPageObj_GetMarkedContentID(one)
        if number >= 0:
            size = raw.FPDFTextObj_GetText(one, text_page, None, 0)
            buffer = ctypes.create_string_buffer(size)
            raw.FPDFTextObj_GetText(one, text_page, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
            found[number] = found.get(number, "") + buffer.raw[: max(0, size - 2)].decode("utf-16-le", "replace")
    return found

"""A page of a PDF as a picture, and the places of a passage on it; runs in a child process."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from sourcebook.errors import FailureClass, ParseError, QueryError
from sourcebook.model.page_picture import Box, PagePicture
from sourcebook.processes.child import memory_limit

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST_SIDE: Final = 2_000
"""Pixels of the longer side of a picture, at most."""
_MARK: Final = (255, 233, 120)
"""Colour that a passage is marked with, as by a marker pen."""
_MOST_CHARACTERS: Final = 100_000
"""Characters of a page in which a passage is looked for."""
_MOST_WORDS: Final = 3_000
"""Words of a passage that are looked for."""
_LEAST_RUN: Final = 3
"""Words in a row that are a part of the passage, not only its words somewhere."""
_SMALL_GAP: Final = 3
"""Words between two parts of a passage that are marked with them: a page number, or a word that was read otherwise."""
_HYPHENS: Final = frozenset({"\x02", "\xad"})
"""Characters that pdfium gives for a hyphen at the end of a line, within a word."""
_GRID: Final = 1_000_000
"""Steps of a page's width and height in which places are measured."""


def page_picture(content: bytes, page: int, scale: float | None, passage: str, memory: int) -> PagePicture:
    """Return a page as a picture in which a passage is marked.

    Args:
        content: the whole PDF.
        page: number of the page, from 1.
        scale: pixels a point (1/72 inch); None for no picture, only the places.
        passage: text of the passage; empty for none.
        memory: bytes that it may take.

    Raises:
        QueryError: there is no such page.
        ParseError: the PDF or the page cannot be read.
    """
    with memory_limit(memory), _opened(content) as document:
        pages = len(document)
        if not 1 <= page <= pages:
            raise QueryError(f"the document has no page {page}: it has {pages:,}")
        from pypdfium2 import PdfiumError  # type: ignore[import-untyped] # has no stubs

        try:
            shown = document[page - 1]
            boxes = tuple(_boxes(shown, passage)) if passage else ()
            width, height = shown.get_size()
            if scale is None:
                return PagePicture(b"", round(width), round(height), page, pages, boxes)
            used = min(scale, LONGEST_SIDE / max(width, height, 1))
            image = shown.render(scale=used).to_pil().convert("RGB")
        except (PdfiumError, ValueError) as error:
            raise ParseError("the page is damaged and cannot be shown", FailureClass.CORRUPT) from error
        return PagePicture(_png(image, boxes), image.width, image.height, page, pages, boxes)


@contextmanager
def _opened(content: bytes) -> Iterator[Any]:  # pypdfium2 has no stubs
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(content)
    except PdfiumError as error:
        raise ParseError("the PDF does not open: it is damaged, or needs a password", FailureClass.CORRUPT) from error
    try:
        yield document
    finally:
        document.close()


def _png(image: Image, boxes: Sequence[Box]) -> bytes:
    if boxes:
        from PIL import Image, ImageChops, ImageDraw

        layer = Image.new("RGB", image.size, "white")
        drawing = ImageDraw.Draw(layer)
        for left, top, right, bottom in boxes:
            corners = (left * image.width, top * image.height, right * image.width, bottom * image.height)
            drawing.rectangle(corners, fill=_MARK)
        image = ImageChops.multiply(image, layer)
    stream = BytesIO()
    image.save(stream, "PNG", compress_level=4)
    return stream.getvalue()


def _boxes(page: Any, passage: str) -> Iterator[Box]:
    """Yield the places of a passage on a page."""
    text = page.get_textpage()
    words = list(_words_of_page(text))
    for first, last in runs([word for word, _, _ in words], words_of(passage)):
        start, end = words[first][1], words[last - 1][2]
        for number in range(text.count_rects(start, end - start)):
            yield _box(page, *text.get_rect(number))


def _box(page: Any, left: float, bottom: float, right: float, top: float) -> Box:
    """Return a rectangle of a page's own coordinates as shares of the page as it is shown, turned and cropped."""
    from ctypes import byref, c_int

    from pypdfium2 import raw

    corners = []
    for x, y in ((left, top), (right, bottom)):
        across, down = c_int(), c_int()
        raw.FPDF_PageToDevice(page.raw, 0, 0, _GRID, _GRID, 0, x, y, byref(across), byref(down))
        corners.append((min(max(across.value / _GRID, 0.0), 1.0), min(max(down.value / _GRID, 0.0), 1.0)))
    (one_x, one_y), (other_x, other_y) = corners
    return min(one_x, other_x), min(one_y, other_y), max(one_x, other_x), max(one_y, other_y)


def _words_of_page(text: Any) -> Iterator[tuple[str, int, int]]:
    """Yield the words of a page with the indexes of their first character and of the one after their last."""
    from pypdfium2 import raw

    held: list[str] = []
    start = end = 0
    is_joined = False
    for index in range(min(text.count_chars(), _MOST_CHARACTERS)):
        character = chr(min(raw.FPDFText_GetUnicode(text.raw, index), 0x10FFFF))
        if character in _HYPHENS:
            is_joined = bool(held)
        elif character.isalnum() or unicodedata.combining(character):
            if not held:
                start = index
            held.append(character)
            end, is_joined = index + 1, False
        elif held and not (is_joined and character.isspace()):
            yield _folded("".join(held)), start, end
            held = []
    if held:
        yield _folded("".join(held)), start, end


def words_of(passage: str) -> list[str]:
    """Return the words of a passage in the form in which those of a page are compared."""
    return [_folded(word) for word in re.findall(r"[^\W_]+", passage)[:_MOST_WORDS]]


def _folded(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()


def runs(page: Sequence[str], passage: Sequence[str]) -> list[tuple[int, int]]:
    """Return where the words of a passage stand among those of a page, as (first, one after the last) of each part."""
    least = min(_LEAST_RUN, len(passage))
    found: list[tuple[int, int]] = []
    for block in SequenceMatcher(None, page, passage, autojunk=False).get_matching_blocks():
        if block.size < least or not block.size:
            continue
        if found and block.a - found[-1][1] <= _SMALL_GAP:
            found[-1] = (found[-1][0], block.a + block.size)
        else:
            found.append((block.a, block.a + block.size))
    return found

"""OCR of PDF pages: each page is rendered to a picture, and the picture is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from sourcebook.errors import FailureClass, ParseError
from sourcebook.parsing.pdf.layout.page_parts import Page
from sourcebook.parsing.pdf.ocr.recognise import LONGEST_SIDE, MOST_PIXELS, recognise
from sourcebook.parsing.pdf.ocr.recognised_page import RecognisedPage, layout_page

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdfium2 import PdfPage  # type: ignore[import-untyped] # has no stubs

_POINTS_PER_INCH = 72
_USUAL_DPI = 175
"""Resolution of a page up to A4, in pixels per inch."""
_SMALLEST_PICTURE = 1000
"""Fewest pixels of the longer side: a scan may come on a page the size of a stamp."""


@dataclass(frozen=True, slots=True)
class RecognisedPdfPage:
    """A PDF page with the text of its picture."""

    page: Page
    """The page, upright; lengths in points."""
    recognised: RecognisedPage
    """The picture; lengths in pixels."""


def recognise_pages(
    content: bytes, numbers: Sequence[int], languages: tuple[str, ...] = ()
) -> Iterator[RecognisedPdfPage]:
    """Render pages and yield their text, one page in memory at a time.

    A page up to A4 is rendered at 175 dpi, a larger page with as many pixels as A4, which bounds the memory. Pages too
    damaged to be rendered are left out.

    Args:
        content: the whole file.
        numbers: page numbers, counted from 1.
        languages: tesseract's names of languages whose letters RapidOCR does not know.

    Raises:
        ParseError: the file does not open.
        MissingDependencyError: rapidOCR is installed without its models, or Tesseract without a language.
    """
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(content)
    except PdfiumError as error:
        raise ParseError(
            "the PDF does not open; save a copy without a password, or print it to a new PDF", FailureClass.CORRUPT
        ) from error
    try:
        for number in numbers:
            try:
                image, points_per_pixel = _render(document[number - 1])
            except (PdfiumError, IndexError):
                continue
            recognised = recognise(image, languages)
            yield RecognisedPdfPage(
                layout_page(recognised, number=number, points_per_pixel=points_per_pixel), recognised
            )
    finally:
        document.close()


def _render(page: PdfPage) -> tuple[Image, float]:
    """Return the page as a viewer shows it, and the points per pixel."""
    try:
        width, height = page.get_size()
        scale = _scale(width, height)
        return page.render(scale=scale).to_pil().convert("RGB"), 1 / scale
    finally:
        page.close()


def _scale(width: float, height: float) -> float:
    """Return the pixels per point for a page of a width and height in points."""
    longer = max(width, height, 1.0)
    wanted = max(_USUAL_DPI / _POINTS_PER_INCH, _SMALLEST_PICTURE / longer)
    return min(wanted, sqrt(MOST_PIXELS / max(width * height, 1.0)), LONGEST_SIDE / longer)

"""Read pages of a PDF from their pictures."""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import TYPE_CHECKING

from sourcebook.errors import ParseError
from sourcebook.parsing.pdf.layout.page_parts import Page
from sourcebook.parsing.pdf.ocr.page import layout_page
from sourcebook.parsing.pdf.ocr.recognise import LONGEST_SIDE, MOST_PIXELS, recognise
from sourcebook.parsing.pdf.ocr.recognised import RecognisedPdfPage

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdfium2 import PdfPage  # type: ignore[import-untyped] # has no stubs

_POINTS_PER_INCH = 72
_USUAL_DPI = 175
_SMALLEST_PICTURE = 1000
"""Pixels of the longer side: a scan may come on a page the size of a stamp."""


def recognise_pages(
    content: bytes, numbers: Sequence[int], *, password: str | None = None
) -> Iterator[RecognisedPdfPage]:
    """Draw these pages and yield what can be read on them, one at a time.

    A page is drawn at 175 dpi; a larger one than A4 with as many pixels, so that memory is bounded for any size.

    Args:
        content: The whole file.
        numbers: Of the wanted pages, counted from 1.
        password: Opens an encrypted file.

    Raises:
        ParseError: The file does not open.
        MissingDependencyError: RapidOCR is installed without its models.
    """
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(content, password=password)
    except PdfiumError as error:
        raise ParseError("the PDF does not open; save a copy without a password, or print it to a new PDF") from error
    try:
        for number in numbers:
            try:
                image, points_per_pixel = _draw(document[number - 1])
            except (PdfiumError, IndexError):
                yield RecognisedPdfPage(Page(number, 0.0, 0.0, ()), None, 0, drawn=False)
                continue
            recognised = recognise(image)
            page = layout_page(recognised, number=number, points_per_pixel=points_per_pixel)
            yield RecognisedPdfPage(page, recognised.confidence, recognised.rotation, recognised.unread)
    finally:
        document.close()


def _draw(page: "PdfPage") -> tuple["Image", float]:
    """Return the page as a viewer shows it, and how many points one of its pixels is."""
    try:
        width, height = page.get_size()
        scale = _scale(width, height)
        return page.render(scale=scale).to_pil().convert("RGB"), 1 / scale
    finally:
        page.close()


def _scale(width: float, height: float) -> float:
    """Return the pixels a point, for a page of this size in points."""
    longer = max(width, height, 1.0)
    wanted = max(_USUAL_DPI / _POINTS_PER_INCH, _SMALLEST_PICTURE / longer)
    return min(wanted, sqrt(MOST_PIXELS / max(width * height, 1.0)), LONGEST_SIDE / longer)

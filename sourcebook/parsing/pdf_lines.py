"""The text layer of a PDF as lines with their place, size and weight on the page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from math import hypot
from typing import TYPE_CHECKING

from sourcebook.parsing.decode import clean

if TYPE_CHECKING:
    from docling_parse.pdf_parser import ContentConfig

_BOLD = re.compile(r"bold|black|heavy|demi|CMBX|-b(?:old)?$", re.IGNORECASE)
_MONOSPACED = re.compile(r"mono|courier|consol|CMTT|typewriter|menlo", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """One run of text; lengths in points, `top` and `bottom` counted from the page's upper edge."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    size: float
    """Height of the letters, also where they are turned by 90 degrees."""
    bold: bool = False
    monospaced: bool = False

    @property
    def height(self) -> float:
        """The height of the line's box."""
        return self.bottom - self.top

    @property
    def width(self) -> float:
        """The length of the line."""
        return self.right - self.left


def read_pages(content: bytes) -> Iterator[list[Line]]:
    """Yield the visible lines of each page, in the order in which the file paints them.

    Raises:
        RuntimeError: docling-parse cannot read the file.
    """
    from docling_core.types.doc.page import PdfCellRenderingMode, PdfTextCell
    from docling_parse.pdf_parser import DoclingPdfParser

    unpainted = {PdfCellRenderingMode.ONLY_CLIPPING}
    document = DoclingPdfParser(loglevel="fatal").load(BytesIO(content), content_config=_lines_only())
    try:
        for number in range(1, document.number_of_pages() + 1):
            page = document.get_page(number)
            height = page.dimension.height
            lines = []
            for cell in page.textline_cells:
                text = " ".join(clean(cell.text).split())
                if not text or (isinstance(cell, PdfTextCell) and cell.rendering_mode in unpainted):
                    continue
                box = cell.rect.to_bounding_box().to_top_left_origin(height)
                font = cell.font_name if isinstance(cell, PdfTextCell) else ""
                lines.append(
                    Line(
                        text=text,
                        left=box.l,
                        right=box.r,
                        top=box.t,
                        bottom=box.b,
                        size=hypot(cell.rect.r_x3 - cell.rect.r_x0, cell.rect.r_y3 - cell.rect.r_y0),
                        bold=_BOLD.search(font) is not None,
                        monospaced=_MONOSPACED.search(font) is not None,
                    ),
                )
            yield lines
            document.unload_pages((number, number + 1))
    finally:
        document.unload()


def _lines_only() -> "ContentConfig":
    from docling_parse.pdf_parser import ContentConfig, ContentLevel

    return ContentConfig(
        char_cells_content_level=ContentLevel.COMPUTE,
        word_cells_content_level=ContentLevel.SKIP,
        shapes_content_level=ContentLevel.SKIP,
        bitmaps_content_level=ContentLevel.SKIP,
        include_bitmap_bytes=False,
    )

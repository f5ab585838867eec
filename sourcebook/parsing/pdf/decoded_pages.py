"""Pages of a PDF as docling-parse's decoder returns them.

docling-parse's own page model validates each word, line and corner, which takes longer than decoding them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from math import isfinite
from typing import Any, Protocol

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import Box

Point = tuple[float, float]
"""x and y, in points from the page's upper left corner."""

_MOST_POINTS = 200
"""Most corners of a shape that is kept: lines of tables and bullets have fewer."""


class Cell(Protocol):
    """A word of docling-parse; its corners run counter-clockwise from the lower left, in the file's coordinates."""

    text: str
    font_name: str
    rendering_mode: int
    r_x0: float
    r_y0: float
    r_x1: float
    r_y1: float
    r_x2: float
    r_y2: float
    r_x3: float
    r_y3: float


@dataclass(frozen=True, slots=True)
class DecodedPage:
    """A page; lengths in points."""

    left: float
    """x of the upper left corner in the file's coordinates."""
    top: float
    """y of the upper left corner in the file's coordinates."""
    width: float
    height: float
    cells: Sequence[Cell]
    shapes: Sequence[Sequence[Point]]
    """Corners of each drawn shape; shapes with very many corners are left out."""
    drawn: int
    """Number of all drawn shapes."""
    pictures: Sequence[Box]
    """Visible part of each picture."""
    letters: Callable[[], Sequence[Cell]] = tuple
    """Return the single letters; only while the page is the last one yielded."""


def decoded_pages(
    content: bytes, *, without_words: Callable[[int], bool] = lambda _: False
) -> Iterator[DecodedPage | None]:
    """Yield the pages in order, one in memory at a time; None for a page that cannot be decoded.

    Args:
        content: the whole file.
        without_words: tells whether a page, by its number from 1, is decoded without its words and letters.

    Raises:
        ParseError: the file is damaged.
    """
    with _opened(content) as (parser, key):
        whole, wordless = _config(), _config()
        wordless.create_word_cells = wordless.keep_char_cells = False
        for index in range(parser.number_of_pages(key=key)):
            config = wordless if without_words(index + 1) else whole
            try:
                page = _page(parser.get_page_decoder(key=key, page=index, config=config))
            except (RuntimeError, ValueError):  # docling-parse's error for a page, and Python's for odd letters
                page = None
            yield page
            del page
            parser.unload_document_page(key=key, page=index)


@contextmanager
def _opened(content: bytes) -> Iterator[tuple[Any, str]]:  # compiled, without stubs
    from docling_parse.pdf_parsers import pdf_parser  # type: ignore[import-not-found] # compiled, without stubs

    parser, key = pdf_parser(level="fatal"), "document"
    try:
        opened = parser.load_document_from_bytesio(
            key=key, bytes_io=BytesIO(content), password=None, keep_qpdf_warnings=False
        )
    except RuntimeError:
        opened = False
    if not opened:
        raise ParseError(
            "the PDF is damaged; open it in a viewer and save or print it to a new PDF", FailureClass.CORRUPT
        )
    try:
        yield parser, key
    finally:
        parser.unload_document(key)


def _config() -> Any:
    """Return the options: words, shapes and boxes of pictures, but no lines and no pixels."""
    from docling_parse.pdf_parsers import DecodePageConfig

    config = DecodePageConfig()
    config.create_line_cells = False
    config.extract_bitmap_pixels = False
    config.do_sanitization = False  # of a second copy of the letters, which nothing reads
    return config


def _page(decoder: Any) -> DecodedPage | None:
    if decoder is None:
        return None
    first_x, first_y, second_x, second_y = decoder.get_page_dimension().get_crop_bbox()
    left, top = min(first_x, second_x), max(first_y, second_y)
    drawn, shapes = 0, []
    for path in decoder.get_page_shapes():
        xs, ys, ends = path.get_x(), path.get_y(), path.get_i()
        for start, end in zip(ends[0::2], ends[1::2], strict=False):
            drawn += 1
            if end - start <= _MOST_POINTS:
                points = [(x - left, top - y) for x, y in zip(xs[start:end], ys[start:end], strict=True)]
                if all(isfinite(x) and isfinite(y) for x, y in points):
                    shapes.append(points)
    return DecodedPage(
        left=left,
        top=top,
        width=abs(second_x - first_x),
        height=abs(second_y - first_y),
        cells=list(decoder.get_word_cells()) if decoder.has_word_cells() else [],
        shapes=shapes,
        drawn=drawn,
        pictures=[_box(image, left, top) for image in decoder.get_page_images() if image.is_visible],
        letters=lambda: list(decoder.get_char_cells()),
    )


def _box(image: Any, left: float, top: float) -> Box:
    """Return the visible part of a picture."""
    if image.has_visible_bbox:
        x0, y0, x1, y1 = image.visible_x0, image.visible_y0, image.visible_x1, image.visible_y1
    else:
        x0, y0, x1, y1 = image.x0, image.y0, image.x1, image.y1
    return min(x0, x1) - left, top - max(y0, y1), max(x0, x1) - left, top - min(y0, y1)

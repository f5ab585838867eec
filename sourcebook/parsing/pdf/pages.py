"""Read the text layer of a PDF page by page."""

from collections.abc import Iterator
from dataclasses import dataclass

from sourcebook.parsing.pdf.bullets import with_drawn_bullets
from sourcebook.parsing.pdf.decoded import DecodedPage, decoded_pages
from sourcebook.parsing.pdf.layout.page_parts import Page
from sourcebook.parsing.pdf.lines import runs
from sourcebook.parsing.pdf.rules import page_rules
from sourcebook.parsing.pdf.text_layer import TextLayer, judge
from sourcebook.parsing.pdf.upright import upright
from sourcebook.parsing.pdf.words import LetterHeights, page_words

_LARGEST_SIDE = 1e5
"""Points; the format ends at 14,400 units."""


@dataclass(frozen=True, slots=True)
class TextPage:
    """A page and whether its text layer says what is on it."""

    page: Page
    layer: TextLayer


def read_pages(content: bytes) -> Iterator[TextPage]:
    """Yield the pages in their order, one in memory at a time; a page that cannot be decoded is one without text.

    Raises:
        ParseError: the file is damaged.
    """
    heights = LetterHeights()
    for number, page in enumerate(decoded_pages(content), start=1):
        if page is None or not (0 < page.width < _LARGEST_SIDE and 0 < page.height < _LARGEST_SIDE):
            yield TextPage(Page(number, 612.0, 792.0, ()), "unreadable")
        else:
            yield _text_page(page, number, heights)


def _text_page(page: DecodedPage, number: int, heights: LetterHeights) -> TextPage:
    words = page_words(page, heights)
    layer = judge(words, page)
    turned = upright(words, page_rules(page), page.width, page.height)
    lines = runs(turned.words, turned.rules)
    if turned.words is words:  # the page stands upright, and so do the shapes on it
        lines = with_drawn_bullets(lines, page)
    return TextPage(Page(number, turned.width, turned.height, tuple(lines), turned.rules), layer)

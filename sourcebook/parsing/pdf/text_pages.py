"""Text layer and drawn lines of a PDF, page by page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from sourcebook.model.document import Box
from sourcebook.parsing.pdf.bullets import with_drawn_bullets
from sourcebook.parsing.pdf.decoded_pages import DecodedPage, Point, decoded_pages
from sourcebook.parsing.pdf.drawn_underscores import with_drawn_underscores
from sourcebook.parsing.pdf.east_asian_words import EastAsianFonts
from sourcebook.parsing.pdf.layout.page_parts import Page, Rule
from sourcebook.parsing.pdf.layout.reading_size import reading_unit
from sourcebook.parsing.pdf.marks.drawn_fields import without_blanks, without_frames
from sourcebook.parsing.pdf.marks.page_marks import PageMarks
from sourcebook.parsing.pdf.meaningless_fonts import without_meaningless
from sourcebook.parsing.pdf.painted_letters import painted_letters, without_single_marks
from sourcebook.parsing.pdf.pictures.page_pictures import bare_pictures
from sourcebook.parsing.pdf.plot_points import without_plot_points
from sourcebook.parsing.pdf.second_reading import second_reading
from sourcebook.parsing.pdf.stacked_words import with_single_lines
from sourcebook.parsing.pdf.text_layer import TextLayer, text_layer
from sourcebook.parsing.pdf.text_runs import runs
from sourcebook.parsing.pdf.tight_boxes import TightBoxes
from sourcebook.parsing.pdf.unseen_words import without_tiny
from sourcebook.parsing.pdf.upright import upright
from sourcebook.parsing.pdf.words import LetterHeights, Word, page_words

_LARGEST_SIDE = 1e5
"""Points per side above which a page counts as damaged; the format ends at 14,400 units."""
_THICKEST = 3.5
"""Largest thickness of a drawn line, in points of a page in print."""
_SHORTEST = 6.0
"""Smallest length of a drawn line, in points of a page in print."""
_LEVEL = 0.5
"""Difference of a drawn line's ends up to which it is level or upright, in points of a page in print."""
_MOST_POINTS = 12
"""Most corners of a shape with straight edges."""
_MOST_RULES = 5_000
"""Lines of a page above which it is a drawing."""


@dataclass(frozen=True, slots=True)
class TextPage:
    """A page and the quality of its text layer."""

    page: Page
    layer: TextLayer
    points: Mapping[str, int] = field(default_factory=dict)
    """Points of plots that are not among its lines, by the sign that shows them."""
    beyond: int = 0
    """Words beyond the right edge of the page, which go on none of its lines."""
    pictures: tuple[Box, ...] = ()
    """Boxes of the pictures that have none of the page's words over them."""
    unseen: int = 0
    """Words that nobody sees: hidden, tiny, in the colour of what is behind them, or of fields that no viewer shows."""
    has_files: bool = False
    """Whether files are attached to places of the page."""


def read_pages(content: bytes) -> Iterator[TextPage]:
    """Yield the pages in order, one in memory at a time; a page that cannot be decoded has no text.

    Raises:
        ParseError: the file is damaged.
    """
    heights, boxes, fonts = LetterHeights(), TightBoxes(), EastAsianFonts()
    with second_reading(content) as second:
        alone: set[int] = set()

        def is_read_alone(number: int) -> bool:
            if second.must_read(number):
                alone.add(number)
            return number in alone

        for number, page in enumerate(decoded_pages(content, without_words=is_read_alone), start=1):
            if page is None or not (0 < page.width < _LARGEST_SIDE and 0 < page.height < _LARGEST_SIDE):
                yield TextPage(Page(number, 612.0, 792.0, ()), "unreadable")
            else:
                content_words, marks = second.marks(page_words(page), page, number)
                found = fonts.corrected(with_single_lines(content_words, page), page)
                first = without_single_marks(heights.corrected(boxes.corrected(found)))
                if number in alone:
                    whole = second.only_words(page, number, boxes)
                else:
                    whole = second.better_words(first, page, number, boxes)
                words = whole.words if whole.words is first else fonts.corrected(whole.words, page)
                large = without_tiny(words, page)
                seen = second.seen(large, page, number)
                shown, points = without_plot_points(with_drawn_underscores(seen.words, page))
                readable, lacks_letters = without_meaningless(shown)
                text = _text_page(page, number, readable, marks)
                if lacks_letters:
                    text = replace(text, layer="damaged" if text.layer == "usable" else "garbage")
                unseen = seen.unseen + len(words) - len(large) + marks.unseen_words
                yield replace(
                    text,
                    points=points,
                    beyond=whole.left_out + seen.beyond,
                    pictures=bare_pictures(shown, page),
                    unseen=unseen,
                    has_files=marks.has_files,
                )


def _text_page(page: DecodedPage, number: int, words: Sequence[Word], marks: PageMarks) -> TextPage:
    layer = text_layer(words, page)
    fields = marks.finished()
    words, page = without_blanks(words, fields), replace(page, shapes=without_frames(page.shapes, fields))
    unit = reading_unit(words)
    turned = upright(words, _page_rules(page, unit), page.width, page.height, fields, marks.remarks)
    letters = painted_letters(words, page) if turned.words is words else ()
    lines = runs(turned.words, turned.rules, letters)
    if turned.words is words:  # the page is upright, and so are its shapes
        lines = with_drawn_bullets(lines, page, unit)
    upright_page = Page(number, turned.width, turned.height, tuple(lines), turned.rules, turned.fields, turned.remarks)
    return TextPage(upright_page, layer)


def _page_rules(page: DecodedPage, unit: float) -> tuple[Rule, ...]:
    """Return the horizontal and vertical lines of a page: strokes, thin boxes, and the edges of boxes."""
    found: list[Rule] = []
    for points in page.shapes:
        if not 0 < len(points) <= _MOST_POINTS:
            continue
        found.extend(_rules(points, unit))
        if len(found) > _MOST_RULES:
            return ()
    return tuple(found)


def _rules(points: Sequence[Point], unit: float) -> Iterator[Rule]:
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    top, bottom = min(y for _, y in points), max(y for _, y in points)
    thin = min(right - left, bottom - top) <= _THICKEST * unit
    if thin:
        if max(right - left, bottom - top) >= _SHORTEST * unit:
            yield Rule(left, top, right, bottom)
        return
    for (x, y), (next_x, next_y) in pairwise(points):
        across, down = abs(next_x - x), abs(next_y - y)
        if (across < _LEVEL * unit) != (down < _LEVEL * unit) and across + down >= _SHORTEST * unit:
            yield Rule(min(x, next_x), min(y, next_y), max(x, next_x), max(y, next_y))

"""Bullets drawn as shapes: browsers print the marks of lists as small discs and squares."""

from collections.abc import Sequence

from sourcebook.model.document import Box
from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.text_runs import BULLET

_SMALLEST, _LARGEST = 1.2, 8.0
"""Smallest and largest width of a bullet, in points of a page in print."""
_FEWEST_POINTS = 3
"""Fewest corners of a bullet."""
_MOST_DRAWN = 300
"""Small shapes on a page above which they are a drawing."""
_FARTHEST = 2.2
"""Largest distance from a bullet to its item, in font sizes."""


def with_drawn_bullets(lines: Sequence[Line], page: DecodedPage, unit: float) -> list[Line]:
    """Return the lines, and a bullet for each small shape before a line."""
    dots = _dots(page, unit)
    if not dots or len(dots) > _MOST_DRAWN:
        return list(lines)
    flat = [line for line in lines if not line.turned]
    return [*lines, *(bullet for dot in dots if (bullet := _bullet(dot, flat)) is not None)]


def _dots(page: DecodedPage, unit: float) -> list[Box]:
    found: set[Box] = set()
    for points in page.shapes:
        if len(points) < _FEWEST_POINTS:
            continue
        xs, ys = [x for x, _ in points], [y for _, y in points]
        width, height = max(xs) - min(xs), max(ys) - min(ys)
        if _SMALLEST * unit < width < _LARGEST * unit and 0.7 * width < height < 1.4 * width:
            found.add((min(xs), min(ys), max(xs), max(ys)))
    return sorted(found)


def _bullet(dot: Box, lines: Sequence[Line]) -> Line | None:
    """Return the bullet for a dot at the middle height of a line, before that line and behind no other, or None."""
    left, top, right, bottom = dot
    middle = (top + bottom) / 2
    item: Line | None = None
    for line in lines:
        reach = 0.5 * max(line.height, 0.8 * line.size)
        if abs(line.middle - middle) > reach or right - left > 0.8 * line.size:
            continue
        if line.left < right and line.right > left - _FARTHEST * line.size:
            return None
        if right <= line.left < right + _FARTHEST * line.size and (item is None or line.left < item.left):
            item = line
    if item is None:
        return None
    return Line(BULLET, left, right, item.top, item.bottom, item.size)

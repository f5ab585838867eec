"""The straight lines drawn on a PDF page: strokes, thin boxes, and the edges of boxes."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sourcebook.parsing.pdf.decoded import DecodedPage, Point
from sourcebook.parsing.pdf.layout.page_parts import Rule

_THICKEST = 3.5
_SHORTEST = 6.0
_MOST_POINTS = 12
_MOST_RULES = 5_000
"""A page with more is a drawing."""


def page_rules(page: DecodedPage) -> tuple[Rule, ...]:
    """Return the page's horizontal and vertical lines, in points from its upper left corner."""
    found: list[Rule] = []
    for points in page.shapes:
        if not 0 < len(points) <= _MOST_POINTS:
            continue
        found.extend(_rules(points))
        if len(found) > _MOST_RULES:
            return ()
    return tuple(found)


def _rules(points: Sequence[Point]) -> Iterator[Rule]:
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    top, bottom = min(y for _, y in points), max(y for _, y in points)
    thin = min(right - left, bottom - top) <= _THICKEST
    if thin:
        if max(right - left, bottom - top) >= _SHORTEST:
            yield Rule(left, top, right, bottom)
        return
    for (x, y), (next_x, next_y) in pairwise(points):
        if (abs(next_x - x) < 0.5) != (abs(next_y - y) < 0.5) and abs(next_x - x) + abs(next_y - y) >= _SHORTEST:
            yield Rule(min(x, next_x), min(y, next_y), max(x, next_x), max(y, next_y))

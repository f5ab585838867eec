"""From what was recognised to what the layout step takes."""

from sourcebook.parsing.pdf.layout.page_parts import Line, Page
from sourcebook.parsing.pdf.ocr.recognised import RecognisedPage

_SAME_SIZE = 1.15
"""The boxes of lines in one size of letters differ by as much: with ascenders or without, with more or less margin."""


def layout_page(recognised: RecognisedPage, *, number: int, points_per_pixel: float) -> Page:
    """Return the page in points; lines of about the same height get the same size of letters."""
    sizes = _sizes([line.width if line.turned else line.height for line in recognised.lines])
    lines = tuple(
        Line(
            text=line.text,
            left=line.left * points_per_pixel,
            right=line.right * points_per_pixel,
            top=line.top * points_per_pixel,
            bottom=line.bottom * points_per_pixel,
            size=size * points_per_pixel,
            turned=line.turned,
        )
        for line, size in zip(recognised.lines, sizes, strict=True)
    )
    return Page(number, recognised.width * points_per_pixel, recognised.height * points_per_pixel, lines)


def _sizes(heights: list[float]) -> list[float]:
    """Return for each height the median of its kind; a kind ends where the next height is a step larger."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    sizes = [0.0] * len(heights)
    kind: list[int] = []
    for place in order:
        if kind and heights[place] > heights[kind[len(kind) // 2]] * _SAME_SIZE:
            _level(sizes, heights, kind)
            kind = []
        kind.append(place)
    _level(sizes, heights, kind)
    return sizes


def _level(sizes: list[float], heights: list[float], kind: list[int]) -> None:
    for place in kind:
        sizes[place] = heights[kind[len(kind) // 2]]

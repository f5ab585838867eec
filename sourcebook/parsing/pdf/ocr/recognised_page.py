"""Result of OCR, and its conversion for the layout step."""

from dataclasses import dataclass

from sourcebook.parsing.pdf.layout.measures import Rectangle
from sourcebook.parsing.pdf.layout.page_parts import Line, Page

_SAME_SIZE = 1.15
"""Ratio of heights up to which lines count as one font size; ascenders and margins make boxes differ so much."""


@dataclass(frozen=True, slots=True)
class RecognisedLine(Rectangle):
    """One run of text on an upright page; lengths in pixels from the page's upper left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float
    """Confidence, 0 to 1."""
    turned: bool = False
    """Whether the text runs upwards or downwards."""


@dataclass(frozen=True, slots=True)
class RecognisedPage:
    """An upright picture of a page and its lines, in any order."""

    width: int
    """Width after the rotation, in pixels."""
    height: int
    """Height after the rotation, in pixels."""
    rotation: int
    """Clockwise rotation that made the picture upright, in degrees: 0, 90, 180 or 270."""
    lines: tuple[RecognisedLine, ...]
    unread: int = 0
    """Number of further lines that could not be read, such as lines in a script without a model."""

    @property
    def confidence(self) -> float | None:
        """Mean confidence, weighted by letters, 0 to 1; None without lines."""
        letters = sum(len(line.text) for line in self.lines)
        return sum(line.confidence * len(line.text) for line in self.lines) / letters if letters else None


def layout_page(recognised: RecognisedPage, *, number: int, points_per_pixel: float) -> Page:
    """Return the page in points; lines of about one height get one font size."""
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
    """Return the median height of each line's group; a group ends where the next height is much larger."""
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

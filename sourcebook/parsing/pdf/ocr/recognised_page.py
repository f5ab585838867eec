"""What recognition returns."""

from dataclasses import dataclass

from sourcebook.parsing.pdf.layout.page_parts import Line, Page

_SAME_SIZE = 1.15
"""The boxes of lines in one size of letters differ by as much: with ascenders or without, with more or less margin."""


@dataclass(frozen=True, slots=True)
class RecognisedLine:
    """One run of text on an upright page; lengths in pixels of that page, from its upper left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float
    """0 to 1."""
    turned: bool = False
    """Whether it runs upwards or downwards rather than across the page."""

    @property
    def height(self) -> float:
        """The height of the line's box."""
        return self.bottom - self.top

    @property
    def width(self) -> float:
        """The width of the line's box."""
        return self.right - self.left


@dataclass(frozen=True, slots=True)
class RecognisedPage:
    """A picture of a page, turned upright, and the lines found in it, in no promised order."""

    width: int
    """Pixels, after turning."""
    height: int
    rotation: int
    """By how many degrees clockwise the picture had to be turned to stand upright: 0, 90, 180 or 270."""
    lines: tuple[RecognisedLine, ...]
    unread: int = 0
    """How many more lines there seem to be that could not be read, such as those in a script without a model."""

    @property
    def confidence(self) -> float | None:
        """Mean confidence, weighted by letters; None without lines."""
        letters = sum(len(line.text) for line in self.lines)
        return sum(line.confidence * len(line.text) for line in self.lines) / letters if letters else None


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

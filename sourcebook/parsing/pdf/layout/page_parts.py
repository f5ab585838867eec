"""What a page looks like before its structure is known; lengths in points, from the page's upper left corner."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One run of text."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    size: float
    """Height of the letters, also where they are turned by 90 degrees."""
    bold: bool = False
    italic: bool = False
    monospaced: bool = False
    turned: bool = False
    """Whether it runs upwards or downwards rather than across the page."""

    @property
    def height(self) -> float:
        """The height of the line's box."""
        return self.bottom - self.top

    @property
    def width(self) -> float:
        """The length of the line."""
        return self.right - self.left


@dataclass(frozen=True, slots=True)
class Rule:
    """A drawn line, thinner than it is long."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Page:
    """One page; its number is counted from 1."""

    number: int
    width: float
    height: float
    lines: tuple[Line, ...]
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """An entry of the file's own table of contents."""

    title: str
    level: int
    """1 for the outermost."""
    page: int | None = None

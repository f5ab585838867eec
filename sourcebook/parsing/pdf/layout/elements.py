"""What a page is made of once its structure is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sourcebook.parsing.pdf.layout.page_parts import Line

ElementKind = Literal["paragraph", "heading", "item", "code", "caption", "footnote"]


@dataclass(frozen=True, slots=True)
class Row:
    """What stands side by side in one column: one line of a paragraph, or one of a table."""

    runs: tuple[Line, ...]
    """In reading order."""
    line: Line
    """The runs as one."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table; rows and columns are counted from 0."""

    row: int
    column: int
    text: str
    row_span: int = 1
    column_span: int = 1
    header: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table and the part of the page it covers."""

    left: float
    top: float
    right: float
    bottom: float
    cells: tuple[Cell, ...]
    rows: int
    columns: int
    contents: bool = False
    """Whether it is the document's table of contents."""


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a page."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Element:
    """A paragraph or another run of text that belongs together."""

    kind: ElementKind
    text: str
    places: tuple[Place, ...]
    first: Line
    """How it begins: size, weight and place of its first line."""
    last: Line
    column: tuple[float, float]
    """Left and right edge of the column it stands in."""
    lines: int = 1
    level: int = 0
    """Of a heading, 1 to 6; of a list item, how deep it is nested, from 0."""
    marker: str = ""
    """Of a list item: what stands before it, such as `-` or `2.`."""


@dataclass(frozen=True, slots=True)
class PlacedTable:
    """A table on its page."""

    table: Table
    page: int
    caption: Element | None = None
    more: tuple[Place, ...] = ()
    """Where it goes on, on the pages after its own."""


def place(page: int, lines: Sequence[Line]) -> Place:
    """Return the part of the page that the lines cover."""
    return Place(
        page,
        min(line.left for line in lines),
        min(line.top for line in lines),
        max(line.right for line in lines),
        max(line.bottom for line in lines),
    )

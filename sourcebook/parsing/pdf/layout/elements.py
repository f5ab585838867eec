"""Parts of a page after its structure is known; lengths in points from the page's upper left corner."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from sourcebook.parsing.pdf.layout.measures import Rectangle, around
from sourcebook.parsing.pdf.layout.page_parts import Line

ElementKind = Literal["paragraph", "heading", "item", "code", "caption", "footnote", "running head", "entry"]
"""An `entry` is a form's field or a comment, which nothing else is joined to."""


@dataclass(frozen=True, slots=True)
class Row:
    """Runs side by side in one column: a line of a paragraph or of a table."""

    runs: tuple[Line, ...]
    """Runs in reading order."""
    line: Line
    """All runs as one line."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table, with its row and column counted from 0."""

    row: int
    column: int
    text: str
    row_span: int = 1
    column_span: int = 1
    header: bool = False


@dataclass(frozen=True, slots=True)
class Table(Rectangle):
    """A table and the part of the page that it covers."""

    left: float
    top: float
    right: float
    bottom: float
    cells: tuple[Cell, ...]
    rows: int
    columns: int
    contents: bool = False
    """Whether the table is the document's table of contents."""

    @classmethod
    def of(cls, rows: Sequence[Row], texts: Sequence[Sequence[str]], *, contents: bool = False) -> "Table":
        """Return the table of rows.

        Args:
            rows: rows that the table covers.
            texts: texts of the cells, row by row; the first row is the header, except in a table of contents.
            contents: whether the table is a table of contents.
        """
        cells = tuple(
            Cell(index, column, text, header=index == 0 and not contents)
            for index, row in enumerate(texts)
            for column, text in enumerate(row)
        )
        edges = around([row.line for row in rows])
        return cls(*edges, cells=cells, rows=len(texts), columns=len(texts[0]), contents=contents)


@dataclass(frozen=True, slots=True)
class Place(Rectangle):
    """A rectangle on a page."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Element:
    """A paragraph, heading or other unit of text."""

    kind: ElementKind
    text: str
    places: tuple[Place, ...]
    first: Line
    """First line, for its font size, weight and position."""
    last: Line
    """Last line."""
    column: tuple[float, float]
    """Left and right edge of its column."""
    lines: int = 1
    """Number of lines."""
    level: int = 0
    """Level of a heading, 1 to 6."""
    marker: str = ""
    """Mark before a list item, such as `-` or `2.`."""

    @property
    def page(self) -> int:
        """Number of the page on which it begins."""
        return self.places[0].page


@dataclass(frozen=True, slots=True)
class PlacedTable:
    """A table on its page."""

    table: Table
    page: int
    caption: Element | None = None
    more: tuple[Place, ...] = ()
    """Rectangles of its continuation on later pages."""
    kind: ClassVar[Literal["table"]] = "table"


Part = Element | PlacedTable
"""Elements of a page."""

"""Form fields as lines of text, and as elements of their own once they have a label."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from sourcebook.parsing.pdf.layout.elements import Element, Place, Table
from sourcebook.parsing.pdf.layout.lines.rows import side_by_side
from sourcebook.parsing.pdf.layout.measures import around
from sourcebook.parsing.pdf.layout.page_parts import Field, Line, Page

EMPTY = "(empty)"
_ON, _OFF = "☒", "☐"
_USUAL_SIZE = 10.0
"""Font size of a page that has nothing but fields, in points."""
_NONE = Field(0.0, 0.0, 0.0, 0.0, "note")


@dataclass(slots=True)
class FieldLine(Line):
    """The content of a field as a line of text, for cells of tables."""

    of: Field = _NONE


@dataclass(slots=True)
class Entry(Line):
    """A field with its label, or a text that somebody put on the page: an element of its own."""


def with_field_lines(page: Page) -> Page:
    """Return the page with the content of its fields among its lines."""
    if not page.fields:
        return page
    size = median(line.size for line in page.lines) if page.lines else _USUAL_SIZE
    return replace(page, lines=(*page.lines, *(_line(one, min(size, one.height)) for one in page.fields)))


def _line(one: Field, size: float) -> FieldLine:
    text = (_ON if one.on else _OFF) if one.kind == "tick" else one.value or EMPTY
    return FieldLine(text, one.left, one.right, one.top, one.bottom, size, of=one)


def in_reading_order(apart: Sequence[Table | Entry]) -> list[Table | Entry]:
    """Return tables and entries from the top, entries beside each other from the left."""
    rows = side_by_side([one for one in apart if isinstance(one, Entry)])
    level = {id(one): min(other.top for other in row) for row in rows for one in row}
    return sorted(apart, key=lambda one: (level.get(id(one), one.top), one.left))


def entry_element(one: Entry, page: int, column: tuple[float, float]) -> Element:
    """Return an entry as an element of its page."""
    return Element("entry", one.text, (Place(page, *around([one])),), one, one, column)

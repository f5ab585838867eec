"""The description of a table: its columns, the number of its rows, and its first rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.joined_blocks import JoinedBlocks
from sourcebook.parsing.text.markdown_writing import markdown_table

MOST_TABLES = 200
"""Tables of a file that are described."""
MOST_COLUMNS = 300
"""Columns of a table that are described."""
SHOWN_ROWS = 20
"""Rows of a table that are shown."""
SHOWN_COLUMNS = 40
"""Columns that are shown of each of these rows."""
_LONGEST_CELL = 200
"""Characters of a cell."""
_BACKTICK = str.maketrans("`", "'")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    kind: str
    """Type of its values, as the file calls it."""
    note: str = ""
    """More about it, such as "primary key"."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a file."""

    name: str
    columns: Sequence[Column]
    rows: int
    first: Sequence[Sequence[object]] = ()
    """The first rows, up to `SHOWN_ROWS`, with their first `SHOWN_COLUMNS` values."""
    notes: Sequence[str] = field(default_factory=tuple)
    """Sentences about the table."""


def describe(joined: JoinedBlocks, table: Table) -> None:
    """Add the section of a table."""
    if table.name:
        joined.add_heading(as_code(table.name), 2)
    shape = f"{counted(table.rows, 'row')}, {counted(len(table.columns), 'column')}."
    joined.add(" ".join([shape, *table.notes]), "paragraph")
    described = [[as_code(column.name), _cell(column.kind), _cell(column.note)] for column in table.columns]
    has_notes = any(column.note for column in table.columns)
    lines = [["column", "type", "note"], *islice(described, MOST_COLUMNS)]
    joined.add(markdown_table([line[: 3 if has_notes else 2] for line in lines]), "table")
    if more := len(described) - MOST_COLUMNS:
        joined.add(f"And {more:,} more columns." if more > 0 else "", "paragraph")
    if table.first:
        names = [clean(column.name) for column in table.columns[:SHOWN_COLUMNS]]
        joined.add("The first rows:" if table.rows != len(table.first) else "The rows:", "paragraph")
        joined.add(markdown_table([names, *([_cell(value) for value in row] for row in table.first)]), "table")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 row", "1,204 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def as_code(name: str) -> str:
    """Return a name as code, in which no sign is Markdown."""
    return f"`{' '.join(clean(name).translate(_BACKTICK).split())[:_LONGEST_CELL] or ' '}`"


def named(tables: Iterable[str]) -> str:
    """Return the names of tables as a list in a sentence."""
    return ", ".join(map(as_code, tables))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes | bytearray | memoryview):
        return f"({len(value):,} bytes)"
    text = " ".join(clean(str(value)).split())
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"

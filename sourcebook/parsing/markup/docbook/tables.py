"""Spans of cells in tables of DocBook, which name the columns from which and to which they reach."""

from collections.abc import Sequence
from typing import Any

from sourcebook.parsing.markup.xml_tree import local_name

_MOST = 500
"""Columns or rows that a cell may span."""


def column_names(children: Sequence[Any]) -> list[str]:
    """Return the names of the columns that elements declare; "" for a column without one."""
    return [child.get("colname", "") for child in children if local_name(child) == "colspec"][:_MOST]


def give_spans(cell: Any, attributes: dict[str, str], columns: Sequence[str]) -> None:
    """Set the spans of HTML on a cell from its DocBook attributes and the names of the table's columns."""
    rows = attributes.get("morerows", "")
    if rows.isascii() and rows.isdigit() and 0 < len(rows) < 4:
        cell.set("rowspan", str(min(int(rows) + 1, _MOST)))
    first, last = attributes.get("namest", ""), attributes.get("nameend", "")
    if first and first in columns and last in columns:
        width = columns.index(last) - columns.index(first) + 1
        if width > 1:
            cell.set("colspan", str(width))

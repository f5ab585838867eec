"""References to columns of named tables in formulas, such as `Goods[Price]`, as references to cells."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from openpyxl.utils.cell import get_column_letter, range_boundaries  # type: ignore[import-untyped]

from sourcebook.parsing.office.sheet_regions import Position

_REFERENCE: Final = re.compile(r"(\w*)\[(\[#This Row\],\s*|@)?\[?([^\[\]#@]+)\]?\]", re.IGNORECASE)
_PREFIX: Final = re.compile(r"_xl(?:fn|ws|pm)\.")
"""Prefixes of functions and names that are younger than the format."""


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A named table of a sheet: its bounding rows and columns, the header and totals left out."""

    name: str
    sheet: str
    columns: list[str]
    left: int
    top: int
    bottom: int
    totals: int

    def holds(self, sheet: str, place: Position) -> bool:
        """Tell whether a cell is in a row of the table, or in its totals."""
        is_beside = self.left <= place[1] < self.left + len(self.columns)
        return sheet == self.sheet and is_beside and self.top <= place[0] <= self.bottom + self.totals


def named_tables(workbook: Any) -> list[NamedTable]:
    """Return the named tables of a workbook of openpyxl."""
    found = []
    for sheet in workbook.worksheets:
        for table in sheet.tables.values():
            left, top, _, bottom = range_boundaries(table.ref)
            headers = 1 if table.headerRowCount is None else table.headerRowCount
            columns = [column.name.lower() for column in table.tableColumns]
            totals = table.totalsRowCount or 0
            name = (table.displayName or table.name or "").lower()
            found.append(NamedTable(name, sheet.title, columns, left, top + headers, bottom - totals, totals))
    return found


def with_cells(formula: str, sheet: str, place: Position, tables: Iterable[NamedTable]) -> str:
    """Return a formula whose references to columns of tables are those to their cells; others stay as they are.

    Args:
        formula: the formula, without its sign of equality.
        sheet: the sheet that it is on.
        place: its cell, whose row "this row" is, and whose table one without a name is.
        tables: all tables of the workbook.
    """

    def cells(found: re.Match[str]) -> str:
        name, this_row, column = found[1].lower(), found[2], found[3].lower()
        for table in tables:
            if column in table.columns and (table.name == name if name else table.holds(sheet, place)):
                letter = get_column_letter(table.left + table.columns.index(column))
                owner = table.sheet.replace("'", "''")
                rows = (place[0], place[0]) if this_row else (table.top, table.bottom)
                return f"'{owner}'!${letter}${rows[0]}" + ("" if this_row else f":${letter}${rows[1]}")
        return found[0]

    replaced = _REFERENCE.sub(cells, formula)
    return formula if replaced == formula else _PREFIX.sub("", replaced)

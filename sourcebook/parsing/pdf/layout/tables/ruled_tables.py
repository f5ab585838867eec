"""Tables with drawn lines."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from sourcebook.parsing.pdf.layout.elements import Cell, Row, Table
from sourcebook.parsing.pdf.layout.field_labels import with_entries
from sourcebook.parsing.pdf.layout.form_fields import EMPTY
from sourcebook.parsing.pdf.layout.lines.rows import rows
from sourcebook.parsing.pdf.layout.page_parts import Line, Page
from sourcebook.parsing.pdf.layout.tables.grid import Grid, grids
from sourcebook.parsing.pdf.layout.tables.outer_rows import with_outer_rows
from sourcebook.parsing.pdf.layout.words.line_joining import joined_text

_LEAST_FILLED = 0.4
"""Share of cells with text below which a grid is a form's frame or a drawing [first]."""
_LEAST_LEVEL = 0.7
"""Share of a cell's lines that are level with numbers beside them; formulas may be higher than their line [apart]."""
_LEAST_NUMBERS = 0.7
"""Share of a cell's lines that are numbers at which each is a row [apart]."""
_FEWEST_NUMBERS = 3
"""Fewest numbers below one another in one cell that are rows [apart]."""
_FEWEST_BESIDE = 2
"""Fewest numbers below one another in each of two cells that are rows [apart]."""
_NUMBERS = re.compile(r"(?=.*\d)[\d.,()\s%*+\-\u2212\u2013$€£]+")
_FEWEST_ROWS = 3
"""Fewest rows of a table whose columns are known by the ends of the lines between its rows [0080]."""
_LEAST_SINGLE = 0.7
"""Share of such a table's rows in which a cell has a single line of text [0080]."""
_MOST_LINES = 30
"""Lines in one cell above which a grid is a frame around columns of text [first]."""


def ruled_tables(page: Page) -> tuple[list[Table], list[Line]]:
    """Return the page's tables with drawn lines, and the lines of text outside of them."""
    tables: list[Table] = []
    left = list(page.lines)
    for drawn in grids(page.rules, left):
        grid = with_outer_rows(drawn, left) if drawn.inferred else drawn
        inside = [line for line in left if _within(grid, line)]
        table = _table(grid, inside)
        if table is not None:
            tables.append(table)
            members = set(map(id, inside))
            left = [line for line in left if id(line) not in members]
    return tables, left


def _within(grid: Grid, line: Line) -> bool:
    return grid.xs[0] <= line.centre <= grid.xs[-1] and grid.ys[0] <= line.middle <= grid.ys[-1]


def _table(grid: Grid, lines: Sequence[Line]) -> Table | None:
    if len(grid.cells) < 4:
        return None
    owner = {
        (cell.row + down, cell.column + across): index
        for index, cell in enumerate(grid.cells)
        for down in range(cell.row_span)
        for across in range(cell.column_span)
    }
    held: list[list[Line]] = [[] for _ in grid.cells]
    for line in lines:
        row = min(max(bisect_right(grid.ys, line.middle) - 1, 0), len(grid.ys) - 2)
        column = min(max(bisect_right(grid.xs, line.centre) - 1, 0), len(grid.xs) - 2)
        held[owner[row, column]].append(line)
    filled = [rows(with_entries(cell) if len(cell) > 1 else cell) for cell in held]
    if sum(map(bool, filled)) < max(3, _LEAST_FILLED * len(filled)) or max(map(len, filled)) > _MOST_LINES:
        return None
    if grid.inferred and not _parts_rows(grid, filled):
        return None
    held_by_row = Counter(cell.row for cell, text in zip(grid.cells, filled, strict=True) if text)
    if sum(count > 1 for count in held_by_row.values()) < 2:
        return None
    cells, heights = _cells(grid, filled)
    return Table(
        grid.xs[0],
        grid.ys[0],
        grid.xs[-1],
        grid.ys[-1],
        tuple(cells),
        sum(heights),
        len(grid.xs) - 1,
    )


def _parts_rows(grid: Grid, filled: Sequence[Sequence[Row]]) -> bool:
    """Tell whether lines part the rows of a table: in most rows of the grid, a cell has a single line of text."""
    shortest: dict[int, int] = {}
    for cell, text in zip(grid.cells, filled, strict=True):
        if text:
            shortest[cell.row] = min(len(text), shortest.get(cell.row, len(text)))
    single = sum(count == 1 for count in shortest.values())
    return len(shortest) >= _FEWEST_ROWS and single >= _LEAST_SINGLE * len(shortest)


def _cells(grid: Grid, filled: list[list[Row]]) -> tuple[list[Cell], list[int]]:
    """Return the cells, and the number of rows of text in each row of the grid; often only columns have lines."""
    height = len(grid.ys) - 1
    within: list[list[float]] = [[] for _ in range(height)]
    for row in range(height):
        within[row] = _text_rows([text for cell, text in zip(grid.cells, filled, strict=True) if cell.row == row])
    heights = [max(1, len(tops)) for tops in within]
    starts = [sum(heights[:row]) for row in range(height + 1)]
    header = _header_rows(grid)
    cells: list[Cell] = []
    for cell, text in zip(grid.cells, filled, strict=True):
        tops = within[cell.row] if cell.row_span == 1 else []
        parts: list[list[Row]] = [[] for _ in tops] or [text]
        for one in text if tops else ():
            parts[max(0, bisect_right(tops, one.line.top + 0.4 * one.line.height) - 1)].append(one)
        for offset, part in enumerate(parts):
            span = starts[cell.row + cell.row_span] - starts[cell.row] if len(parts) == 1 else 1
            cells.append(
                Cell(
                    starts[cell.row] + offset,
                    cell.column,
                    _text(part),
                    span,
                    cell.column_span,
                    header=cell.row < header,
                )
            )
    return cells, heights


def _text(part: Sequence[Row]) -> str:
    """Return the text of a cell; a field that nobody filled in is an empty cell where nothing is beside it."""
    text = joined_text([one.line for one in part])
    return "" if text == EMPTY else text


def _text_rows(cells: Sequence[Sequence[Row]]) -> list[float]:
    """Return the tops of the rows of text in one row of the grid, or nothing where it is a single row.

    No number goes on in a second line: where a column holds several, each line of text is a row, and a name above
    the numbers, or a column with some of them, is no reason against it. Other columns must have about as many lines.
    """
    held = [cell for cell in cells if cell]
    tops = [sorted(row.line.top for row in cell) for cell in held]
    if len(tops) < 2:
        return []
    longest = max(tops, key=len)
    numbers = sorted(len(cell) for cell in held if _are_numbers(cell))
    are_rows = numbers[-1:] >= [_FEWEST_NUMBERS] or numbers[-2:-1] >= [_FEWEST_BESIDE]
    fewest, level = (1.0, _LEAST_LEVEL) if are_rows else (max(3.0, 0.8 * len(longest)), 1.0)
    for other in tops:
        beside = sum(any(abs(top - place) < 2 for place in longest) for top in other)
        if beside < level * len(other) or len(other) < fewest:
            return []
    return longest


def _are_numbers(cell: Sequence[Row]) -> bool:
    return sum(_NUMBERS.fullmatch(row.line.text) is not None for row in cell) >= _LEAST_NUMBERS * len(cell)


def _header_rows(grid: Grid) -> int:
    """Return the number of header rows: 2 where the second row divides the wide cells of the first, else 1.

    All other cells of the first row then span both rows.
    """
    first = [cell for cell in grid.cells if cell.row == 0]
    wide = [cell for cell in first if cell.column_span > 1]
    down = [cell for cell in first if cell.column_span == 1]
    return 2 if wide and down and all(cell.row_span == 2 for cell in down) and len(grid.ys) > 3 else 1

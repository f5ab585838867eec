"""First and last rows of tables that have a line only below or above them, such as a header."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from sourcebook.parsing.pdf.layout.lines.rows import side_by_side
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.layout.tables.grid import Grid, GridCell

_MOST_ABOVE = 2
"""Most rows above the first line: a header, and a row that no line parts from it [0080]."""
_NEAR = 1.0
"""Largest distance from the line to the text beyond it, in heights of the text [0080]."""
_ONE_ROW = 0.25
"""Largest distance of the lines of one row, in heights of the text [0080]."""
_TOUCH = 2.0
"""Distance in points by which a text may reach beyond the edge of its cell [0080]."""


def with_outer_rows(grid: Grid, lines: Sequence[Line]) -> Grid:
    """Return the grid with the row directly above it and the one directly below it, where these are in its columns.

    Args:
        grid: grid of a table.
        lines: texts of the page.
    """
    top, bottom = grid.ys[0], grid.ys[-1]
    beyond = [line for line in lines if line.right > grid.xs[0] and line.left < grid.xs[-1] and not line.turned]
    above = side_by_side([line for line in beyond if line.middle < top])[::-1]
    below = side_by_side([line for line in beyond if line.middle > bottom])
    upper = _row(grid, above, [top - max((line.bottom for line in row), default=0.0) for row in above[:1]])
    lower = _row(grid, below, [min((line.top for line in row), default=0.0) - bottom for row in below[:1]])
    for _ in range(_MOST_ABOVE):
        if not upper:
            break
        cells = tuple(replace(cell, row=cell.row + 1) for cell in grid.cells)
        top = min(top - 1, *(line.top for line in upper))
        grid = replace(grid, ys=(top, *grid.ys), cells=(*_cells(grid, 0), *cells))
        above = [row for row in above if all(line.bottom <= top + 1 for line in row)]
        upper = _row(grid, above, [top - max((line.bottom for line in row), default=0.0) for row in above[:1]])
    if lower:
        bottom = max(bottom + 1, *(line.bottom for line in lower))
        grid = replace(grid, ys=(*grid.ys, bottom), cells=(*grid.cells, *_cells(grid, len(grid.ys) - 1)))
    return grid


def _cells(grid: Grid, row: int) -> list[GridCell]:
    return [GridCell(row, column, 1, 1) for column in range(len(grid.xs) - 1)]


def _row(grid: Grid, beyond: Sequence[Sequence[Line]], distance: Sequence[float]) -> list[Line]:
    """Return the lines of the row next to a grid; nothing where they are not in several of its columns."""
    if not distance or distance[0] > _NEAR * max(line.height for line in beyond[0]):
        return []
    fitting = list(takewhile(lambda row: all(_column(grid, line) is not None for line in row), beyond))
    found: list[Line] = []
    for row in fitting:
        if found and not _is_near(found, row):
            break
        found += row
    columns = {_column(grid, line) for line in found}
    goes_on = len(fitting) < len(beyond) and bool(found) and _is_near(found, beyond[len(fitting)])
    return found if 2 * len(columns) > len(grid.xs) - 1 and len(columns) > 1 and not goes_on else []


def _is_near(found: Sequence[Line], row: Sequence[Line]) -> bool:
    """Tell whether lines follow others as closely as those of one cell do."""
    apart = max(
        min(line.top for line in row) - max(line.bottom for line in found),
        min(line.top for line in found) - max(line.bottom for line in row),
    )
    return apart < _ONE_ROW * max(line.height for line in row)


def _column(grid: Grid, line: Line) -> int | None:
    """Return the column in which a text is, or None for a text that reaches into others."""
    column = bisect_right(grid.xs, line.centre) - 1
    if not 0 <= column < len(grid.xs) - 1:
        return None
    inside = line.left > grid.xs[column] - _TOUCH and line.right < grid.xs[column + 1] + _TOUCH
    return column if inside else None

"""Headers over several columns of a table without drawn lines, such as a year over its revenue and its profit."""

import re
from collections.abc import Sequence

from sourcebook.parsing.pdf.layout.elements import Cell
from sourcebook.parsing.pdf.layout.page_parts import Line

_YEAR = re.compile(r"(?:1[6-9]|20)\d\d(?:\s?[-/–]\s?\d{2,4})?")
_FLUSH = 1.5
"""Difference of edges in points up to which they are one [0080]."""
_OFF_CENTRE = 0.25
"""Largest distance between the middles of a header and of its columns, as a share of the columns' width [0080]."""


def spans(runs: Sequence[Line], columns: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
    """Return the first and last column below each header; nothing where no header is centred over several columns.

    Args:
        runs: headers from the left.
        columns: left and right edges of the columns, as the rows below have them.
    """
    middles = [run.centre for run in runs]
    nearest = [
        min(range(len(runs)), key=lambda place: abs(middles[place] - (left + right) / 2)) for left, right in columns
    ]
    found: list[tuple[int, int]] = []
    for place, run in enumerate(runs):
        over = [column for column, owner in enumerate(nearest) if owner == place]
        flush = [column for column in over if _is_flush(run, *columns[column])]
        over = flush[:1] or over
        while len(over) > 1 and not _is_centred(run, columns[over[0]][0], columns[over[-1]][1]):
            farther = max(over[0], over[-1], key=lambda one: abs(sum(columns[one]) / 2 - middles[place]))
            over.remove(farther)
        if not over:
            return []
        found.append((over[0], over[-1]))
    return found if any(last > first for first, last in found) else []


def _is_flush(run: Line, left: float, right: float) -> bool:
    """Tell whether a header begins or ends with a column, so that it is over that one alone."""
    return min(abs(run.left - left), abs(run.right - right)) < _FLUSH


def _is_centred(run: Line, left: float, right: float) -> bool:
    return abs(run.left + run.right - left - right) / 2 <= _OFF_CENTRE * (right - left)


def first_row(cells: Sequence[Cell], columns: int) -> list[str]:
    """Return the text of each column in the first row of a table; a header over several columns is in each of them."""
    texts = [""] * columns
    for cell in cells:
        if cell.row == 0:
            texts[cell.column : cell.column + cell.column_span] = [cell.text] * cell.column_span
    return texts


def wide_cells(
    runs: Sequence[Line], over: Sequence[tuple[int, int]], below: Sequence[str]
) -> tuple[list[Cell], frozenset[int]]:
    """Return the cells of the first row, and the columns of the second row that they cover, too.

    Args:
        runs: headers from the left.
        over: first and last column below each.
        below: texts of the second row.
    """
    down = frozenset(first for first, last in over if first == last and not below[first])
    cells = [
        Cell(0, first, run.text, 2 if first in down else 1, last - first + 1, header=True)
        for run, (first, last) in zip(runs, over, strict=True)
    ]
    covered = {column for first, last in over for column in range(first, last + 1)}
    cells += [Cell(0, column, "", header=True) for column in range(len(below)) if column not in covered]
    return cells, down


def is_second_header(over: Sequence[tuple[int, int]], below: Sequence[str]) -> bool:
    """Tell whether the row below wide headers divides them, and is no row of values."""
    single = [first for first, last in over if first == last]
    if single and not any(below[column] for column in single):
        return True
    return not any(any(map(str.isdigit, text)) and not _YEAR.fullmatch(text) for text in below)

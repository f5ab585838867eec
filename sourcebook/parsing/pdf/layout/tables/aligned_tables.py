"""Tables without drawn lines: rows whose runs are aligned in columns, with white space between the columns."""

import re
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from sourcebook.parsing.pdf.layout.elements import Row, Table
from sourcebook.parsing.pdf.layout.lines.rows import joined
from sourcebook.parsing.pdf.layout.measures import Span
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.layout.tables.dot_leaders import contents_table, leads_to_page, without_leaders
from sourcebook.parsing.pdf.layout.tables.wide_headers import first_row, is_second_header, spans, wide_cells
from sourcebook.parsing.pdf.layout.tables.wrapped_cells import NUMBER, further_lines
from sourcebook.parsing.pdf.layout.words.line_joining import joined_text
from sourcebook.parsing.pdf.layout.words.list_marks import list_mark

_NARROWEST_GAP = 0.55
"""Smallest gap between columns, in font sizes [first]."""
_MANY_ROWS = 12
"""Rows from which the gaps between columns may be narrower: in text, no white space is in all lines [0078]."""
_NARROWEST_OF_MANY = 0.33
"""Smallest gap that so many rows share, in font sizes [0078]."""
_FARTHEST_ROW = 2.6
"""Largest white space between two rows of a table, in font sizes [first]."""
_FEWEST_BELOW = 2
"""Fewest rows with all columns below a header over several of them [0080]."""
_LONGEST_CELL = 90
"""Characters of the median cell above which columns are prose [first]."""
_BULLET = re.compile(r"[\u2460-\u24ff\u25a0-\u27bf]")
_SECTION = re.compile(r"\d{1,3}(?:\.\d{1,3})+\.|\d{1,3}(?:\.\d{1,3}){2,}")
_TITLE = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})+\.?\s+[^\W\d_]{3}")
"""Number of a section within another, and a word."""


@dataclass(frozen=True, slots=True)
class _Gap(Span):
    left: float
    right: float


def with_tables(rows: Sequence[Row], levels: Sequence[float] = ()) -> list[Row | Table]:
    """Return the rows of a column, with tables in place of the rows that form them.

    Args:
        rows: rows of one column, from the top.
        levels: heights of the lines drawn across the column, which separate the rows of a table.
    """
    result: list[Row | Table] = []
    written, rows = rows, [row if leads_to_page(row) else without_leaders(row) for row in rows]
    index = 0
    while index < len(rows):
        end, gaps = _stretch(rows, index)
        table = contents_table(rows[index:end]) or _table(rows[index:end], gaps, levels) if end - index > 1 else None
        if table is not None and not table.contents and _is_justified(rows, index, end):
            table = None
        if table is None:
            result.append(written[index])
            index += 1
        else:
            result.append(table)
            index = end
    return result


def _stretch(rows: Sequence[Row], start: int) -> tuple[int, list[_Gap]]:
    """Return the end of the rows that share white space with the row at `start`, and their common gaps."""
    if leads_to_page(rows[start]):
        end = start
        while end < len(rows) and (leads_to_page(rows[end]) or (end + 1 < len(rows) and leads_to_page(rows[end + 1]))):
            end += 1
        return end, []
    gaps = _gaps(rows[start])
    if not gaps or _is_text(rows[start]):
        return start, []
    end = start + 1
    while end < len(rows):
        row, previous = rows[end], rows[end - 1]
        if row.line.top - previous.line.bottom > _FARTHEST_ROW * row.line.size or leads_to_page(row) or _is_text(row):
            break
        common = _common(gaps, row)
        if len(common) < max(1, len(gaps) // 2) or (len(row.runs) == 1 and _crosses(row.line, gaps)):
            break
        gaps, end = common, end + 1
    whole = end
    while end > start and len(rows[end - 1].runs) == 1 and not _continues(rows[end - 1], rows[end - 2], gaps):
        end -= 1
    if end == whole - 1 and _is_last_of_first_column(rows[start:whole], gaps):
        end = whole
    return end, gaps


def _is_last_of_first_column(rows: Sequence[Row], gaps: Sequence[_Gap]) -> bool:
    """Tell whether the last row is the second line of a first cell, as other rows are, and nearer than a new row."""
    *above, last = rows
    alike = [
        after.line.top - before.line.bottom
        for before, after in pairwise(above)
        if len(after.runs) == 1 and after.line.right <= gaps[0].left
    ]
    flush = abs(last.line.left - min(run.left for run in above[-1].runs)) < 0.2 * last.line.size
    in_column = bool(gaps) and flush and last.line.right <= gaps[0].left
    return in_column and bool(alike) and last.line.top - above[-1].line.bottom <= max(alike) + 1


def _is_justified(rows: Sequence[Row], start: int, end: int) -> bool:
    """Tell whether the rows are lines of a justified paragraph: as wide and as close as their neighbours."""
    left = min(row.line.left for row in rows[start:end])
    right = max(row.line.right for row in rows[start:end])
    if any(abs(row.line.left - left) > 1.5 or abs(row.line.right - right) > 1.5 for row in rows[start:end]):
        return False
    pitch = (rows[end - 1].line.top - rows[start].line.top) / (end - 1 - start)
    for outer, inner in ((start - 1, start), (end, end - 1)):
        if 0 <= outer < len(rows):
            beside = rows[outer].line
            close = abs(abs(beside.top - rows[inner].line.top) - pitch) < 0.15 * pitch
            if close and abs(beside.left - left) < 1.5 and abs(beside.size - rows[inner].line.size) < 0.5:
                return True
    return False


def _is_text(row: Row) -> bool:
    """Tell whether a row is code, a list item or a numbered section instead of cells."""
    if row.line.monospaced or _is_bold_title(row):
        return True
    if len(row.runs) != 2:
        return False
    first = row.runs[0].text
    if _BULLET.fullmatch(first):
        return True
    return list_mark(f"{first} x") is not None or _SECTION.fullmatch(first) is not None


def _is_bold_title(row: Row) -> bool:
    """Tell whether a row is bold and begins with the number of a section and a word, as no row of cells does."""
    return row.line.bold and len(row.runs) < 3 and _TITLE.match(row.line.text) is not None


def _gaps(row: Row) -> list[_Gap]:
    ordered = sorted(row.runs, key=lambda run: run.left)
    return [
        _Gap(before.right, after.left)
        for before, after in pairwise(ordered)
        if after.left - before.right > _NARROWEST_GAP * min(before.size, after.size)
    ]


def _common(gaps: Sequence[_Gap], row: Row) -> list[_Gap]:
    """Return the widest part of each gap that the row leaves free; gaps are sorted and disjoint, as are the results."""
    free = _free(row)
    left: list[_Gap] = []
    first = 0
    for gap in gaps:
        while free[first].right <= gap.left:
            first += 1
        parts: list[_Gap] = []
        while first < len(free) and free[first].left < gap.right:
            parts.append(_Gap(max(free[first].left, gap.left), min(free[first].right, gap.right)))
            first += 1
        first -= bool(parts)  # the last part may reach into the next gap
        widest = max(parts, key=lambda part: part.width, default=None)
        if widest is not None and widest.width > _NARROWEST_GAP * row.line.size:
            left.append(widest)
    return left


def _free(row: Row) -> list[_Gap]:
    """Return the white space of a row from left to right, including both margins."""
    free: list[_Gap] = []
    reached = float("-inf")
    for run in sorted(row.runs, key=lambda run: run.left):
        if run.left > reached:
            free.append(_Gap(reached, run.left))
        reached = max(reached, run.right)
    return [*free, _Gap(reached, float("inf"))]


def _shared(rows: Sequence[Row]) -> list[_Gap]:
    """Return the common white space of all rows."""
    narrowest = _NARROWEST_OF_MANY if len(rows) >= _MANY_ROWS else _NARROWEST_GAP
    least = narrowest * min(row.line.size for row in rows)
    found: list[_Gap] = []
    reached = float("inf")
    for run in sorted((run for row in rows for run in row.runs), key=lambda run: run.left):
        if run.left - reached > least:
            found.append(_Gap(reached, run.left))
        reached = run.right if reached == float("inf") else max(reached, run.right)
    return found


def _crosses(line: Line, gaps: Sequence[_Gap]) -> bool:
    return any(line.left < gap.left and line.right > gap.right for gap in gaps)


def _continues(row: Row, previous: Row, gaps: Sequence[_Gap]) -> bool:
    """Tell whether a row of one run continues a cell other than the first."""
    close = row.line.top - previous.line.bottom < 0.6 * row.line.size
    return close and bool(gaps) and row.line.left > gaps[0].right - 2


def _table(rows: Sequence[Row], gaps: Sequence[_Gap], levels: Sequence[float]) -> Table | None:
    full = [row for row in rows if len(row.runs) > 1]
    shared = _shared(rows)
    gaps = shared if len(shared) >= len(gaps) else gaps
    if (divided := _divided_table(rows, gaps, levels)) is not None:
        return divided
    width = len(gaps) + 1
    if not gaps or len(full) < (2 if width > 2 else 3):
        return None
    grid = _ruled_grid(rows, gaps, levels) or _grid(rows, gaps)
    texts = [[joined_text(cell) for cell in row] for row in grid]
    longest = max(len(text) for row in texts for text in row)
    letters = [len(text) for row in texts for text in row if text]
    if longest > 4 * _LONGEST_CELL or median(letters) > _LONGEST_CELL:
        return None
    if sum(map(bool, (text for row in texts for text in row))) < 0.4 * len(texts) * width:
        return None
    return Table.of(rows, texts)


def _divided_table(rows: Sequence[Row], gaps: Sequence[_Gap], levels: Sequence[float]) -> Table | None:
    """Return the table whose first row is over more columns than it has cells, or None where it is not so."""
    body = rows[1:]
    inner = _shared(body) if len(body) > _FEWEST_BELOW else []
    edges = [float("-inf"), *(gap.centre for gap in inner), float("inf")]
    if (
        len(inner) < max(len(gaps), len(rows[0].runs))
        or sum(len(row.runs) > len(inner) for row in body) < _FEWEST_BELOW
    ):
        return None
    columns = [
        (min(run.left for run in runs), max(run.right for run in runs))
        for left, right in pairwise(edges)
        if (runs := [run for row in body for run in row.runs if left <= run.left < right])
    ]
    heads = sorted(rows[0].runs, key=lambda run: run.left)
    over = spans(heads, columns) if len(columns) == len(inner) + 1 else []
    table = _table(body, inner, levels) if over else None
    if table is None or table.columns != len(columns):
        return None
    below = first_row(table.cells, table.columns)
    second = is_second_header(over, below)
    cells, down = wide_cells(heads, over, below) if second else wide_cells(heads, over, ["x"] * len(below))
    cells += [
        replace(cell, row=cell.row + 1, header=cell.header and second)
        for cell in table.cells
        if cell.row or cell.column not in down
    ]
    top, left, right = rows[0].line.top, min(row.line.left for row in rows), max(row.line.right for row in rows)
    return replace(table, top=top, left=left, right=right, cells=tuple(cells), rows=table.rows + 1)


def _ruled_grid(rows: Sequence[Row], gaps: Sequence[_Gap], levels: Sequence[float]) -> list[list[list[Line]]]:
    """Return the cells between the drawn lines that separate the rows, or nothing where no lines separate them."""
    top, bottom = rows[0].line.top, rows[-1].line.bottom
    inside = [level for level in levels if top < level < bottom]
    bands = Counter(bisect(inside, (row.line.top + row.line.bottom) / 2) for row in rows)
    if len(bands) < 3 or max(bands.values()) > 8:
        return []
    middles = [gap.centre for gap in gaps]
    numbers = Counter(
        (bisect(inside, (row.line.top + row.line.bottom) / 2), column)
        for row in rows
        for column, part in _parts(row, middles).items()
        if NUMBER.fullmatch(part[0].text)
    )
    if sum(count > 1 for count in numbers.values()) > 1:
        return []  # numbers below each other belong to rows that no lines separate
    grid: list[list[list[Line]]] = [[[] for _ in range(len(gaps) + 1)] for _ in bands]
    places = {band: place for place, band in enumerate(sorted(bands))}
    for row in rows:
        cells = grid[places[bisect(inside, (row.line.top + row.line.bottom) / 2)]]
        for column, part in _parts(row, middles).items():
            cells[column].append(joined(part))
    return grid


def _parts(row: Row, middles: Sequence[float]) -> dict[int, list[Line]]:
    """Return the runs of a row by column."""
    parts: dict[int, list[Line]] = {}
    for run in row.runs:
        parts.setdefault(bisect(middles, run.left), []).append(run)
    return parts


def _grid(rows: Sequence[Row], gaps: Sequence[_Gap]) -> list[list[list[Line]]]:
    """Return the lines of each cell; a row that continues the cells above is joined to them."""
    middles = [gap.centre for gap in gaps]
    spaces = [after.line.top - before.line.bottom for before, after in pairwise(rows)]
    usual = median(spaces) if spaces else 0.0
    grid: list[list[list[Line]]] = []
    found = [_parts(row, middles) for row in rows]
    further = further_lines(rows, found)
    for index, (row, runs) in enumerate(zip(rows, found, strict=True)):
        parts = [[joined(runs[column])] if column in runs else [] for column in range(len(gaps) + 1)]
        close = index > 0 and spaces[index - 1] < min(0.6 * row.line.size, usual + 0.5)
        goes_on = grid and close and not parts[0] and all(grid[-1][n] for n, part in enumerate(parts) if part)
        if index in further or (goes_on and (max(spaces) > usual + 1 or sum(map(bool, parts)) == 1)):
            for above, part in zip(grid[-1], parts, strict=True):
                above += part
        else:
            grid.append(parts)
    return grid

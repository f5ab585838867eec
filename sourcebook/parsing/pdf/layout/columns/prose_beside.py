"""Prose beside a table that it flows around: the lines of one are not level with those of the other."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from sourcebook.parsing.pdf.layout.elements import Table
from sourcebook.parsing.pdf.layout.lines.rows import side_by_side
from sourcebook.parsing.pdf.layout.measures import around
from sourcebook.parsing.pdf.layout.page_parts import Line

_FEWEST_LINES = 5
"""Fewest lines of such prose [0080]."""
_FEWEST_ROWS = 3
"""Fewest rows of such a table [0080]."""
_FEWEST_CHARACTERS = 35
"""Fewest characters of the median line of prose [0080]."""
_EVEN = 0.1
"""Largest difference between two distances of lines of prose, as a share of them [0080]."""
_LEAST_FILL = 0.8
"""Share of the width that the median line of prose fills [0080]."""
_NARROWEST = 1.2
"""Smallest white space between prose and table, in font sizes [0080]."""
_LEVEL = 0.12
"""Difference of heights up to which lines are level, in font sizes [0080]."""
_MOST_LEVEL = 0.5
"""Share of a table's rows that are level with a line of prose, above which they belong together [0080]."""


def is_beside_table(left: Sequence[Line | Table], right: Sequence[Line | Table], width: float) -> bool:
    """Tell whether one side of a gutter is prose and the other a table whose rows are at heights of their own.

    Cells of one table are level, or centred on each other: then the white space between the rows parts the prose.

    Args:
        left: lines and tables on the left of the gutter.
        right: those on its right.
        width: width of the gutter, in points.
    """
    return _flows_around(left, right, width) or _flows_around(right, left, width)


def _flows_around(text: Sequence[Line | Table], table: Sequence[Line | Table], width: float) -> bool:
    lines = [line for line in text if isinstance(line, Line)]
    cells = [line for line in table if isinstance(line, Line)]
    if len(lines) < max(_FEWEST_LINES, len(text)) or len(cells) < max(2 * _FEWEST_ROWS, len(table)):
        return False
    prose, rows = side_by_side(lines), side_by_side(cells)
    if len(prose) < _FEWEST_LINES or len(rows) < _FEWEST_ROWS or sum(len(row) > 1 for row in rows) < _FEWEST_ROWS:
        return False
    size = median(line.size for line in lines)
    if width < _NARROWEST * size or not _is_prose(prose):
        return False
    tops = [min(line.top for line in row) for row in prose]
    inside = [top for row in rows if tops[0] - size < (top := min(line.top for line in row)) < tops[-1] + size]
    level = sum(any(abs(top - other) < _LEVEL * size for other in tops) for top in inside)
    return len(inside) >= _FEWEST_ROWS and level < _MOST_LEVEL * len(inside)


def _is_prose(rows: Sequence[Sequence[Line]]) -> bool:
    """Tell whether rows are full lines of one font size at even distances."""
    pitches = [min(line.top for line in after) - min(line.top for line in before) for before, after in pairwise(rows)]
    usual = median(pitches)
    even = sum(abs(pitch - usual) <= _EVEN * usual for pitch in pitches)
    if even < len(pitches) - 1 or usual <= 0:
        return False
    left, _, right, _ = around([line for row in rows for line in row])
    fill = median(sum(line.width for line in row) for row in rows) / max(1.0, right - left)
    return fill >= _LEAST_FILL and median(sum(len(line.text) for line in row) for row in rows) >= _FEWEST_CHARACTERS

"""Reading order as the page's content has it, for pages that cannot be cut into columns with certainty.

Most programs write the text of a page in its reading order. Where the order by position disagrees and more of its lines
do not follow one another, the order of the content is taken.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from sourcebook.parsing.pdf.layout.columns import Column
from sourcebook.parsing.pdf.layout.elements import Table
from sourcebook.parsing.pdf.layout.page_parts import Line

_LEAST_AGREEMENT = 0.8
"""Share of the lines in the order of the content at which the order by position is kept."""
_LEAST_GAIN = 0.05
"""Share of lines more that follow one another in the order of the content than in that by position."""
_LEAST_FLOW = 0.6
"""Share of lines that follow one another at which the order of the content is a reading order."""
_WIDEST_GAP = 2.0
"""Largest distance of two runs on one line that follow one another, in font sizes."""
_FARTHEST_LINE = 2.5
"""Largest distance from the top of a line to the top of the next, in heights of the line."""
_BACK = 12
"""Lines above which the next line may not begin, counted back from it."""
_FEWEST_LINES = 6
"""Fewest lines of a page whose order is compared."""


def reads_better_as_written(lines: Sequence[Line]) -> bool:
    """Tell whether a page should be read in the order of its content.

    Args:
        lines: Lines of the page in the order by position, without those of tables.
    """
    if len(lines) < _FEWEST_LINES or _agreement(lines) >= _LEAST_AGREEMENT:
        return False
    flow = _flow(sorted(lines, key=lambda line: line.order))
    return flow >= max(_LEAST_FLOW, _flow(lines) + _LEAST_GAIN)


def as_written(lines: Sequence[Line], tables: Sequence[Table], written: Sequence[Line]) -> list[Column]:
    """Return the columns of a page in the order of its content; each ends where a line does not go on below.

    Args:
        lines: Lines outside of tables.
        tables: Tables with drawn lines.
        written: All lines of the page, including those of tables.
    """
    pieces: list[tuple[int, Line | Table]] = [(line.order, line) for line in lines]
    pieces += [(_order(table, written), table) for table in tables]
    parts: list[list[Line | Table]] = []
    for _, piece in sorted(pieces, key=lambda one: one[0]):
        if parts and _goes_on(parts[-1], piece):
            parts[-1].append(piece)
        else:
            parts.append([piece])
    return [
        Column(min(piece.left for piece in part), max(piece.right for piece in part), tuple(part)) for part in parts
    ]


def _order(table: Table, written: Sequence[Line]) -> int:
    inside = (
        line.order
        for line in written
        if table.left - 1 <= line.left <= table.right and table.top - 1 <= line.top <= table.bottom
    )
    return min(inside, default=0)


def _goes_on(part: Sequence[Line | Table], piece: Line | Table) -> bool:
    """Tell whether a line or table is beside the last one or below all, within the width of the part."""
    last = part[-1]
    beside = min(last.bottom, piece.bottom) - max(last.top, piece.top) > 0.5 * min(
        last.bottom - last.top, piece.bottom - piece.top
    )
    if beside:
        return piece.left >= last.left
    overlaps = piece.left < max(one.right for one in part) and piece.right > min(one.left for one in part)
    return overlaps and piece.top >= max(one.top for one in part[-_BACK:])


def _agreement(lines: Sequence[Line]) -> float:
    """Return the largest share of the lines whose order is that of the content."""
    ends: list[int] = []
    for line in lines:
        place = bisect_left(ends, line.order)
        ends[place : place + 1] = [line.order]
    return len(ends) / len(lines)


def _flow(lines: Sequence[Line]) -> float:
    """Return the share of lines that follow the line before."""
    return sum(follows(before, line) for before, line in pairwise(lines)) / (len(lines) - 1)


def follows(before: Line, line: Line) -> bool:
    """Tell whether a line goes on beside or directly below another."""
    size = max(before.size, line.size)
    shared = min(before.bottom, line.bottom) - max(before.top, line.top)
    if shared > 0.5 * min(before.height, line.height):
        return -0.5 * size < line.left - before.right < _WIDEST_GAP * size
    below = 0 < line.top - before.top < _FARTHEST_LINE * max(before.height, line.height)
    return below and line.left < before.right and line.right > before.left

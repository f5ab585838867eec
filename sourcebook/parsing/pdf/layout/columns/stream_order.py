"""Reading order as the page's content has it, for pages that cannot be cut into columns with certainty.

Most programs write the text of a page in its reading order. Where the order by position disagrees and more of its lines
do not follow one another, the order of the content is taken.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from sourcebook.parsing.pdf.layout.columns.columns import Column
from sourcebook.parsing.pdf.layout.elements import Table
from sourcebook.parsing.pdf.layout.grouping import grouped
from sourcebook.parsing.pdf.layout.measures import are_beside, around
from sourcebook.parsing.pdf.layout.page_parts import Line

_LEAST_AGREEMENT = 0.8
"""Share of the lines in the order of the content at which the order by position is kept [library]."""
_LEAST_GAIN = 0.05
"""Share of lines more that follow one another in the order of the content than in that by position [library]."""
_LEAST_FLOW = 0.6
"""Share of lines that follow one another at which the order of the content is a reading order [library]."""
_WIDEST_GAP = 2.0
"""Largest distance of two runs on one line that follow one another, in font sizes [library]."""
_FARTHEST_LINE = 2.5
"""Largest distance from the top of a line to the top of the next, in heights of the line [library]."""
_BACK = 12
"""Lines above which the next line may not begin, counted back from it [library]."""
_FEWEST_ACROSS = 24
"""Fewest lines of a page of columns that are taken for a table [further]."""
_LEAST_WIDTH = 0.25
"""Mean width of whole lines of columns of text, as a share of the page's text; cells are narrower [further]."""
_FEWEST_TORN = 6
"""Lines beside each other that are not written one after the other, from which columns are mixed [0079]."""
_LEAST_BROKEN = 0.05
"""Share of lines that position breaks, such as justified ones with wide spaces above each other [0079]."""
_MOST_AGREEMENT = 0.95
"""Share of the lines in the order of the content at which such a page is read by position [0079]."""
_NEARLY_ALL = 0.9
"""Share of whole lines of such a page that go on below the one before in the order of the content [0079]."""
_LEAST_HANGING = 0.12
"""Mean width where lines hang below others, as in an index [0079]."""
_WIDEST_IN_COLUMN = 0.4
"""Largest white space within a line of a column (a version, its date), as a share of the page's text [0079]."""
_MOST_WORDS = 0.6
"""Share of lines with words in columns of such lines [0079]."""
_FEWEST_INDENTS = 0.2
"""Share of lines that begin further left or right than the line above them [0079]."""
_LEAST_INDENT = 0.8
"""Smallest indent, in font sizes [0079]."""
_LEAST_USUAL = 0.7
"""Share of these indents that are of one width [0079]."""
_MOST_WRITTEN = 0.8
"""Share of whole lines that go on below the one before, in the order of the content, for columns of text [further]."""
_MOST_CROSSED = 0.5
"""Share of these that the order by position may have [further]."""
_DISPLAY = 1.6
"""Ratio of the font sizes of two texts beside each other that are no line of one text, as on covers."""
_FEWEST_DISPLAYED = 2
"""Lines with such texts from which a page is read in the order of its content."""
_FEWEST_LINES = 6
"""Fewest lines of a page whose order is compared [library]."""


def reads_better_as_written(lines: Sequence[Line]) -> bool:
    """Tell whether a page should be read in the order of its content.

    Args:
        lines: lines of the page in the order by position, without those of tables.
    """
    if len(lines) < _FEWEST_LINES or (agreement := _agreement(lines)) >= _MOST_AGREEMENT:
        return False
    if agreement >= _LEAST_AGREEMENT and _broken_lines(lines) < max(_FEWEST_TORN, _LEAST_BROKEN * len(lines)):
        return False
    flow = _flow(sorted(lines, key=lambda line: line.order))
    return flow >= max(_LEAST_FLOW, _flow(lines) + _LEAST_GAIN)


def reads_across_columns(lines: Sequence[Line]) -> bool:
    """Tell whether the order by position reads across columns of text, such as an index, as if they were a table.

    The columns are written one after the other, and their lines are wide; cells of a table are narrow.

    Args:
        lines: lines of the page in the order by position, with those of tables that are found by their alignment.
    """
    if len(lines) < _FEWEST_ACROSS or (agreement := _agreement(lines)) >= _MOST_AGREEMENT:
        return False
    torn = _torn_rows(lines)
    is_torn = len(torn) >= _FEWEST_TORN
    if agreement >= _LEAST_AGREEMENT and not is_torn:
        return False
    left, _, right, _ = around(lines)
    width = right - left
    parts = _whole_lines(sorted(lines, key=lambda line: line.order), widest=_WIDEST_IN_COLUMN * width)
    # Text beside the columns may be wide; cells are not.
    doubtful = _beside_any(parts, torn) or parts
    least = _LEAST_HANGING if _hangs(parts) else _LEAST_WIDTH
    if sum(part.width for part in doubtful) < least * width * len(doubtful):
        return False
    going_on = sum(_is_below(before, part) for before, part in pairwise(parts))
    if is_torn and going_on >= _NEARLY_ALL * (len(parts) - 1):
        return True
    crossing = sum(_is_below(before, part) for before, part in pairwise(_whole_lines(lines)))
    written = going_on >= _MOST_WRITTEN * (len(parts) - 1) and crossing <= _MOST_CROSSED * going_on
    return written and agreement < _LEAST_AGREEMENT


def reads_across_display(lines: Sequence[Line]) -> bool:
    """Tell whether the order by position reads across large words and the small text beside them, as covers have.

    Args:
        lines: lines of the page in the order by position, without those of tables.
    """
    written = sorted(lines, key=lambda line: line.order)
    ranks = {id(line): rank for rank, line in enumerate(written)}
    across = sum(
        max(before.size, line.size) > _DISPLAY * min(before.size, line.size)
        and (line.left > before.right or line.right < before.left)
        and are_beside(before, line)
        and abs(ranks[id(line)] - ranks[id(before)]) > 1
        for before, line in pairwise(lines)
    )
    return across >= _FEWEST_DISPLAYED and _flow(written) >= _flow(lines)


def _broken_lines(lines: Sequence[Line]) -> int:
    """Return the number of runs that go on beside the run before in the content, and do not follow it by position."""
    places = {id(line): place for place, line in enumerate(lines)}
    written = sorted(lines, key=lambda line: line.order)
    return sum(
        places[id(line)] != places[id(before)] + 1 and are_beside(before, line) and follows(before, line)
        for before, line in pairwise(written)
    )


def _torn_rows(lines: Sequence[Line]) -> list[Line]:
    """Return the lines that do not follow the line beside them in the order of the content."""
    written = sorted(range(len(lines)), key=lambda place: lines[place].order)
    ranks = {place: rank for rank, place in enumerate(written)}
    return [
        line
        for place, (before, line) in enumerate(pairwise(lines))
        if ranks[place + 1] != ranks[place] + 1 and line.left > before.right - 1 and are_beside(before, line)
    ]


def _beside_any(parts: Sequence[Line], lines: Sequence[Line]) -> list[Line]:
    """Return the parts beside which one of the lines is; only lines that reach the height of a part are looked at."""
    from_top = sorted(lines, key=lambda line: line.top)
    tops = [line.top for line in from_top]
    tallest = max([line.height for line in lines], default=0.0)
    return [
        part
        for part in parts
        if any(
            are_beside(part, line)
            for line in from_top[bisect_left(tops, part.top - tallest) : bisect_left(tops, part.bottom)]
        )
    ]


def _hangs(parts: Sequence[Line]) -> bool:
    """Tell whether lines have the indents of entries and what is below them, as those of an index; cells have none."""
    words = sum(any(map(str.isalpha, part.text)) for part in parts)
    steps = [
        round(abs(part.left - before.left))
        for before, part in pairwise(parts)
        if _is_below(before, part) and _is_indented(before, part)
    ]
    if words < _MOST_WORDS * len(parts) or len(steps) < _FEWEST_INDENTS * len(parts):
        return False
    usual = Counter(steps).most_common(1)[0][0]
    return sum(abs(step - usual) <= 1 for step in steps) >= _LEAST_USUAL * len(steps)


def _is_indented(before: Line, line: Line) -> bool:
    """Tell whether lines below one another differ in their left edge, and are neither centred nor flush right."""
    size = max(before.size, line.size)
    left, right = line.left - before.left, line.right - before.right
    return abs(left) >= _LEAST_INDENT * size and abs(right) > 1 and abs(left + right) > 2


def _whole_lines(lines: Sequence[Line], *, widest: float = 0.0) -> list[Line]:
    """Return the lines, those that follow one another beside each other as one.

    Args:
        lines: lines in any order.
        widest: largest white space within a line, in points, where it is more than that of text.
    """
    parts: list[Line] = []
    for line in lines:
        beside = bool(parts) and are_beside(parts[-1], line)
        if beside and (follows(parts[-1], line) or 0 <= line.left - parts[-1].right < widest):
            last = parts[-1]
            parts[-1] = replace(
                last, right=line.right, top=min(last.top, line.top), bottom=max(last.bottom, line.bottom)
            )
        else:
            parts.append(line)
    return parts


def _is_below(before: Line, line: Line) -> bool:
    return not are_beside(before, line) and follows(before, line)


def as_written(lines: Sequence[Line], tables: Sequence[Table], written: Sequence[Line]) -> list[Column]:
    """Return the columns of a page in the order of its content; each ends where a line does not go on below.

    Args:
        lines: lines outside of tables.
        tables: tables with drawn lines.
        written: all lines of the page, including those of tables.
    """
    pieces: list[tuple[int, Line | Table]] = [(line.order, line) for line in lines]
    pieces += [(_order(table, written), table) for table in tables]
    in_order = (piece for _, piece in sorted(pieces, key=lambda one: one[0]))
    return [Column.of(part) for part in grouped(in_order, _goes_on)]


def _order(table: Table, written: Sequence[Line]) -> int:
    inside = (
        line.order
        for line in written
        if table.left - 1 <= line.left <= table.right and table.top - 1 <= line.top <= table.bottom
    )
    return min(inside, default=0)


def _goes_on(part: Sequence[Line | Table], piece: Line | Table) -> bool:
    """Tell whether a line or table is beside the last one or below all, within the width of the part."""
    if are_beside(part[-1], piece):
        return piece.left >= part[-1].left
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
    if are_beside(before, line):
        return -0.5 * size < line.left - before.right < _WIDEST_GAP * size
    below = 0 < line.top - before.top < _FARTHEST_LINE * max(before.height, line.height)
    return below and line.left < before.right and line.right > before.left

"""Put the lines of a page into the order a person reads them: rows from the top, columns one after the other."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import median

from sourcebook.parsing.pdf_lines import Line

_FEWEST_COLUMN_LINES = 5
_PROSE_SHARE = 0.5
"""A column is prose where its lines fill at least this share of its width; the columns of tables do not."""


def reading_order(lines: Sequence[Line]) -> list[Line]:
    """Return lines in reading order; neighbours on one row of a table are joined into one line."""
    ordered = sorted(lines, key=lambda line: (line.top, line.left))
    gutter = _gutter(ordered)
    if gutter is None:
        return list(_rows(ordered))
    result: list[Line] = []
    # Lines that cross the gutter (titles, footers) part the page into bands; each band is read column by column.
    for crosses, band in groupby(ordered, key=lambda line: line.left < gutter < line.right):
        members = list(band)
        if crosses:
            result.extend(_rows(members))
        else:
            result.extend(reading_order([line for line in members if line.right <= gutter]))
            result.extend(reading_order([line for line in members if line.left >= gutter]))
    return result


def _gutter(lines: Sequence[Line]) -> float | None:
    """Return the place between two columns of prose, None where there is one column."""
    if len(lines) < 2 * _FEWEST_COLUMN_LINES:
        return None
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    candidates = sorted({round(line.left) - 2 for line in lines if left + 40 < line.left < right - 40})
    best: tuple[int, float] | None = None
    for candidate in candidates:
        crossing = sum(line.left < candidate < line.right for line in lines)
        if best is not None and crossing >= best[0]:
            continue
        before = [line for line in lines if line.right <= candidate]
        after = [line for line in lines if line.left >= candidate]
        if crossing * 4 < len(lines) and _is_column(before) and _is_column(after) and _side_by_side(before, after):
            best = (crossing, float(candidate))
    return None if best is None else best[1]


def _is_column(lines: Sequence[Line]) -> bool:
    if len(lines) < _FEWEST_COLUMN_LINES:
        return False
    width = max(line.right for line in lines) - min(line.left for line in lines)
    return width > 60 and median(line.width for line in lines) >= _PROSE_SHARE * width


def _side_by_side(before: Sequence[Line], after: Sequence[Line]) -> bool:
    """Whether two columns stand beside rather than below each other."""
    top = max(before[0].top, after[0].top)
    bottom = min(max(line.bottom for line in before), max(line.bottom for line in after))
    return bottom - top > 3 * median(line.height for line in before)


def _rows(lines: Sequence[Line]) -> Iterator[Line]:
    """Join what stands on one row, from left to right."""
    row: list[Line] = []
    for line in lines:
        if row and not _same_row(row[0], line):
            yield _joined(row)
            row = []
        row.append(line)
    if row:
        yield _joined(row)


def _same_row(first: Line, other: Line) -> bool:
    shared = min(first.bottom, other.bottom) - max(first.top, other.top)
    return shared > 0.5 * min(first.height, other.height)


def _joined(row: Sequence[Line]) -> Line:
    if len(row) == 1:
        return row[0]
    row = sorted(row, key=lambda line: line.left)
    return Line(
        text=" ".join(line.text for line in row),
        left=row[0].left,
        right=max(line.right for line in row),
        top=min(line.top for line in row),
        bottom=max(line.bottom for line in row),
        size=min(line.size for line in row),
        bold=all(line.bold for line in row),
        monospaced=all(line.monospaced for line in row),
    )

"""Tables on a sheet: groups of adjacent cells, each in its bounding rectangle."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from sourcebook.parsing.text.tables_in_rows import Table, is_header, starts_table, table_of, table_start

Position = tuple[int, int]
"""Row and column of a cell, counted from 1."""

_SPARSE = 20
"""Cells per filled cell above which a rectangle is no table; it might be as large as the sheet."""
_SMALL = 1000
"""Cells up to which a sparse rectangle is still a table."""
_HIDDEN = " (hidden)"
_MOST_LABELS = 20
"""Rows among which the header is looked for."""


@dataclass(slots=True)
class SheetCells:
    """The cells of a sheet, as a person sees them."""

    texts: dict[Position, str] = field(default_factory=dict)
    """Text of each filled cell; a merged cell has its text at every position it covers."""
    merged: dict[Position, Position] = field(default_factory=dict)
    """Upper left corner of the merged cell at each position that one covers."""
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    hidden_words: int = 0
    """Words of cells whose number format shows nothing."""


def find_tables(cells: SheetCells) -> Iterator[Table]:
    """Yield the tables of a sheet in the order of their first cells, row by row, in linear time.

    The first text of a hidden row, and the header of a hidden column, are marked.
    """
    written: set[Position] = set()
    seen: set[Position] = set()
    for start in sorted(cells.texts):
        if start in seen or start in written:
            continue
        touching = _touching(start, cells.texts, seen)
        top, bottom, left, right = _bounds(touching)
        near = top, right + 2
        if near in cells.texts and near not in written and (beside := _column_beside(touching, cells.texts, seen)):
            touching |= beside
            right = max(column for _, column in beside)
        area = (bottom - top + 1) * (right - left + 1)
        if area > _SPARSE * len(touching) + _SMALL:
            labels = _lines(touching - written, cells)
            written |= touching
            if labels:
                yield Table(labels, [])
            continue
        # Cells of the rectangle that are not adjacent to the others belong to the table, too.
        span = range(left, right + 1)
        numbers = [*range(top, bottom + 1)]
        while band := _band_below(cells, numbers[-1], span):
            numbers += band
        rows_of_text = {number: row for number in numbers if (row := _row(cells, number, span, written))}
        if rows_of_text:
            _join_headers(cells, rows_of_text, span)
            yield table_of(_marked(cells, [*rows_of_text.values()], left))


def _touching(start: Position, texts: Mapping[Position, str], seen: set[Position]) -> set[Position]:
    found = {start}
    waiting = [start]
    while waiting:
        row, column = waiting.pop()
        for near in ((row, column + 1), (row + 1, column), (row, column - 1), (row - 1, column)):
            if near in texts and near not in found:
                found.add(near)
                waiting.append(near)
    seen |= found
    return found


def _bounds(places: set[Position]) -> tuple[int, int, int, int]:
    """Return the first and the last row, and the first and the last column."""
    rows, columns = {row for row, _ in places}, {column for _, column in places}
    return min(rows), max(rows), min(columns), max(columns)


def _column_beside(touching: set[Position], texts: Mapping[Position, str], seen: set[Position]) -> set[Position]:
    """Return the cells beyond an empty column that has the same rows, where either side of it is a single column."""
    top, bottom, left, right = _bounds(touching)
    if top == bottom or (top, right + 2) in seen:
        return set()
    beside = _touching((top, right + 2), texts, set())
    first_row, last_row, first, last = _bounds(beside)
    is_part = (first_row, last_row) == (top, bottom) and (left == right or first == last)
    if not is_part or not seen.isdisjoint(beside):
        return set()
    seen |= beside
    return beside


def _lines(places: set[Position], cells: SheetCells) -> list[str]:
    lines: dict[int, list[str]] = {}
    for place in sorted(places):
        if cells.merged.get(place, place) == place:
            lines.setdefault(place[0], []).append(cells.texts[place])
    return ["; ".join(texts) for texts in lines.values()]


def _band_below(cells: SheetCells, bottom: int, span: range) -> range | None:
    """Return the rows below a blank one that go on with the table above it: no header, and nothing beside them."""
    beyond = range(span.start - 1, span.stop + 1)
    if len(span) < 2 or any((bottom + 1, column) in cells.texts for column in beyond):
        return None
    band: list[list[str]] = []
    while any(row := [cells.texts.get((bottom + 2 + len(band), column), "") for column in beyond]):
        if row[0] or row[-1]:
            return None
        band.append(row[1:-1])
    is_lines = all(sum(map(bool, row)) < 2 for row in band)
    return None if is_lines or starts_table(band) else range(bottom + 2, bottom + 2 + len(band))


def _row(cells: SheetCells, number: int, span: range, written: set[Position]) -> list[str]:
    """Return the texts of a row that no other table has; nothing for the rest of a cell merged over several rows."""
    line = [(number, column) for column in span]
    filled = [place for place in line if place in cells.texts and place not in written]
    written.update(filled)
    origins = {cells.merged.get(place, place) for place in filled} if cells.merged else filled
    if not any(cells.texts[place] for place in filled) or (len(origins) == 1 and min(origins)[0] < number):
        return []
    if len(filled) == len(line) and len(origins) > 1:
        row = [cells.texts[place] for place in line]
    else:
        shown = set(origins if len(origins) == 1 else filled)
        row = [cells.texts[place] if place in shown else "" for place in line]
    if number in cells.hidden_rows:
        first = next(column for column, text in enumerate(row) if text)
        row[first] += _HIDDEN
    return row


def _join_headers(cells: SheetCells, rows: dict[int, list[str]], span: range) -> None:
    """Write a header with cells merged over columns, and the one below it, as one: "First quarter - Plan"."""
    for (upper, above), (lower, below) in pairwise([*rows.items()][:_MOST_LABELS]):
        if sum(map(bool, above)) > 1:
            if _spans(cells, upper, span) and not _spans(cells, lower, span) and is_header(above) and is_header(below):
                parts = (filter(None, texts) for texts in zip(above, below, strict=True))
                rows[lower][:] = [" - ".join(dict.fromkeys(texts)) for texts in parts]
                del rows[upper]
            return


def _spans(cells: SheetCells, row: int, span: range) -> bool:
    """Tell whether a cell that begins in a row is merged over columns."""
    corners = [cells.merged.get((row, column), (0, 0)) for column in span]
    return any(one == other and one[0] == row for one, other in pairwise(corners))


def _marked(cells: SheetCells, rows: list[list[str]], left: int) -> list[list[str]]:
    """Return the rows with a mark in the header of each hidden column."""
    header = rows[table_start(rows)[0]] if cells.hidden_columns else []
    for column, text in enumerate(header):
        if left + column in cells.hidden_columns:
            header[column] = (text + _HIDDEN).strip()
    return rows

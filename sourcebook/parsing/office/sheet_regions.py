"""Tables on a sheet: groups of adjacent cells, each in its bounding rectangle."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Position = tuple[int, int]
"""Row and column of a cell, counted from 1."""

_SPARSE = 20
"""Cells per filled cell above which a rectangle is no table; it might be as large as the sheet."""
_SMALL = 1000
"""Cells up to which a sparse rectangle is still a table."""
_NUMBER = re.compile(r"[-+(]?[\d.,€$£¥]")


@dataclass(frozen=True, slots=True)
class Region:
    """A table on a sheet and the lines above it."""

    labels: list[str]
    """Lines above the table."""
    rows: list[list[str]]
    """Rows of the table, its header first; empty where there are only labels."""


def find_regions(cells: Mapping[Position, str], merged: Mapping[Position, Position]) -> Iterator[Region]:
    """Yield the regions of a sheet in the order of their first cells, row by row, in linear time.

    Args:
        cells: the text of each filled cell; a merged cell has its text at every position it covers.
        merged: the upper left corner of the merged cell at each position that one covers.
    """
    written: set[Position] = set()
    seen: set[Position] = set()
    for start in sorted(cells):
        if start in seen:
            continue
        touching = _touching(start, cells, seen)
        rows = {row for row, _ in touching}
        columns = {column for _, column in touching}
        top, bottom, left, right = min(rows), max(rows), min(columns), max(columns)
        area = (bottom - top + 1) * (right - left + 1)
        if area > _SPARSE * len(touching) + _SMALL:
            labels = _lines(touching - written, cells, merged)
            written |= touching
            if labels:
                yield Region(labels, [])
            continue
        # Cells of the rectangle that are not adjacent to the others belong to the table, too.
        grid = [
            [(row, column) if (row, column) not in written else None for column in range(left, right + 1)]
            for row in range(top, bottom + 1)
        ]
        region = _region(grid, cells, merged)
        inside = {place for line in grid for place in line if place is not None and place in cells}
        written |= inside
        seen |= inside
        if region.labels or region.rows:
            yield region


def _touching(start: Position, cells: Mapping[Position, str], seen: set[Position]) -> set[Position]:
    found = {start}
    waiting = [start]
    while waiting:
        row, column = waiting.pop()
        for near in ((row, column + 1), (row + 1, column), (row, column - 1), (row - 1, column)):
            if near in cells and near not in found:
                found.add(near)
                waiting.append(near)
    seen |= found
    return found


def _lines(places: set[Position], cells: Mapping[Position, str], merged: Mapping[Position, Position]) -> list[str]:
    lines: dict[int, list[str]] = {}
    for place in sorted(places):
        if merged.get(place, place) == place:
            lines.setdefault(place[0], []).append(cells[place])
    return ["; ".join(texts) for texts in lines.values()]


def _region(
    grid: list[list[Position | None]], cells: Mapping[Position, str], merged: Mapping[Position, Position]
) -> Region:
    rows: list[list[str]] = []
    for line in grid:
        filled = [place for place in line if place is not None and place in cells]
        origins = {merged.get(place, place) for place in filled}
        if not any(cells[place] for place in filled) or (len(origins) == 1 and min(origins)[0] < filled[0][0]):
            continue  # an empty row, or the rest of a cell merged over several rows
        if len(origins) == 1:
            only = min(origins)
            rows.append([cells[only] if place == only else "" for place in line])
        else:
            rows.append([cells.get(place, "") if place is not None else "" for place in line])
    labels: list[str] = []
    while len(rows) > 1 and _is_label(rows[0]) and any(_is_header(row) for row in rows[1:3]):
        labels.append(rows.pop(0)[0])
    if len(rows) == 1 and len(rows[0]) == 1:
        labels.append(rows.pop()[0])
    return Region(labels, rows)


def _is_label(row: list[str]) -> bool:
    return bool(row[0]) and not any(row[1:])


def _is_header(row: list[str]) -> bool:
    """Tell whether a row holds several texts and no number."""
    texts = [text for text in row if text]
    return len(texts) > 1 and not any(_NUMBER.match(text) for text in texts)

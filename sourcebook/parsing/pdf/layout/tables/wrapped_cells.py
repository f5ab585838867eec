"""Rows of tables without drawn lines whose cells have several lines: the white space between the rows parts them."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from sourcebook.parsing.pdf.layout.elements import Row
from sourcebook.parsing.pdf.layout.page_parts import Line

NUMBER = re.compile(r"[(\-–+]?[€$£]?\d[\d.,\s]*[%)]?")
"""Number in a cell, with its sign and currency."""
_WIDER = 0.25
"""Smallest difference between the white space around a row of the table and that within it, in font sizes [0080]."""
_FEWEST_ROWS = 2
"""Fewest rows of a table, its header among them [0080]."""
_PROSE = 30
"""Fewest characters of a full line that is no name or number, as all cells of a column may be as wide [0080]."""
_LEAST_FULL = 0.5
"""Share of the further lines that come behind a full one [0080]."""

Parts = Mapping[int, Sequence[Line]]
"""Runs of a row by column."""


def further_lines(rows: Sequence[Row], parts: Sequence[Parts]) -> frozenset[int]:
    """Return the indices of the rows that are further lines of the cells above; none where that cannot be told.

    Further lines are close to the line above. One line of a row has all its cells: the first, the middle or the last,
    as the cells are set. The others have fewer cells, and none that is a number, or all their cells are behind full
    lines: rows in groups have all of theirs. Most further lines come behind a full one.

    Args:
        rows: rows of text, from the top.
        parts: runs of each of them by column.
    """
    groups = _close_together(rows)
    further = [index for group in groups for index in group[1:]]
    if not further or len(groups) < _FEWEST_ROWS:
        return frozenset()
    rights: dict[int, float] = {}
    for part in parts:
        for column, runs in part.items():
            rights[column] = max(rights.get(column, 0.0), *(run.right for run in runs))
    full = 0
    for group in groups:
        whole = max(group, key=lambda index: len(parts[index]))
        last: dict[int, Line] = {}
        for index in group:
            part = parts[index]
            cut = [column in last and _is_full(last[column], runs[0], rights[column]) for column, runs in part.items()]
            full += any(cut)
            shorter = part.keys() < parts[whole].keys()
            prose = shorter or any(len(last[column].text) >= _PROSE for column in part if column in last)
            if index != whole and not _is_part(part, parts[whole]) and not (all(cut) and prose):
                return frozenset()
            if index < whole and part.keys() == {0}:
                return frozenset()  # a term above another one with the same meaning, or the label of a group
            last |= {column: runs[-1] for column, runs in part.items()}
    return frozenset(further) if full >= _LEAST_FULL * len(further) else frozenset()


def _close_together(rows: Sequence[Row]) -> list[list[int]]:
    """Return the indices of rows in groups, with more white space between these than within them."""
    spaces = [after.line.top - before.line.bottom for before, after in pairwise(rows)]
    most = min(spaces, default=0.0) + _WIDER * min((row.line.size for row in rows), default=0.0)
    groups = [[0]] if rows else []
    for index, space in enumerate(spaces, start=1):
        if space <= most:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def _is_part(part: Parts, whole: Parts) -> bool:
    """Tell whether a line has fewer cells than the whole row, and no number."""
    return part.keys() < whole.keys() and not any(NUMBER.fullmatch(runs[0].text) for runs in part.values())


def _is_full(above: Line, below: Line, right: float) -> bool:
    """Tell whether the first word of a line did not fit behind the line above it in the same column."""
    if above.bold != below.bold or (NUMBER.fullmatch(above.text) and NUMBER.fullmatch(below.text)):
        return False
    word = below.text.split(" ", 1)[0]
    return above.right + below.letter_width * (len(word) + 1) > right

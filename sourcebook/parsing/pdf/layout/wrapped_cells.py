"""Rows of tables without drawn lines whose cells have several lines: the white space between the rows parts them."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from sourcebook.parsing.pdf.layout.elements import Row
from sourcebook.parsing.pdf.layout.page_parts import Line

NUMBER = re.compile(r"[(\-–+]?[€$£]?\d[\d.,\s]*[%)]?")
"""Number in a cell, with its sign and currency."""
_WIDER = 0.25
"""Smallest difference between the white space around a row of the table and that within it, in font sizes."""
_LEAST_FULL = 0.5
"""Share of the further lines that come behind a full one."""

Parts = Mapping[int, Sequence[Line]]
"""Runs of a row by column."""


def further_lines(rows: Sequence[Row], parts: Sequence[Parts]) -> frozenset[int]:
    """Return the indices of the rows that are further lines of the cells above; none where that cannot be told.

    Further lines are close to the line above. Each has fewer cells than the first line, and none that is a number: rows
    in groups have all of theirs. Most come behind a line that is full.

    Args:
        rows: Rows of text, from the top.
        parts: Runs of each of them by column.
    """
    spaces = [after.line.top - before.line.bottom for before, after in pairwise(rows)]
    if not spaces:
        return frozenset()
    most = min(spaces) + _WIDER * min(row.line.size for row in rows)
    further = [index for index in range(1, len(rows)) if spaces[index - 1] <= most]
    if not further or len(rows) - len(further) < 2:
        return frozenset()
    rights: dict[int, float] = {}
    for part in parts:
        for column, runs in part.items():
            rights[column] = max(rights.get(column, 0.0), *(run.right for run in runs))
    full, first, last = 0, 0, dict[int, Line]()
    close = frozenset(further)
    for index, part in enumerate(parts):
        if index not in close:
            first, last = index, {}
        elif not part.keys() < parts[first].keys() or any(NUMBER.fullmatch(runs[0].text) for runs in part.values()):
            return frozenset()
        else:
            full += any(_is_full(last[column], runs[0], rights[column]) for column, runs in part.items())
        last |= {column: runs[-1] for column, runs in part.items()}
    return close if full >= _LEAST_FULL * len(further) else frozenset()


def _is_full(above: Line, below: Line, right: float) -> bool:
    """Tell whether the first word of a line did not fit behind the line above it in the same column."""
    word = below.text.split(" ", 1)[0]
    return above.right + below.width / max(1, len(below.text)) * (len(word) + 1) > right

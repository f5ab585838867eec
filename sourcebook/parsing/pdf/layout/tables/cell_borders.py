"""Columns of tables that have lines between their rows alone: each cell's line is drawn by itself.

Word processors and browsers draw borders so.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from sourcebook.parsing.pdf.layout.grouping import grouped
from sourcebook.parsing.pdf.layout.page_parts import Line, Rule

_LEVEL = 1.0
"""Difference of heights in points up to which lines are on one level [0080]."""
_TOUCH = 1.5
"""Distance in points up to which ends of lines touch, and edges of cells are one [0080]."""
_LOWEST = 6.0
"""Smallest height of a row, in points [0080]."""
_ACROSS = 2.0
"""Distance in points by which a text must reach beyond an edge on both sides to cross it [0080]."""


def column_edges(rules: Sequence[Rule], lines: Sequence[Line]) -> list[Rule]:
    """Return an upright line for each edge of a cell that both the line above it and the one below it have.

    Args:
        rules: lines of the page from left to right.
        lines: texts of the page; an edge that one of them crosses parts no cells.
    """
    from_top = sorted(rules, key=lambda rule: rule.top)
    levels = grouped(from_top, lambda level, rule: rule.top - level[0].top <= _LEVEL)
    edged = [(at, edges) for at, edges in map(_edges, levels) if edges]
    middles = sorted((line.middle, line.left, line.right) for line in lines if edged)
    found: list[Rule] = []
    for (top, upper), (bottom, lower) in pairwise(edged):
        if bottom - top < _LOWEST:
            continue
        shared = [(x, inner) for x, inner in upper.items() if any(abs(x - other) <= _TOUCH for other in lower)]
        if not any(inner for _, inner in shared):
            continue  # two tables below each other
        between = middles[bisect_left(middles, (top, 0.0, 0.0)) : bisect_left(middles, (bottom, 0.0, 0.0))]
        found += [
            Rule(x, top, x, bottom)
            for x, _ in shared
            if not any(left < x - _ACROSS and right > x + _ACROSS for _, left, right in between)
        ]
    return found


def _edges(level: Sequence[Rule]) -> tuple[float, dict[float, bool]]:
    """Return the height of the lines of one level, and where they end, each with whether another begins there."""
    edges: dict[float, bool] = {}
    reached: float | None = None
    for rule in sorted(level, key=lambda rule: (rule.left, rule.right)):
        if reached is not None and abs(rule.left - reached) <= _TOUCH:
            edges[reached] = True
        elif reached is None or rule.left > reached:
            edges.setdefault(rule.left, False)
        if reached is None or rule.right > reached:
            reached = rule.right
            edges.setdefault(reached, False)
    return (level[0].top + level[0].bottom) / 2, edges if any(edges.values()) else {}

"""Grids of drawn lines; lengths in points."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sourcebook.parsing.pdf.layout.grouping import grouped
from sourcebook.parsing.pdf.layout.measures import NEAR
from sourcebook.parsing.pdf.layout.page_parts import Line, Rule
from sourcebook.parsing.pdf.layout.tables.cell_borders import column_edges

_COVERED = 0.6
"""Smallest drawn share of a cell's side that separates it from its neighbour [first]."""
_SMALLEST = 6.0
"""Smallest width and height of a cell, in points [first]."""
_MOST_CELLS = 20_000
"""Cells of a grid above which it is a drawing [first]."""


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell between drawn lines, which may span several rows and columns."""

    row: int
    column: int
    row_span: int
    column_span: int


@dataclass(frozen=True, slots=True)
class Grid:
    """Crossing lines; `xs` and `ys` are the positions of the vertical and the horizontal lines."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: tuple[GridCell, ...]
    inferred: bool = False
    """Whether its columns are known by the ends of the lines between its rows."""


@dataclass(slots=True)
class _Stroke:
    """A horizontal line at y = `at`, or a vertical line at x = `at`."""

    at: float
    start: float
    end: float


def grids(rules: Sequence[Rule], lines: Sequence[Line] = ()) -> list[Grid]:
    """Return the grids with at least two rows and two columns, from the top.

    Args:
        rules: drawn lines of a page.
        lines: texts of the page.
    """
    level = [rule for rule in rules if rule.width > rule.height]
    upright = [rule for rule in rules if rule.width <= rule.height]
    found = _drawn_grids(level, upright)
    if edges := column_edges(level, lines):
        further = (replace(grid, inferred=True) for grid in _drawn_grids(level, [*upright, *edges]))
        found += [grid for grid in further if not any(_overlap(grid, other) for other in found)]
    return sorted(found, key=lambda grid: (grid.ys[0], grid.xs[0]))


def _overlap(grid: Grid, other: Grid) -> bool:
    across = grid.xs[0] < other.xs[-1] and other.xs[0] < grid.xs[-1]
    return across and grid.ys[0] < other.ys[-1] and other.ys[0] < grid.ys[-1]


def _drawn_grids(level: Sequence[Rule], upright: Sequence[Rule]) -> list[Grid]:
    across = _strokes([_Stroke(rule.middle, rule.left, rule.right) for rule in level])
    down = _strokes([_Stroke(rule.centre, rule.top, rule.bottom) for rule in upright])
    return [grid for group in _touching(across, down) if (grid := _grid(*group)) is not None]


def _strokes(strokes: list[_Stroke]) -> list[_Stroke]:
    """Join strokes that continue each other, such as the borders of single cells."""
    strokes.sort(key=lambda stroke: (stroke.at, stroke.start))
    joined: list[_Stroke] = []
    for near in grouped(strokes, lambda line, stroke: stroke.at - line[0].at <= NEAR / 2):
        line = sorted((_Stroke(near[0].at, stroke.start, stroke.end) for stroke in near), key=lambda one: one.start)
        current = line[0]
        for stroke in line[1:]:
            if stroke.start <= current.end + NEAR:
                current.end = max(current.end, stroke.end)
            else:
                joined.append(current)
                current = stroke
        joined.append(current)
    return joined


def _touching(across: list[_Stroke], down: list[_Stroke]) -> Iterator[tuple[list[_Stroke], list[_Stroke]]]:
    """Yield the horizontal and vertical strokes of each connected drawing."""
    parent = list(range(len(across) + len(down)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for number, stroke in enumerate(down, start=len(across)):
        for other, crossed in enumerate(across):
            if (
                stroke.start - NEAR <= crossed.at <= stroke.end + NEAR
                and crossed.start - NEAR <= stroke.at <= crossed.end + NEAR
            ):
                parent[root(number)] = root(other)
    groups: dict[int, tuple[list[_Stroke], list[_Stroke]]] = {}
    for index in range(len(parent)):
        group = groups.setdefault(root(index), ([], []))
        if index < len(across):
            group[0].append(across[index])
        else:
            group[1].append(down[index - len(across)])
    yield from groups.values()


def _grid(across: list[_Stroke], down: list[_Stroke]) -> Grid | None:
    if len(across) < 2 or not down:
        return None
    # Tables are often open at their sides; the ends of the crossing lines close them.
    xs = _places([stroke.at for stroke in down], [min(s.start for s in across), max(s.end for s in across)])
    ys = _places([stroke.at for stroke in across], [min(s.start for s in down), max(s.end for s in down)])
    if len(xs) < 3 or len(ys) < 3 or (len(xs) - 1) * (len(ys) - 1) > _MOST_CELLS:
        return None
    beside = [[stroke for stroke in down if abs(stroke.at - x) < _SMALLEST] for x in xs[1:]]
    below = [[stroke for stroke in across if abs(stroke.at - y) < _SMALLEST] for y in ys[1:]]
    right_walls = [[_drawn(strokes, top, bottom) for strokes in beside] for top, bottom in pairwise(ys)]
    lower_walls = [[_drawn(strokes, left, right) for left, right in pairwise(xs)] for strokes in below]
    return Grid(tuple(xs), tuple(ys), tuple(_cells(right_walls, lower_walls)))


def _places(drawn: Sequence[float], ends: Sequence[float]) -> list[float]:
    places: list[float] = []
    for place in sorted(drawn):
        if not places or place - places[-1] >= _SMALLEST:
            places.append(place)
    low, high = ends
    if places[0] - low >= _SMALLEST:
        places.insert(0, low)
    if high - places[-1] >= _SMALLEST:
        places.append(high)
    return places


def _drawn(strokes: Sequence[_Stroke], start: float, end: float) -> bool:
    """Tell whether strokes at one position cover most of the distance from `start` to `end`."""
    covered = sum(max(0.0, min(stroke.end, end) - max(stroke.start, start)) for stroke in strokes)
    return covered >= _COVERED * (end - start)


def _cells(right_walls: list[list[bool]], lower_walls: list[list[bool]]) -> Iterator[GridCell]:
    height, width = len(right_walls), len(right_walls[0])
    taken = [[False] * width for _ in range(height)]
    for row in range(height):
        for column in range(width):
            if taken[row][column]:
                continue
            right = column + 1
            while right < width and not right_walls[row][right - 1] and not taken[row][right]:
                right += 1
            lower = row + 1
            while (
                lower < height
                and not any(lower_walls[lower - 1][column:right])
                and _open(right_walls[lower], taken[lower], column, right)
            ):
                lower += 1
            for covered in range(row, lower):
                taken[covered][column:right] = [True] * (right - column)
            yield GridCell(row, column, lower - row, right - column)


def _open(walls: Sequence[bool], taken: Sequence[bool], column: int, right: int) -> bool:
    return not any(walls[column : right - 1]) and not any(taken[column:right])

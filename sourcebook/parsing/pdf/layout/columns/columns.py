"""Reading order: a page is cut into columns where white space separates prose from prose.

A gutter may cover only a part of the page's height. The page is cut at the tallest gutter into the parts above it, left
of it, right of it and below it, and each part is cut again.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from sourcebook.parsing.pdf.layout.columns.prose_beside import is_beside_table
from sourcebook.parsing.pdf.layout.elements import Table
from sourcebook.parsing.pdf.layout.grouping import grouped
from sourcebook.parsing.pdf.layout.lines.rows import side_by_side
from sourcebook.parsing.pdf.layout.measures import NEAR, Span, around, letter_widths
from sourcebook.parsing.pdf.layout.page_parts import Line

Piece = Line | Table

_MOST_PIECES = 20_000
"""Lines and tables of a page above which it is read from the top without columns [first]."""
_DEEPEST = 24
"""Depth of cuts within cuts [first]."""
_FEWEST_LINES = 3
"""Fewest lines left of a gutter; right of it, one fewer [first]."""
_FEWEST_CHARACTERS = 12
"""Fewest characters of a column's median line [first]."""
_FEWEST_BESIDE = 18
"""Fewest characters of a column's median line where the lines of both columns are level, as cells are [first]."""
_LEAST_FLUSH = 0.4
"""Smallest share of a column's lines with one left edge [first]."""
_LEAST_FILL = 0.45
"""Smallest share of a column's width that its median line fills [first]."""
_MOST_NESTED = 2
"""Depth to which the columns of one side are looked for [first]."""
_NARROWEST_COLUMN = 45.0
"""Smallest width of a column, in points [first]."""
_MOST_NUMBERS = 0.25
"""Share of numbers among a column's runs above which it belongs to a table [first]."""
_MOST_GUTTERS = 24
"""Left edges that are tried as gutters, the most frequent ones first [first]."""


@dataclass(frozen=True, slots=True)
class Column(Span):
    """A part of the page that is not cut any further; edges in points."""

    left: float
    right: float
    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> "Column":
        """Return the column of lines and tables, between their outermost edges."""
        left, _, right, _ = around(pieces)
        return cls(left, right, tuple(pieces))


@dataclass(frozen=True, slots=True)
class _Gutter:
    at: float
    top: float
    bottom: float
    left: list[Piece]
    right: list[Piece]

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def width(self) -> float:
        return min(piece.left for piece in self.right) - max(piece.right for piece in self.left)


def columns(pieces: Sequence[Piece], *, from_right: bool = False) -> list[Column]:
    """Cut a page into columns and return them in reading order.

    Args:
        pieces: lines and tables in any order.
        from_right: whether the columns are read from right to left.
    """
    found: list[Column] = []
    if not from_right:
        _cut(sorted(pieces, key=lambda piece: (piece.top, piece.left)), found, 0)
        return found
    # Columns and their lines begin at the right, so the page is mirrored.
    mirrored = [_mirrored(piece) for piece in pieces]
    origins = {id(image): piece for image, piece in zip(mirrored, pieces, strict=True)}
    _cut(sorted(mirrored, key=lambda piece: (piece.top, piece.left)), found, 0)
    return [
        Column(-column.right, -column.left, tuple(origins[id(piece)] for piece in column.pieces)) for column in found
    ]


def _mirrored(piece: Piece) -> Piece:
    return replace(piece, left=-piece.right, right=-piece.left)


def _cut(pieces: list[Piece], found: list[Column], depth: int) -> None:
    if not pieces:
        return
    gutter = _gutter(pieces) if depth < _DEEPEST and len(pieces) <= _MOST_PIECES else None
    if gutter is None:
        found.append(Column.of(pieces))
        return
    inside = {id(piece) for piece in (*gutter.left, *gutter.right)}
    above: list[Piece] = []
    below: list[Piece] = []
    for piece in pieces:
        if id(piece) not in inside:
            (above if piece.top + piece.bottom < gutter.top + gutter.bottom else below).append(piece)
    for part in (above, gutter.left, gutter.right, below):
        _cut(part, found, depth + 1)


def _gutter(pieces: list[Piece], *, nested: int = 0) -> _Gutter | None:
    """Return the tallest gutter between two columns of prose, or None; `nested` counts the sides around it."""
    if len(pieces) < 2 * _FEWEST_LINES:
        return None
    best: _Gutter | None = None
    for edge in _edges(pieces):
        for gutter in _stretches(pieces, edge):
            if best is not None and gutter.height <= best.height:
                continue
            if _parts_prose(gutter, nested):
                best = gutter
    return best


def _edges(pieces: Sequence[Piece]) -> list[float]:
    """Return the left edges that several pieces share, the most frequent first."""
    first = min(piece.left for piece in pieces)
    lefts = sorted(piece.left for piece in pieces if piece.left > first + _NARROWEST_COLUMN)
    near = grouped(lefts, lambda group, left: left - group[0] <= NEAR)
    groups = sorted((group for group in near if len(group) >= _FEWEST_LINES - 1), key=len, reverse=True)
    return [group[0] for group in groups[:_MOST_GUTTERS]]


def _stretches(pieces: Sequence[Piece], edge: float) -> list[_Gutter]:
    """Return the gutters left of `edge`, each between pieces that cross it."""
    found: list[_Gutter] = []
    left: list[Piece] = []
    right: list[Piece] = []
    reached = float("-inf")

    def close(until: float) -> None:
        beside = [piece for piece in left if piece.bottom <= until + NEAR]
        after = [piece for piece in right if piece.bottom <= until + NEAR]
        if len(beside) >= _FEWEST_LINES and len(after) >= _FEWEST_LINES - 1:
            top = max(min(piece.top for piece in beside), min(piece.top for piece in after))
            bottom = min(max(piece.bottom for piece in beside), max(piece.bottom for piece in after))
            if bottom > top:
                beside, after = _before_heading(beside, bottom, until), _before_heading(after, bottom, until)
                found.append(_Gutter(edge, top, bottom, beside, after))

    for piece in pieces:
        if piece.left < edge - 0.5 and piece.right > edge - 2:
            close(piece.top)
            left, right = [], []
            reached = max(reached, piece.bottom)
        elif piece.top >= reached - NEAR:
            (right if piece.left >= edge - 0.5 else left).append(piece)
    close(float("inf"))
    return found


def _before_heading(side: list[Piece], bottom: float, until: float) -> list[Piece]:
    """Return a side without the lines at its end that are the heading of the text below both sides.

    Such lines are below the shorter side, and nearer to the text below than to the lines above them.
    """
    end = len(side)
    while end > 1 and side[end - 1].top > bottom:
        last = side[end - 1]
        if until - last.bottom >= last.top - max(piece.bottom for piece in side[: end - 1][-6:]):
            break
        until, end = last.top, end - 1
    return side[:end]


def _parts_prose(gutter: _Gutter, nested: int) -> bool:
    """Tell whether both sides are columns of prose and not cells of one table."""
    left, right = _Side.of(gutter.left, gutter), _Side.of(gutter.right, gutter)
    if left is None or right is None:
        return is_beside_table(gutter.left, gutter.right, gutter.width)
    height = median([*left.heights, *right.heights])
    if gutter.height < 2.2 * height or gutter.width < 0.4 * height:
        return False
    level = _aligned(left.tops, right.tops) >= 0.85
    if not level and _aligned(left.middles, right.middles) >= 0.85:
        level = _is_written_across(gutter)  # the letters of one side may be higher
    if level:
        # The lines are level: in a table, one side has gaps where the other wraps, or its lines are short.
        if min(left.density, right.density) < 0.7 or min(left.characters, right.characters) < _FEWEST_BESIDE:
            return False
        if _is_written_across(gutter):
            return False
        return min(left.fill, right.fill) >= 0.75
    sides = ((left, gutter.left), (right, gutter.right))
    return all(side.fill >= _LEAST_FILL or _in_columns(pieces, nested) for side, pieces in sides)


def _is_written_across(gutter: _Gutter) -> bool:
    """Tell whether the page's content goes from side to side line by line, as it does in tables and lists of terms."""
    return side_changes(gutter.left, gutter.right) > min(len(gutter.left), len(gutter.right))


def side_changes(left: Sequence[Piece], right: Sequence[Piece]) -> int:
    """Return how often the content goes on with the other side: once as OCR has it, which knows no order."""
    sides = sorted(
        (piece.order, side) for side, part in enumerate((left, right)) for piece in part if isinstance(piece, Line)
    )
    return sum(before[1] != after[1] for before, after in pairwise(sides))


def _in_columns(pieces: list[Piece], nested: int) -> bool:
    """Tell whether a side has columns itself, whose lines are beside each other's white space."""
    return nested < _MOST_NESTED and _gutter(pieces, nested=nested + 1) is not None


@dataclass(frozen=True, slots=True)
class _Side:
    tops: list[float]
    middles: list[float]
    heights: list[float]
    characters: float
    """Median number of characters per line."""
    fill: float
    """Median share of the width that a line fills."""
    density: float
    """Share of the height that the lines fill at their usual pitch."""

    @classmethod
    def of(cls, pieces: Sequence[Piece], gutter: _Gutter) -> "_Side | None":
        """Return the measures of a side, or None for a side with too few, too short or too scattered lines."""
        beside = [piece for piece in pieces if piece.bottom > gutter.top and piece.top < gutter.bottom]
        lines = [piece for piece in beside if isinstance(piece, Line)]
        if not lines:
            return None
        grouped = list(side_by_side(lines))
        if len(grouped) < _FEWEST_LINES - 1:
            return None
        left, _, right, _ = around(pieces)
        characters = median(sum(letter_widths(run.text) for run in row) for row in grouped)
        if right - left < _NARROWEST_COLUMN or characters < _FEWEST_CHARACTERS:
            return None
        flush = _flush([min(run.left for run in row) for row in grouped])
        if gutter.width > 4 * lines[0].height:  # a narrower gutter may be the spaces of a justified paragraph
            flush = max(flush, _flush([max(run.right for run in row) for row in grouped]))
        if flush < _LEAST_FLUSH:
            return None
        if sum(_is_number(run.text) for run in lines) > _MOST_NUMBERS * len(lines):
            return None
        filled = [sum(run.width for run in row) for row in grouped]
        tops = sorted(min(run.top for run in row) for row in grouped)
        pitches = sorted(after - before for before, after in pairwise(tops))
        pitch = pitches[len(pitches) // 4] if pitches else 1.0
        extent = tops[-1] - tops[0] + pitch
        return cls(
            tops,
            sorted((min(run.top for run in row) + max(run.bottom for run in row)) / 2 for row in grouped),
            [max(run.height for run in row) for row in grouped],
            characters,
            median(filled) / max(1.0, max(max(run.right for run in row) - left for row in grouped)),
            len(tops) * pitch / extent if extent > 0 else 1.0,
        )


def _is_number(text: str) -> bool:
    return any(map(str.isdigit, text)) and not any(map(str.isalpha, text))


def _flush(edges: Sequence[float]) -> float:
    """Return the share of edges at the most frequent position."""
    places = Counter(round(edge / NEAR) for edge in edges)
    return max(places[place] + places[place + 1] for place in list(places)) / len(edges)


def _aligned(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the share of the shorter side's lines that are level with a line of the other side."""
    few, many = sorted((left, right), key=len)
    low, high = max(left[0], right[0]) - 2, min(left[-1], right[-1]) + 2
    inside = [top for top in few if low <= top <= high]
    matched, index = 0, 0
    for top in inside:
        while index < len(many) and many[index] < top - 1.5:
            index += 1
        matched += index < len(many) and many[index] <= top + 1.5
    return matched / len(inside) if inside else 0.0

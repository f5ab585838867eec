"""Reading order: a page is cut into columns wherever white space parts prose from prose.

A gutter need not run over the whole page: the tallest stretch between what crosses it is found, the page is cut into
what is above, left, right and below, and each part is cut again.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from sourcebook.parsing.pdf.layout.elements import Table
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.layout.rows import side_by_side

Piece = Line | Table

_MOST_PIECES = 20_000
"""Pages with more are read from the top."""
_DEEPEST = 24
_FEWEST_LINES = 3
_FEWEST_CHARACTERS = 12
_FEWEST_BESIDE = 18
"""Where the lines of both sides stand beside each other, as cells do."""
_LEAST_FLUSH = 0.4
"""Share of a column's lines that begin at the same place."""
_LEAST_FILL = 0.45
"""Of the width of a column, by half of its lines."""
_MOST_NESTED = 2
_NARROWEST_COLUMN = 45.0
"""Points."""
_MOST_NUMBERS = 0.25
"""Share of runs; more make a table."""
_NEAR = 3.0
_MOST_GUTTERS = 24
"""Of the places where lines begin, so many of the most frequent are tried."""


@dataclass(frozen=True, slots=True)
class Column:
    """A part of the page without columns of its own."""

    left: float
    right: float
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class _Gutter:
    at: float
    top: float
    bottom: float
    left: list[Piece]
    right: list[Piece]

    @property
    def width(self) -> float:
        return min(piece.left for piece in self.right) - max(piece.right for piece in self.left)


def columns(pieces: Sequence[Piece], *, from_right: bool = False) -> list[Column]:
    """Cut a page into columns and return them in reading order.

    Args:
        pieces: lines and tables, in any order.
        from_right: whether columns follow one another from right to left.
    """
    found: list[Column] = []
    if not from_right:
        _cut(sorted(pieces, key=lambda piece: (piece.top, piece.left)), found, 0)
        return found
    # Columns and the lines in them begin at the right: read the page in a mirror.
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
        left, right = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
        found.append(Column(left, right, tuple(pieces)))
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
    """Return the gutter with the tallest stretch between two columns of prose; `nested`: it is asked for a side."""
    if len(pieces) < 2 * _FEWEST_LINES:
        return None
    best: _Gutter | None = None
    for edge in _edges(pieces):
        for gutter in _stretches(pieces, edge):
            if best is not None and gutter.bottom - gutter.top <= best.bottom - best.top:
                continue
            if _parts_prose(gutter, nested):
                best = gutter
    return best


def _edges(pieces: Sequence[Piece]) -> list[float]:
    """Return the places at which several pieces begin, those with the most first."""
    first = min(piece.left for piece in pieces)
    lefts = sorted(piece.left for piece in pieces if piece.left > first + _NARROWEST_COLUMN)
    groups: list[list[float]] = []
    for left in lefts:
        if groups and left - groups[-1][0] <= _NEAR:
            groups[-1].append(left)
        else:
            groups.append([left])
    groups = [group for group in groups if len(group) >= _FEWEST_LINES - 1]
    groups.sort(key=len, reverse=True)
    return [group[0] for group in groups[:_MOST_GUTTERS]]


def _stretches(pieces: Sequence[Piece], edge: float) -> list[_Gutter]:
    """Return the stretches of white space left of `edge`, each between pieces that cross it."""
    found: list[_Gutter] = []
    left: list[Piece] = []
    right: list[Piece] = []
    reached = float("-inf")

    def close(until: float) -> None:
        beside = [piece for piece in left if piece.bottom <= until + _NEAR]
        after = [piece for piece in right if piece.bottom <= until + _NEAR]
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
        elif piece.top >= reached - _NEAR:
            (right if piece.left >= edge - 0.5 else left).append(piece)
    close(float("inf"))
    return found


def _before_heading(side: list[Piece], bottom: float, until: float) -> list[Piece]:
    """Leave out what stands below the shorter side and nearer to what follows across both: a heading of that."""
    end = len(side)
    while end > 1 and side[end - 1].top > bottom:
        last = side[end - 1]
        if until - last.bottom >= last.top - max(piece.bottom for piece in side[: end - 1][-6:]):
            break
        until, end = last.top, end - 1
    return side[:end]


def _parts_prose(gutter: _Gutter, nested: int) -> bool:
    """Whether both sides read as columns of their own rather than as the cells of one table."""
    left, right = _Side.of(gutter.left, gutter), _Side.of(gutter.right, gutter)
    if left is None or right is None:
        return False
    height = median([*left.heights, *right.heights])
    if gutter.bottom - gutter.top < 2.2 * height or gutter.width < 0.4 * height:
        return False
    aligned = _aligned(left.tops, right.tops)
    if aligned >= 0.85:
        # Cells beside cells: in a table either side has gaps where the other wraps, or its lines are short.
        if min(left.density, right.density) < 0.7 or min(left.characters, right.characters) < _FEWEST_BESIDE:
            return False
        return min(left.fill, right.fill) >= 0.75
    sides = ((left, gutter.left), (right, gutter.right))
    return all(side.fill >= _LEAST_FILL or _in_columns(pieces, nested) for side, pieces in sides)


def _in_columns(pieces: list[Piece], nested: int) -> bool:
    """Whether a side falls into columns in its turn: their lines stand beside each other's white space."""
    return nested < _MOST_NESTED and _gutter(pieces, nested=nested + 1) is not None


@dataclass(frozen=True, slots=True)
class _Side:
    left: float
    right: float
    tops: list[float]
    heights: list[float]
    characters: float
    """Median of the lines."""
    fill: float
    """Median share of the width that lines fill."""
    density: float
    """Share of the height that lines fill, at the usual distance."""

    @classmethod
    def of(cls, pieces: Sequence[Piece], gutter: _Gutter) -> "_Side | None":
        """Return None where it is no column: too few lines, too narrow, or of scraps."""
        beside = [piece for piece in pieces if piece.bottom > gutter.top and piece.top < gutter.bottom]
        lines = [piece for piece in beside if isinstance(piece, Line)]
        if not lines:
            return None
        grouped = list(side_by_side(lines))
        if len(grouped) < _FEWEST_LINES - 1:
            return None
        left, right = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
        characters = median(sum(_width(run.text) for run in row) for row in grouped)
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
            left,
            right,
            tops,
            [max(run.height for run in row) for row in grouped],
            characters,
            median(filled) / max(1.0, max(max(run.right for run in row) - left for row in grouped)),
            len(tops) * pitch / extent if extent > 0 else 1.0,
        )


def _is_number(text: str) -> bool:
    return any(map(str.isdigit, text)) and not any(map(str.isalpha, text))


def _flush(edges: Sequence[float]) -> float:
    """Return the share of edges that lie at one place."""
    places = Counter(round(edge / _NEAR) for edge in edges)
    return max(places[place] + places[place + 1] for place in list(places)) / len(edges)


def _width(text: str) -> int:
    """Return the length of a text, letters of ideographic scripts counted twice."""
    return len(text) if text.isascii() else sum(2 if letter >= "\u1100" else 1 for letter in text)


def _aligned(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the share of the shorter side's lines that stand beside a line of the other."""
    few, many = sorted((left, right), key=len)
    low, high = max(left[0], right[0]) - 2, min(left[-1], right[-1]) + 2
    inside = [top for top in few if low <= top <= high]
    matched, index = 0, 0
    for top in inside:
        while index < len(many) and many[index] < top - 1.5:
            index += 1
        matched += index < len(many) and many[index] <= top + 1.5
    return matched / len(inside) if inside else 0.0

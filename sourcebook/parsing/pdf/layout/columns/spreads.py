"""Two pages on one sheet, side by side, which are read one after the other."""

from collections.abc import Sequence
from itertools import pairwise

from sourcebook.parsing.pdf.layout.columns.columns import Piece
from sourcebook.parsing.pdf.layout.page_parts import Line

_WIDER = 1.15
"""Smallest width of a sheet with two pages, in heights."""
_FEWEST_LINES = 8
"""Fewest lines of each page."""
_LEAST_HEIGHT = 0.3
"""Smallest part of the sheet's height that the lines of each page reach over."""
_MOST_CHANGES = 4
"""Changes from page to page in the order of the content up to which one page is written after the other.

Running heads and page numbers of both pages are often written together.
"""


def halves(pieces: Sequence[Piece], *, width: float, height: float, from_right: bool) -> list[list[Piece]]:
    """Return the pieces of each page of a sheet in reading order, or all pieces where it is one page.

    Args:
        pieces: Lines and tables of the sheet.
        width: Width of the sheet, in points.
        height: Height of the sheet, in points.
        from_right: Whether the right page is read first.
    """
    middle = width / 2
    if width < _WIDER * height or any(piece.left < middle < piece.right for piece in pieces):
        return [list(pieces)]
    left = [piece for piece in pieces if piece.right <= middle]
    right = [piece for piece in pieces if piece.right > middle]
    if not (_is_page(left, height) and _is_page(right, height)) or not _is_written_by_page(left, right):
        return [list(pieces)]
    return [right, left] if from_right else [left, right]


def _is_page(pieces: Sequence[Piece], height: float) -> bool:
    lines = [piece for piece in pieces if isinstance(piece, Line)]
    if len(lines) < _FEWEST_LINES:
        return False
    return max(line.bottom for line in lines) - min(line.top for line in lines) > _LEAST_HEIGHT * height


def _is_written_by_page(left: Sequence[Piece], right: Sequence[Piece]) -> bool:
    sides = [
        (piece.order, side) for side, half in enumerate((left, right)) for piece in half if isinstance(piece, Line)
    ]
    if len({order for order, _ in sides}) < len(sides) / 2:
        return False  # OCR knows no order
    sides.sort()
    return sum(before[1] != after[1] for before, after in pairwise(sides)) <= _MOST_CHANGES

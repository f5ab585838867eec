"""Two pages on one sheet, side by side, which are read one after the other."""

from collections.abc import Sequence

from sourcebook.parsing.pdf.layout.columns.columns import Piece, side_changes
from sourcebook.parsing.pdf.layout.measures import around
from sourcebook.parsing.pdf.layout.page_parts import Line

_WIDER = 1.15
"""Smallest width of a sheet with two pages, in heights [library]."""
_FEWEST_LINES = 8
"""Fewest lines of each page [library]."""
_LEAST_HEIGHT = 0.3
"""Smallest part of the sheet's height that the lines of each page reach over [library]."""
_MOST_CHANGES = 4
"""Changes from page to page in the order of the content up to which one page is written after the other.

Running heads and page numbers of both pages are often written together [library].
"""


def pages_of_sheet(pieces: Sequence[Piece], *, width: float, height: float, from_right: bool) -> list[list[Piece]]:
    """Return the pieces of each page of a sheet in reading order, or all pieces where it is one page.

    Args:
        pieces: lines and tables of the sheet.
        width: width of the sheet, in points.
        height: height of the sheet, in points.
        from_right: whether the right page is read first.
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
    _, top, _, bottom = around(lines)
    return bottom - top > _LEAST_HEIGHT * height


def _is_written_by_page(left: Sequence[Piece], right: Sequence[Piece]) -> bool:
    orders = [piece.order for piece in (*left, *right) if isinstance(piece, Line)]
    # OCR knows no order.
    return len(set(orders)) >= len(orders) / 2 and side_changes(left, right) <= _MOST_CHANGES

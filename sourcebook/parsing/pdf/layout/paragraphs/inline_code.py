"""Lines of a paragraph that are all or nearly all in a font of one width, such as an address or a long command."""

import re
from collections.abc import Sequence
from dataclasses import replace

from sourcebook.parsing.pdf.layout.elements import Row, Table
from sourcebook.parsing.pdf.layout.form_fields import Entry
from sourcebook.parsing.pdf.layout.lines.text_style import TextStyle
from sourcebook.parsing.pdf.layout.measures import FLUSH, WIDER_SPACE
from sourcebook.parsing.pdf.layout.words.list_marks import list_mark

_ADDRESS = re.compile(r"[(<«]?(?:(?:https?|ftp)://|//)\S+")
_BULLETS = frozenset("•‣◦▪▫■□●○◆◇➢✓")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_ENDS = re.compile(r"[.:;!?。：]$")
_WIDEST_INDENT = 4.0
"""Largest distance of the left edges of a line and of the marked line above it, in font sizes [0079]."""


def with_inline_code(items: Sequence[Row | Table | Entry], edge: float, style: TextStyle) -> list[Row | Table | Entry]:
    """Return the items of a column, the lines within paragraphs that look like code as lines of text.

    Args:
        items: rows, tables and entries of the column, from the top.
        edge: right edge of its text, in points.
        style: style of the running text.
    """
    result = list(items)
    for place, row in enumerate(items):
        if not isinstance(row, Row) or not row.line.monospaced:
            continue
        above = result[place - 1] if place else None
        below = items[place + 1] if place + 1 < len(items) else None
        if isinstance(above, Row) and _goes_on(above, row, below, edge, style):
            # The boxes of fonts of one width are often lower.
            result[place] = Row(row.runs, replace(row.line, text=_text(row), monospaced=False, size=above.line.size))
        elif _is_marked(row):
            result[place] = Row(row.runs, replace(row.line, text=_text(row), monospaced=False))
    return result


def _text(row: Row) -> str:
    return " ".join(run.text for run in row.runs)


def _is_marked(row: Row) -> bool:
    """Tell whether a bullet is before the code; hyphens and asterisks may be a part of it."""
    return row.line.text[:1] in _BULLETS and list_mark(row.line.text) is not None


def _goes_on(above: Row, row: Row, below: Row | Table | Entry | None, edge: float, style: TextStyle) -> bool:
    """Tell whether a row goes on in the sentence of the row above it."""
    line, last = row.line, above.line
    if last.monospaced or not _is_next(above, row, style):
        return False
    marked = list_mark(last.text) is not None
    if not (abs(line.left - last.left) < FLUSH * line.size or (marked and 0 < line.left - last.left < _indent(row))):
        return False
    if _ADDRESS.match(line.text) or any(not run.monospaced and _LETTERS.search(run.text) for run in row.runs):
        return True
    if _ENDS.search(last.text) or last.right + 0.15 * (edge - last.left) < edge:
        return False
    text = isinstance(below, Row) and not below.line.monospaced and _is_next(row, below, style)
    return text and isinstance(below, Row) and below.line.text[:1].islower() and abs(below.line.left - line.left) < 1


def _indent(row: Row) -> float:
    return _WIDEST_INDENT * row.line.size


def _is_next(above: Row, row: Row, style: TextStyle) -> bool:
    usual = style.pitch(max(above.line.size, row.line.size))
    return 0 < row.line.top - above.line.top <= WIDER_SPACE * usual

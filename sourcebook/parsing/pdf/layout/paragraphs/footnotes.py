"""Footnotes: smaller text at the foot of a column that begins with a number or a mark."""

import re
from collections.abc import Sequence
from dataclasses import replace

from sourcebook.parsing.pdf.layout.elements import Element, Table
from sourcebook.parsing.pdf.layout.lines.text_style import TextStyle

_MARK = re.compile(r"\(?(?:\d{1,3}|[a-z*†‡§¶∗])\)?[.):]?\s?\S|\[\d{1,3}\]")
_SMALLER = 0.93
"""Largest font size of a footnote, in font sizes of the running text [first]."""
_HIGHEST = 0.4
"""Smallest distance of a footnote from the page's top, as a share of the page's height [first]."""


def with_footnotes(column: Sequence[Element | Table], *, height: float, style: TextStyle) -> list[Element | Table]:
    """Return the elements of a column, with the footnotes at its end marked as such.

    Args:
        column: elements of the column in reading order.
        height: height of the page, in points.
        style: style of the running text.
    """
    small: list[Element] = []
    for one in reversed(column):
        if isinstance(one, Table) or one.kind in ("heading", "caption", "code", "entry"):
            break
        if one.first.size > _SMALLER * style.size or one.first.top < _HIGHEST * height:
            break
        small.insert(0, one)
    while small and not _marked(small[0]):
        small.pop(0)
    return [*column[: len(column) - len(small)], *map(_footnote, small)]


def _footnote(one: Element) -> Element:
    marker = f"{one.marker} " if one.kind == "item" and one.marker != "-" else ""
    return replace(one, kind="footnote", text=marker + one.text, marker="")


def _marked(one: Element) -> bool:
    return (one.kind == "item" and one.marker != "-") or _MARK.match(one.text) is not None

"""Titles in italics, in the size of running text: lines of their own above flush paragraphs, as in many papers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sourcebook.parsing.pdf.layout.elements import Element, Part, PlacedTable
from sourcebook.parsing.pdf.layout.measures import FLUSH

_TITLE = re.compile(r"[^\W\d_].*[^\W_)\]]", re.DOTALL)
"""Text that begins with a letter and ends without punctuation."""
_LONGEST = 90
"""Most characters of such a title [library]."""
_LEAST_ABOVE = 0.8
"""Smallest white space above a title, in font sizes [library]."""
_MOST_BELOW = 2.0
"""Largest white space below a title, in font sizes [library]."""
_FEWEST = 3
"""Titles in italics of a document; one alone may be a name or a quotation [library]."""


def with_italic_headings(found: Sequence[Part]) -> list[Part]:
    """Return the elements, with lines in italics as headings where several stand above paragraphs as titles do."""
    titles = set(_titles(found))
    if len(titles) < _FEWEST:
        return list(found)
    return [
        replace(one, kind="heading") if isinstance(one, Element) and place in titles else one
        for place, one in enumerate(found)
    ]


def _titles(found: Sequence[Part]) -> Iterator[int]:
    for place in range(1, len(found) - 1):
        before, one, after = found[place - 1 : place + 2]
        if not (isinstance(one, Element) and isinstance(after, Element)) or not _is_italic_line(one):
            continue
        size = one.first.size
        flush = abs(after.first.left - one.first.left) < FLUSH * size
        runs_on = after.kind == "paragraph" and after.lines > 1 and not after.first.italic
        below = after.first.top - one.last.bottom
        above = _above(before, one)
        if flush and runs_on and max(_LEAST_ABOVE * size, below) < above and -size < below < _MOST_BELOW * size:
            yield place


def _is_italic_line(one: Element) -> bool:
    alone = one.kind == "paragraph" and one.lines == 1 and one.first.italic and not one.first.monospaced
    return alone and len(one.text) <= _LONGEST and one.text[0].isupper() and _TITLE.fullmatch(one.text) is not None


def _above(before: Part, one: Element) -> float:
    """Return the white space above an element in points; at the top of a page there is enough."""
    page, bottom = (
        (before.page, before.table.bottom)
        if isinstance(before, PlacedTable)
        else (before.places[-1].page, before.last.bottom)
    )
    space = one.first.top - bottom
    return space if page == one.page and space > 0 else float("inf")

"""Paragraphs that continue in the next column or on the next page."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from sourcebook.parsing.pdf.layout.elements import Element, Part, PlacedTable
from sourcebook.parsing.pdf.layout.words.line_joining import joined_pair
from sourcebook.parsing.pdf.layout.words.sentences import STOPS

_SENTENCE_END = re.compile(rf"""[{STOPS}:]["'”’»)\]\d]*$""")
_PASSED_OVER = frozenset({"footnote", "caption", "running head"})
_MOST_BESIDE = 3
"""Most complete paragraphs, such as those of a box, between the two parts of a paragraph [first]."""
_MOST_PASSED_OVER = 40
"""Most elements between the two parts of a paragraph [first]."""
_MOST_MOVED = 120
"""Most characters of the second part or of what is between, whichever is less.

A longer part stays where it is, so that the order of the document is never far from that of its pages [apart].
"""


def join_across_columns(found: Sequence[Part], hyphenated: AbstractSet[str] = frozenset()) -> list[Part]:
    """Return the elements with the parts of each paragraph joined, across footnotes, captions and tables."""
    result: list[Part] = []
    for one in found:
        if one.kind == "paragraph":
            open_end = _open_end(result, one)
            if open_end is not None:
                index, before = open_end
                result[index] = replace(
                    before,
                    text=joined_pair(before.text, one.text, hyphenated),
                    places=(*before.places, *one.places),
                    last=one.last,
                    column=one.column,
                    lines=before.lines + one.lines,
                )
                continue
        result.append(one)
    return result


def _open_end(result: Sequence[Part], one: Element) -> tuple[int, Element] | None:
    """Return the index of the paragraph that continues with `one`, and the paragraph, or None."""
    moved = 0
    for back in range(1, min(_MOST_PASSED_OVER, len(result)) + 1):
        before = result[-back]
        passed_over = isinstance(before, PlacedTable) or before.kind in _PASSED_OVER
        if isinstance(before, Element) and not passed_over and _goes_on(before, one):
            return len(result) - back, before
        moved += _letters(before)
        if min(moved, len(one.text)) > _MOST_MOVED:
            return None
        # Text beside the paragraph, such as a box, is complete; the paragraph continues in lower case.
        if isinstance(before, PlacedTable) or passed_over:
            continue
        if back > _MOST_BESIDE or not one.text[0].islower() or not _SENTENCE_END.search(before.text):
            return None
    return None


def _letters(one: Part) -> int:
    """Return the characters of a text, or of a table and its caption; none of a running head."""
    if isinstance(one, Element):
        return 0 if one.kind == "running head" else len(one.text)
    caption = 0 if one.caption is None else len(one.caption.text)
    return caption + sum(len(cell.text) for cell in one.table.cells)


def _goes_on(before: Element, one: Element) -> bool:
    if before.kind not in ("paragraph", "item") or before.last.turned != one.first.turned:
        return False
    moved = before.places[-1].page != one.page or one.first.top < before.last.top
    if not moved and before.column != one.column and _directly_below(before, one):
        return True  # the cut into columns went through the paragraph
    apart = one.page - before.places[-1].page > 1
    if not moved or apart or not _are_of_one_type(before, one) or _SENTENCE_END.search(before.text):
        return False
    if one.text[0].islower():
        return True
    left, right = before.column
    full = before.last.right > right - 0.05 * (right - left)
    # For scripts without lower case, and lines that begin with a name, the full line before decides.
    return full and before.kind == "paragraph" and before.lines > 1 and one.lines > 1 and not _indented(one)


def _directly_below(before: Element, one: Element) -> bool:
    size = one.first.size
    full = before.last.right > before.column[1] - 4 * size
    flush = abs(before.last.left - one.first.left) < 0.5 * size
    return (
        full
        and flush
        and _are_of_one_type(before, one)
        and one.first.top - before.last.top < 1.45 * max(size, one.first.height)
    )


def _are_of_one_type(before: Element, one: Element) -> bool:
    return before.last.bold == one.first.bold and abs(before.last.size - one.first.size) < 0.1 * one.first.size


def _indented(one: Element) -> bool:
    return one.first.left > one.places[0].left + 0.5 * one.first.size

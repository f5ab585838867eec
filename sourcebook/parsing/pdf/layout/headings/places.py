"""Text that looks like a heading and is none, by its place: at the end of a page, in a figure, in a list."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from sourcebook.parsing.pdf.layout.elements import Element, Part
from sourcebook.parsing.pdf.layout.headings.headings import indexed_headings, is_figure_caption, is_numbered, style_of
from sourcebook.parsing.pdf.layout.measures import NEAR
from sourcebook.parsing.pdf.layout.words.list_marks import list_mark

_SENTENCE = re.compile(r"\S+(?:\s+\S+){2,}[.!۔।]|.{12,}[。．]")
"""Three words or more with a full stop, or as many signs as these have in Chinese or Japanese."""
_LEAD_IN = re.compile(r"\S+(?:\s+\S+){3,}:|.{12,}：|.*[，、].*[:：]")
"""Four words or more with a colon, which lead to what is below them."""
_FAR_ABOVE = 4.0
"""Distance from a title at the margin to the caption of the figure below it, in font sizes of the title [0080]."""


def out_of_place(found: Sequence[Part]) -> Iterator[int]:
    """Yield the indices of headings without a section's number that open no section."""
    for place in (*_at_ends_of_pages(found), *_above_figure_captions(found), *_sentences(found)):
        one = found[place]
        if isinstance(one, Element) and not is_numbered(one.text):
            yield place
    yield from _items_of_lists(found)


def _at_ends_of_pages(found: Sequence[Part]) -> Iterator[int]:
    """Yield the indices of headings below all other text of their page: type is set so that a title has text below."""
    shown = [place for place, one in enumerate(found) if one.kind not in ("running head", "footnote")]
    pages = [list(group) for _, group in groupby(shown, key=lambda place: found[place].page)]
    for page in pages[:-1]:
        above = any(found[place].kind != "heading" for place in page)
        if above and found[page[-1]].kind == "heading":
            yield page[-1]


def _above_figure_captions(found: Sequence[Part]) -> Iterator[int]:
    """Yield the indices of headings directly above the caption of a figure, which are labels in the figure."""
    for place, (one, after) in enumerate(pairwise(found)):
        if not isinstance(one, Element) or not isinstance(after, Element) or one.kind != "heading":
            continue
        if is_figure_caption(after) and _is_label(one, after):
            yield place


def _is_label(one: Element, caption: Element) -> bool:
    """Tell whether a heading is in the figure whose caption follows; a title at the margin is far above it."""
    if one.places[-1].page != caption.page:
        return False
    at_margin = one.first.left - one.column[0] < one.first.size
    return not at_margin or caption.first.top - one.last.bottom < _FAR_ABOVE * one.first.size


def _sentences(found: Sequence[Part]) -> Iterator[int]:
    """Yield the indices of headings that are sentences; the first heading may be the title, and titles may be."""
    for place, one in indexed_headings(found)[1:]:
        if _SENTENCE.fullmatch(one.text) or _LEAD_IN.fullmatch(one.text):
            yield place


def _items_of_lists(found: Sequence[Part]) -> Iterator[int]:
    """Yield the indices of headings that go on with the numbers of a list at the same indent."""
    items: dict[tuple[str, int], Element] = {}
    for place, one in enumerate(found):
        if not isinstance(one, Element) or one.kind not in ("item", "heading"):
            continue
        mark = list_mark(f"{one.marker} {one.text}" if one.kind == "item" else one.text)
        if mark is None or mark.number is None:
            continue
        before = items.get((mark.style, mark.number - 1))
        if one.kind == "item":
            items[mark.style, mark.number] = one
        elif before is not None and _is_next(before, one):
            items[mark.style, mark.number] = one
            yield place


def _is_next(before: Element, one: Element) -> bool:
    """Tell whether a text begins at the indent of another, in its size."""
    level = abs(before.first.left - one.first.left) < NEAR
    return level and style_of(before)[0] == style_of(one)[0]

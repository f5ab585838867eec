"""Text that looks like a heading and is none: labels, parts of sentences, lists of names, words in figures."""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import groupby

from sourcebook.parsing.pdf.layout.elements import Element, PlacedTable
from sourcebook.parsing.pdf.layout.headings.headings import is_numbered, plain, style_of
from sourcebook.parsing.pdf.layout.headings.labels import labels, of_many_sections
from sourcebook.parsing.pdf.layout.headings.places import out_of_place
from sourcebook.parsing.pdf.layout.headings.surroundings import below_titles, in_sentences, repeated
from sourcebook.parsing.pdf.layout.words.list_marks import list_mark

_BOLD_LIST = 3
"""Consecutive headings of one style that are a list."""
_NUMBERED_LIST = 5
"""Consecutive numbered headings of one style that are a list."""
_COUNTED_LIST = 4
"""Consecutive headings with successive numbers that are a list, in whatever style."""
_OF_FIGURE = re.compile(r"\[?(?:fig|abb|chart|plate|рис|그림|図|图)", re.IGNORECASE)
_LONGEST_SCRAP = 60
"""Characters of a text above which it is no label in a figure."""
_MOST_SCRAPS = 40
"""Short texts before a caption above which they are no labels in a figure."""


def without_false_headings(
    found: Sequence[Element | PlacedTable], outline: AbstractSet[str]
) -> list[Element | PlacedTable]:
    """Return the elements with false headings as paragraphs.

    Args:
        found: Elements in reading order.
        outline: Plain titles of the file's outline, which are always headings.
    """
    false = {
        *labels(found),
        *of_many_sections(found),
        *_in_lists(found),
        *_counted(found),
        *_in_figures(found),
        *in_sentences(found),
        *below_titles(found),
        *repeated(found),
        *out_of_place(found),
    }
    return [
        replace(one, kind="paragraph")
        if isinstance(one, Element) and place in false and one.kind == "heading" and plain(one.text) not in outline
        else one
        for place, one in enumerate(found)
    ]


def _in_lists(found: Sequence[Element | PlacedTable]) -> Iterator[int]:
    """Yield the indices of several consecutive headings of one style."""
    for _, group in groupby(enumerate(found), key=lambda one: _style_on_page(one[1])):
        alike = list(group)
        for place, one in alike:
            most = _NUMBERED_LIST if isinstance(one, Element) and is_numbered(one.text) else _BOLD_LIST
            if len(alike) >= most:
                yield place


def _counted(found: Sequence[Element | PlacedTable]) -> Iterator[int]:
    """Yield the indices of several consecutive headings of one page whose numbers are counted on: 1., 2., 3."""
    run: list[int] = []
    last = 0
    for place, one in enumerate(found):
        mark = list_mark(one.text) if isinstance(one, Element) and one.kind == "heading" else None
        number = mark.number if mark is not None else None
        if run and (number != last + 1 or place != run[-1] + 1 or _page(found[run[-1]]) != _page(one)):
            yield from run if len(run) >= _COUNTED_LIST else ()
            run = []
        if number is not None:
            run.append(place)
            last = number
    yield from run if len(run) >= _COUNTED_LIST else ()


def _page(one: Element | PlacedTable) -> int:
    return one.places[0].page if isinstance(one, Element) else one.page


def _style_on_page(one: Element | PlacedTable) -> object:
    if isinstance(one, PlacedTable) or one.kind != "heading":
        return id(one)
    return (*style_of(one), one.places[0].page)


def _in_figures(found: Sequence[Element | PlacedTable]) -> Iterator[int]:
    """Yield the indices of short texts before the caption of a figure, unless a heading is directly before it."""
    scraps: list[int] = []
    last_kind = ""
    for place, one in enumerate(found):
        if isinstance(one, Element) and one.kind in ("heading", "paragraph") and _is_scrap(one):
            scraps.append(place)
            last_kind = one.kind
            continue
        captioned = isinstance(one, Element) and one.kind == "caption" and _OF_FIGURE.match(one.text)
        if captioned and last_kind == "paragraph" and len(scraps) <= _MOST_SCRAPS:
            yield from scraps
        scraps, last_kind = [], ""


def _is_scrap(one: Element) -> bool:
    """Tell whether a text is too short for a sentence and has no section number."""
    short = len(one.text) < _LONGEST_SCRAP and not one.text.endswith((".", ":"))
    return short and not is_numbered(one.text)

"""What stands out like a heading and is none: terms, warnings, lists of names, words in figures."""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import groupby, pairwise

from sourcebook.parsing.pdf.layout.elements import Element, PlacedTable
from sourcebook.parsing.pdf.layout.headings import is_numbered, plain, style_of

_CALLOUT = re.compile(
    r"(?:note|tip|hint|warning|caution|danger|important|attention|achtung|hinweis|warnung|vorsicht|wichtig|tipp"
    r"|remarque|avertissement|nota|aviso|advertencia|внимание|примечание)\s?[:!]?",
    re.IGNORECASE,
)
_INDENT = 1.5
"""Of the letters' size: of what a term means."""
_DISTANCE = 1.7
"""Of the letters' size: between the lines of a term and of what it means."""
_BOLD_LIST = 3
_NUMBERED_LIST = 5
_OF_FIGURE = re.compile(r"\[?(?:fig|abb|chart|plate|рис|그림|図|图)", re.IGNORECASE)
_LONGEST_SCRAP = 60
_MOST_SCRAPS = 40


def without_false_headings(
    found: Sequence[Element | PlacedTable], outline: AbstractSet[str]
) -> list[Element | PlacedTable]:
    """Return the elements, those that only look like headings made paragraphs.

    Args:
        found: in reading order.
        outline: the plain titles of the file's own outline; what it names is a heading.
    """
    false = {*_terms(found), *_in_lists(found), *_in_figures(found)}
    return [
        replace(one, kind="paragraph")
        if isinstance(one, Element) and place in false and one.kind == "heading" and plain(one.text) not in outline
        else one
        for place, one in enumerate(found)
    ]


def _terms(found: Sequence[Element | PlacedTable]) -> Iterator[int]:
    """Yield where bold words stand over an indented text that they define, or over a warning."""
    for place, (one, following) in enumerate(pairwise(found)):
        if isinstance(one, Element) and _CALLOUT.fullmatch(one.text):
            yield place
        elif isinstance(one, Element) and isinstance(following, Element) and following.kind == "paragraph":
            size = one.first.size
            close = 0 < following.first.top - one.last.top < _DISTANCE * max(size, one.last.height)
            indented = following.places[0].left > one.places[0].left + _INDENT * size
            alike = abs(following.first.size - size) < 0.05 * size
            on_page = following.places[0].page == one.places[0].page
            if close and indented and alike and on_page:
                yield place


def _in_lists(found: Sequence[Element | PlacedTable]) -> Iterator[int]:
    """Yield where several headings of one style follow each other with nothing below them."""
    for _, group in groupby(enumerate(found), key=lambda one: _style_on_page(one[1])):
        alike = list(group)
        for place, one in alike:
            most = _NUMBERED_LIST if isinstance(one, Element) and is_numbered(one.text) else _BOLD_LIST
            if len(alike) >= most:
                yield place


def _style_on_page(one: Element | PlacedTable) -> object:
    if isinstance(one, PlacedTable) or one.kind != "heading":
        return id(one)
    return (*style_of(one), one.places[0].page)


def _in_figures(found: Sequence[Element | PlacedTable]) -> Iterator[int]:
    """Yield where scraps of text stand before the caption of a figure; a heading right before it is no scrap."""
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
    """Whether it is too short for a sentence, and no section's number stands before it."""
    short = len(one.text) < _LONGEST_SCRAP and not one.text.endswith((".", ":"))
    return short and not is_numbered(one.text)

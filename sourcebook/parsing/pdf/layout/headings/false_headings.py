"""Text that looks like a heading and is none: labels, parts of sentences, lists of names, words in figures."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import groupby

from sourcebook.parsing.pdf.layout.elements import Element, Part
from sourcebook.parsing.pdf.layout.headings.headings import is_figure_caption, is_numbered, style_of, title_letters
from sourcebook.parsing.pdf.layout.headings.labels import label_headings, titles_of_many_sections
from sourcebook.parsing.pdf.layout.headings.places import out_of_place
from sourcebook.parsing.pdf.layout.headings.surroundings import below_titles, in_sentences, repeated_headings
from sourcebook.parsing.pdf.layout.words.list_marks import list_mark

_BOLD_LIST = 3
"""Consecutive headings of one style that are a list [first]."""
_NUMBERED_LIST = 5
"""Consecutive numbered headings of one style that are a list [first]."""
_COUNTED_LIST = 4
"""Consecutive headings with successive numbers that are a list, in whatever style [0080]."""
_LONGEST_SCRAP = 60
"""Characters of a text above which it is no label in a figure [first]."""
_MOST_SCRAPS = 40
"""Short texts before a caption above which they are no labels in a figure [first]."""


def without_false_headings(found: Sequence[Part], outline: AbstractSet[str]) -> list[Part]:
    """Return the elements with false headings as paragraphs.

    Args:
        found: elements in reading order.
        outline: plain titles of the file's outline, which are always headings.
    """
    false = {
        *label_headings(found),
        *titles_of_many_sections(found),
        *_in_lists(found),
        *_counted(found),
        *_in_figures(found),
        *in_sentences(found),
        *below_titles(found),
        *repeated_headings(found),
        *out_of_place(found),
    }
    return [
        replace(one, kind="paragraph")
        if isinstance(one, Element)
        and place in false
        and one.kind == "heading"
        and title_letters(one.text) not in outline
        else one
        for place, one in enumerate(found)
    ]


def _in_lists(found: Sequence[Part]) -> Iterator[int]:
    """Yield the indices of several consecutive headings of one style."""
    for _, group in groupby(enumerate(found), key=lambda one: _style_on_page(one[1])):
        alike = list(group)
        for place, one in alike:
            most = _NUMBERED_LIST if isinstance(one, Element) and is_numbered(one.text) else _BOLD_LIST
            if len(alike) >= most:
                yield place


def _counted(found: Sequence[Part]) -> Iterator[int]:
    """Yield the indices of several consecutive headings of one page whose numbers are counted on: 1., 2., 3."""
    run: list[int] = []
    last = 0
    for place, one in enumerate(found):
        mark = list_mark(one.text) if one.kind == "heading" else None
        number = mark.number if mark is not None else None
        if run and (number != last + 1 or place != run[-1] + 1 or found[run[-1]].page != one.page):
            yield from run if len(run) >= _COUNTED_LIST else ()
            run = []
        if number is not None:
            run.append(place)
            last = number
    yield from run if len(run) >= _COUNTED_LIST else ()


def _style_on_page(one: Part) -> object:
    return (*style_of(one), one.page) if one.kind == "heading" else id(one)


def _in_figures(found: Sequence[Part]) -> Iterator[int]:
    """Yield the indices of short texts before the caption of a figure, unless a heading is directly before it."""
    scraps: list[int] = []
    last_kind = ""
    for place, one in enumerate(found):
        if isinstance(one, Element) and one.kind in ("heading", "paragraph") and _is_scrap(one):
            scraps.append(place)
            last_kind = one.kind
            continue
        if is_figure_caption(one) and last_kind == "paragraph" and len(scraps) <= _MOST_SCRAPS:
            yield from scraps
        scraps, last_kind = [], ""


def _is_scrap(one: Element) -> bool:
    """Tell whether a text is too short for a sentence and has no section number."""
    short = len(one.text) < _LONGEST_SCRAP and not one.text.endswith((".", ":"))
    return short and not is_numbered(one.text)

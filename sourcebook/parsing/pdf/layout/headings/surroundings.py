"""Text that looks like a heading and is none, by what is around it: sentences, a title page, the heading before it."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from sourcebook.parsing.pdf.layout.elements import Element, PlacedTable
from sourcebook.parsing.pdf.layout.headings.headings import is_numbered, plain, style_of

_SENTENCE_END = re.compile(r"""[.!?:;。！？：；…।॥؟۔։።។။؛]["'”’»)\]\d]*$""")
_COMMA = re.compile("[，、]")
"""Comma of Chinese and Japanese, whose titles of a full line have none."""
_UNFINISHED = re.compile(r"(?:[,;\-\u2010]|\b(?:an?|and|by|for|in|of|or|that|the|to|with))$")
_DIRECTLY = 0.4
"""Largest gap between lines of one paragraph, in font sizes."""
_FULL = 0.9
"""Share of the column's width that a line within a paragraph reaches."""
_FEWEST_SIGNS = 2
"""Signs that a line is a part of a sentence."""
_ALIKE = 1.2
"""Ratio of font sizes up to which a bold line may be the first of a paragraph."""
_WORD_SPACE = 0.5
"""Largest space between two words, in font sizes."""
_LARGER = 1.06
"""Smallest font size of a title, in font sizes of what is below it."""
_TEXT = 80
"""Fewest characters of a paragraph of running text that has one line."""


def in_sentences(found: Sequence[Element | PlacedTable]) -> Iterator[int]:
    """Yield the indices of headings that are a line of a paragraph, which a word in a larger font sets apart."""
    for place, one in enumerate(found):
        if not isinstance(one, Element) or one.kind != "heading" or is_numbered(one.text):
            continue
        before = found[place - 1] if place else None
        after = found[place + 1] if place + 1 < len(found) else None
        below = after if isinstance(after, Element) and after.kind != "code" and _goes_on(one, after) else None
        goes_on = below is not None and below.text[0].islower()
        in_size = below is not None and below.first.size * _ALIKE > one.last.size
        wide = one.last.right > one.column[0] + _FULL * (one.column[1] - one.column[0])
        signs = (
            isinstance(before, Element) and _goes_on(before, one) and not _SENTENCE_END.search(before.text),
            goes_on,
            one.text[0].islower() and not one.first.bold,
            _UNFINISHED.search(one.text) is not None,
            wide and ((goes_on and in_size) or not one.first.bold),
            goes_on and below is not None and _is_beside(one, below),
        )
        if sum(signs) >= _FEWEST_SIGNS or (wide and _COMMA.search(one.text)):
            yield place


def _goes_on(above: Element, below: Element) -> bool:
    """Tell whether a text follows directly below another one, as the next line of a paragraph does."""
    if above.kind == "running head" or above.places[-1].page != below.places[0].page:
        return False
    size = min(above.last.size, below.first.size)
    return above.first.top - size < below.first.top and below.first.top - above.last.bottom < _DIRECTLY * size


def _is_beside(one: Element, other: Element) -> bool:
    """Tell whether a text goes on in the line of another."""
    level = min(one.last.bottom, other.first.bottom) - max(one.last.top, other.first.top)
    space = other.first.left - one.last.right
    return -1 <= space < _WORD_SPACE * one.last.size and level > 0.5 * min(one.last.height, other.first.height)


def below_titles(found: Sequence[Element | PlacedTable]) -> Iterator[int]:
    """Yield the indices of the authors, dates and versions below the title on the first page.

    They are smaller than the title, before any running text, and no other heading has their style. A text with a number
    stays, and the last one before the running text does.
    """
    headings = [place for place, one in enumerate(found) if isinstance(one, Element) and one.kind == "heading"]
    if not headings or any(map(_is_text, found[: headings[0]])):
        return
    first = headings[0]
    page = _page(found[first])
    matter = [first]
    for place in range(first + 1, len(found)):
        if _page(found[place]) != page or _is_text(found[place]):
            break
        matter.append(place)
    matter = [place for place in matter if place in set(headings)]
    title = max(matter, key=lambda place: _size(found[place]))
    elsewhere = {style_of(one) for place in headings if place > matter[-1] and isinstance(one := found[place], Element)}
    following = matter[-1] + 1
    leads = following < len(found) and (_is_text(found[following]) or _page(found[following]) != page)
    for place in matter[matter.index(title) + 1 : -1 if leads else None]:
        one = found[place]
        smaller = _size(found[title]) > _LARGER * _size(one)
        if smaller and isinstance(one, Element) and style_of(one) not in elsewhere and not is_numbered(one.text):
            yield place


def _page(one: Element | PlacedTable) -> int:
    return one.places[0].page if isinstance(one, Element) else one.page


def _size(one: Element | PlacedTable) -> float:
    return one.first.size if isinstance(one, Element) else 0.0


def _is_text(one: Element | PlacedTable) -> bool:
    """Tell whether a part is running text, code or a table."""
    if isinstance(one, PlacedTable):
        return True
    return one.kind in ("code", "item") or (one.kind == "paragraph" and (one.lines > 1 or len(one.text) > _TEXT))


def repeated(found: Sequence[Element | PlacedTable]) -> Iterator[int]:
    """Yield the indices of headings at the top of a page that repeat the last one of the page before, as slides do."""
    before: Element | None = None
    for page, group in groupby(enumerate(found), key=lambda one: _page(one[1])):
        shown = [(place, one) for place, one in group if not (isinstance(one, Element) and one.kind == "running head")]
        headings = [one for _, one in shown if isinstance(one, Element) and one.kind == "heading"]
        if not headings:
            continue
        first = headings[0]
        goes_on = before is not None and page == before.places[0].page + 1 and _alike(first, before)
        if goes_on and shown[0][1] is first:
            yield shown[0][0]
        before = headings[-1]


def _alike(one: Element, other: Element) -> bool:
    return style_of(one) == style_of(other) and plain(one.text) == plain(other.text)

"""Text that looks like a heading and is none, by what is around it: sentences, a title page, the heading before it."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from sourcebook.parsing.pdf.layout.elements import Element, Part
from sourcebook.parsing.pdf.layout.headings.headings import indexed_headings, is_numbered, style_of, title_letters
from sourcebook.parsing.pdf.layout.measures import ONE_SIZE, are_beside
from sourcebook.parsing.pdf.layout.words.sentences import LINKING_WORD, STOPS

_SENTENCE_END = re.compile(rf"""[{STOPS}:;：；؛]["'”’»)\]\d]*$""")
_COMMA = re.compile("[，、]")
"""Comma of Chinese and Japanese, whose titles of a full line have none."""
_UNFINISHED = re.compile(rf"(?:[,;\-\u2010]|{LINKING_WORD})$")
_DIRECTLY = 0.4
"""Largest gap between lines of one paragraph, in font sizes [library]."""
_FULL = 0.9
"""Share of the column's width that a line within a paragraph reaches [library]."""
_FEWEST_SIGNS = 2
"""Signs that a line is a part of a sentence [library]."""
_ALIKE = 1.2
"""Ratio of font sizes up to which a bold line may be the first of a paragraph [0080]."""
_WORD_SPACE = 0.5
"""Largest space between two words, in font sizes [0080]."""
_TEXT = 80
"""Fewest characters of a paragraph of running text that has one line [library]."""


def in_sentences(found: Sequence[Part]) -> Iterator[int]:
    """Yield the indices of headings that are a line of a paragraph, which a word in a larger font sets apart."""
    for place, one in indexed_headings(found):
        if is_numbered(one.text):
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
    if above.kind == "running head" or above.places[-1].page != below.page:
        return False
    size = min(above.last.size, below.first.size)
    return above.first.top - size < below.first.top and below.first.top - above.last.bottom < _DIRECTLY * size


def _is_beside(one: Element, other: Element) -> bool:
    """Tell whether a text goes on in the line of another."""
    space = other.first.left - one.last.right
    return -1 <= space < _WORD_SPACE * one.last.size and are_beside(one.last, other.first)


def below_titles(found: Sequence[Part]) -> Iterator[int]:
    """Yield the indices of the authors, dates and versions below the title on the first page.

    They are smaller than the title, before any running text, and no other heading has their style. A text with a number
    stays, and the last one before the running text does.
    """
    headings = dict(indexed_headings(found))
    first = next(iter(headings), 0)
    if not headings or any(map(_is_text, found[:first])):
        return
    page = found[first].page
    matter = [first]
    for place in range(first + 1, len(found)):
        if found[place].page != page or _is_text(found[place]):
            break
        matter.append(place)
    matter = [place for place in matter if place in headings]
    title = max(matter, key=lambda place: headings[place].first.size)
    elsewhere = {style_of(one) for place, one in headings.items() if place > matter[-1]}
    following = matter[-1] + 1
    leads = following < len(found) and (_is_text(found[following]) or found[following].page != page)
    for place in matter[matter.index(title) + 1 : -1 if leads else None]:
        one = headings[place]
        smaller = headings[title].first.size > ONE_SIZE * one.first.size
        if smaller and style_of(one) not in elsewhere and not is_numbered(one.text):
            yield place


def _is_text(one: Part) -> bool:
    """Tell whether a part is running text, code or a table."""
    return one.kind in ("table", "code", "item", "entry") or (
        one.kind == "paragraph" and (one.lines > 1 or len(one.text) > _TEXT)
    )


def repeated_headings(found: Sequence[Part]) -> Iterator[int]:
    """Yield the indices of headings at the top of a page that repeat the last one of the page before, as slides do."""
    before: Element | None = None
    for page, group in groupby(enumerate(found), key=lambda one: one[1].page):
        shown = [(place, one) for place, one in group if one.kind != "running head"]
        headings = [one for _, one in shown if one.kind == "heading"]
        if not headings:
            continue
        first = headings[0]
        goes_on = before is not None and page == before.page + 1 and _alike(first, before)
        if goes_on and shown[0][1] is first:
            yield shown[0][0]
        before = headings[-1]


def _alike(one: Element, other: Element) -> bool:
    return style_of(one) == style_of(other) and title_letters(one.text) == title_letters(other.text)

"""Running headers, footers and page numbers, which are left out wherever they only repeat.

Each text remains in the document once: a running head whose text is nowhere else keeps its first occurrence.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from types import MappingProxyType

from sourcebook.model.document import JsonValue
from sourcebook.model.page_labels import page_label
from sourcebook.parsing.pdf.layout.lines.rows import joined, side_by_side
from sourcebook.parsing.pdf.layout.measures import NEAR
from sourcebook.parsing.pdf.layout.page_parts import Line, Page
from sourcebook.parsing.pdf.layout.words.page_numbers import Number, is_decorated, is_number, numbers
from sourcebook.parsing.text.left_out import MOST_TEXTS, LeftOut

_MARGIN = 0.13
"""Height of the top and of the bottom margin with running heads, as a share of the page's height [first]."""
_OUTERMOST = 3
"""Rows from the edge that may be running heads [first]."""
_FEWEST_PAGES = 3
"""Fewest pages in a row, or every second page in a row, on which a running head repeats [first]."""
_FEWEST_WORDS = 3
"""Words beside the number of a page, at least, where the numbers rise by other steps than the pages [first]."""
_GAP = 0.7
"""Smallest white space between a running head and the body, in font sizes [first]."""
_LEAST_GAPS = 0.75
"""Smallest share of pages with white space between a running head and the body [first]."""
_LEAST_RULE = 0.3
"""Smallest length of a drawn line between a running head and the body, as a share of the page's width [first]."""
_MOST_OF_PAGE = 0.5
"""Share of a page's characters above which its repeated rows are its content [first]."""
_LARGEST = 1.25
"""Font size above which a row is the title of a chapter, in usual font sizes [first]."""

_Run = tuple["_Candidate", int, "_Run | None"]
"""A row, the number in it, and the run of rows with lower numbers that it follows."""
RunningRows = tuple[tuple[Line, ...], tuple[Line, ...]]
"""Rows above the body of a page, and rows below it."""


@dataclass(frozen=True, slots=True)
class BodyPages:
    """Pages without their running heads."""

    pages: list[Page]
    kept: Mapping[int, RunningRows] = field(default_factory=dict)
    """First row of each running head whose text is nowhere else, by page number."""
    left_out: LeftOut = field(default_factory=LeftOut)


@dataclass(frozen=True, slots=True)
class _Candidate:
    page: int
    """Index of the page, counted from 0."""
    lines: tuple[Line, ...]
    line: Line
    above: bool
    depth: int
    """Rows between the row and the edge of the page."""


def without_running_heads(pages: Sequence[Page], metadata: Mapping[str, JsonValue] = MappingProxyType({})) -> BodyPages:
    """Return the pages without the rows that repeat at their edges, and without page numbers.

    Args:
        pages: pages in order.
        metadata: metadata of the document, which may have the labels of its pages.
    """
    usual = _usual_size(pages)
    candidates = [one for index, page in enumerate(pages) for one in _candidates(index, page)]
    counted, repeated = _chains([one for one in candidates if one.line.size <= _LARGEST * usual], len(pages))
    found = _heads(candidates, counted, repeated)
    heads = _apart(_within_bounds(found, pages), pages)
    taken = {id(line) for one in heads for line in one.lines}
    heads += [
        one for one in candidates if id(one.lines[0]) not in taken and _is_lone_number(one, pages, taken, metadata)
    ]
    if not heads:
        return BodyPages(list(pages))
    taken = {id(line) for one in heads for line in one.lines}
    body = [replace(page, lines=tuple(line for line in page.lines if id(line) not in taken)) for page in pages]
    kept = _first_of_each(heads, body)
    return BodyPages(body, _by_page(kept, pages), _left_out([one for one in heads if one not in kept], pages))


def _usual_size(pages: Sequence[Page]) -> float:
    sizes = [line.size for page in pages for line in page.lines if len(line.text) > 3]
    return median(sizes) if sizes else 0.0


def _candidates(index: int, page: Page) -> Iterator[_Candidate]:
    """Yield the outermost rows in a page's top and bottom margin, from the edge."""
    for above in (True, False):
        limit = page.height * (_MARGIN if above else 1 - _MARGIN)
        lines = [line for line in page.lines if (line.bottom <= limit if above else line.top >= limit)]
        found = list(side_by_side([line for line in lines if not line.turned]))
        for depth, row in enumerate(found[:_OUTERMOST] if above else found[: -_OUTERMOST - 1 : -1]):
            row.sort(key=lambda line: line.left)
            yield _Candidate(index, tuple(row), joined(row), above, depth)


def _chains(candidates: Sequence[_Candidate], pages: int) -> tuple[set[int], set[int]]:
    """Return the ids of the rows that hold page numbers, and of the rows whose text repeats from page to page."""
    same: dict[object, list[_Candidate]] = defaultdict(list)
    counting: dict[object, list[_Candidate]] = defaultdict(list)
    sampled: dict[object, list[tuple[_Candidate, int]]] = defaultdict(list)
    for one in candidates:
        place = round(one.line.top / 4)
        for near in (place - 1, place, place + 1):
            same[one.above, near, one.line.text].append(one)
            for number in numbers(one.line.text):
                if number.at_edge and len(one.line.text.split()) > _FEWEST_WORDS:
                    sampled[one.above, near].append((one, number.value))
                if not _may_count_pages(number, one, pages):
                    continue
                offset = number.value - one.page
                same[one.above, near, number.around, offset].append(one)
                if number.at_edge:
                    counting[one.above, near, offset].append(one)
    counted = {id(one) for group in counting.values() for one in _in_a_row(group)}
    counted |= {id(one) for group in sampled.values() for one in _rising(group, pages)}
    repeated = {id(one) for group in same.values() for one in _in_a_row(group)}
    return counted, repeated


def _rising(group: Sequence[tuple[_Candidate, int]], pages: int) -> list[_Candidate]:
    """Return the rows at one place whose numbers rise from page to page, in a file of some of the pages of a book.

    They begin low, and stand on at least half of the pages: numbers of invoices do not begin low.
    """
    offsets: list[int] = []  # lowest offset with which a run of each length can end, and where that run ends
    ends: list[_Run] = []
    for one, value in sorted(group, key=lambda each: (each[0].page, -each[1])):
        at = bisect_right(offsets, value - one.page)
        offsets[at : at + 1] = [value - one.page]
        ends[at : at + 1] = [(one, value, ends[at - 1] if at else None)]
    found: list[_Candidate] = []
    run = ends[-1] if ends else None
    first = 0
    while run is not None:
        one, first, run = run
        found.append(one)
    return found if len(found) > _FEWEST_PAGES and 2 * len(found) >= pages and first <= pages else []


def _may_count_pages(number: Number, one: _Candidate, pages: int) -> bool:
    """Tell whether a number may be that of a page: it is no higher than the pages, or stands apart from all words.

    `Invoice 4712` on the first of five pages is a number of its own, though the next page has 4713.
    """
    apart = any(is_number(line.text) and number.digits in line.text for line in one.lines)
    return apart or number.value <= pages


def _in_a_row(group: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the members on enough pages in a row, or on every second page in a row."""
    found: list[_Candidate] = []
    part: list[_Candidate] = []
    for one in sorted(group, key=lambda one: one.page):
        if part and one.page - part[-1].page > 2:
            part = []
        part.append(one)
        if len({member.page for member in part}) == _FEWEST_PAGES:
            found += part
        elif len({member.page for member in part}) > _FEWEST_PAGES:
            found.append(one)
    return found


def _heads(candidates: Sequence[_Candidate], counted: set[int], repeated: set[int]) -> list[_Candidate]:
    """Return the rows from the edge inwards that repeat; below the first, only where one of them has a page number.

    Several rows that repeat without a page number are a letterhead or the beginning of a form letter.
    """
    sides: dict[tuple[int, bool], list[_Candidate]] = defaultdict(list)
    for one in candidates:
        sides[one.page, one.above].append(one)
    found: list[_Candidate] = []
    for side in sides.values():
        block: list[_Candidate] = []
        for one in side:
            if id(one) not in counted and id(one) not in repeated:
                break
            block.append(one)
        numbered = any(id(one) in counted or is_decorated(one.line.text) for one in block)
        found += block if numbered else block[:1]
    return found


def _within_bounds(found: Sequence[_Candidate], pages: Sequence[Page]) -> list[_Candidate]:
    """Return the rows of pages that have more text than these rows."""
    characters: dict[int, int] = defaultdict(int)
    for one in found:
        characters[one.page] += len(one.line.text)
    return [
        one
        for one in found
        if is_number(one.line.text)
        or characters[one.page] <= _MOST_OF_PAGE * sum(len(line.text) for line in pages[one.page].lines)
    ]


def _apart(found: Sequence[_Candidate], pages: Sequence[Page]) -> list[_Candidate]:
    """Return the rows at places where white space or a drawn line parts them from the body on most pages."""
    taken = {id(line) for one in found for line in one.lines}
    places: dict[tuple[bool, int], list[bool]] = defaultdict(list)
    for one in found:
        parted = _is_apart(one, pages[one.page], taken)
        for near in (-1, 0, 1):
            places[one.above, round(one.line.top / 4) + near].append(parted)
    return [one for one in found if sum(gaps := places[one.above, round(one.line.top / 4)]) >= _LEAST_GAPS * len(gaps)]


def _is_apart(one: _Candidate, page: Page, taken: set[int]) -> bool:
    """Tell whether white space or a drawn line is between a row, with other running heads, and the body."""
    body = [line for line in page.lines if id(line) not in taken and not line.turned]
    near = 3 * one.line.size
    beside = [line for line in page.lines if id(line) in taken and abs(line.top - one.line.top) <= near]
    if one.above:
        top, bottom = max(line.bottom for line in beside), min((line.top for line in body), default=page.height)
    else:
        top, bottom = max((line.bottom for line in body), default=0.0), min(line.top for line in beside)
    ruled = any(
        top - NEAR <= rule.top <= bottom + NEAR and rule.width > _LEAST_RULE * page.width for rule in page.rules
    )
    return bottom - top >= (0 if ruled else _GAP * one.line.size)


def _is_lone_number(one: _Candidate, pages: Sequence[Page], taken: set[int], metadata: Mapping[str, JsonValue]) -> bool:
    """Tell whether a row is a page number alone at the edge: decorated, or the number of the page itself."""
    text = one.line.text
    if not is_number(text) or len(one.lines) > 1:
        return False
    page = pages[one.page].number
    own = any(number.value == page for number in numbers(text)) or text.strip() == page_label(page, metadata)
    if not (is_decorated(text) or own):
        return False
    body = [line for line in pages[one.page].lines if id(line) not in taken and line is not one.lines[0]]
    if one.above:
        return all(line.top >= one.line.bottom + 0.8 * one.line.size for line in body) and bool(body)
    return all(line.bottom <= one.line.top - 0.8 * one.line.size for line in body) and bool(body)


def _first_of_each(heads: Sequence[_Candidate], body: Sequence[Page]) -> list[_Candidate]:
    """Return the first row of each text that the bodies of the pages do not hold."""
    elsewhere = "\n".join(_letters(" ".join(line.text for line in page.lines)) for page in body)
    seen: set[str] = set()
    kept: list[_Candidate] = []
    for one in sorted(heads, key=lambda one: one.page):
        text = _letters(one.line.text)
        if text in seen or is_number(one.line.text):
            continue
        seen.add(text)
        if not all(_letters(line.text) in elsewhere for line in one.lines):
            kept.append(one)
    return kept


def _letters(text: str) -> str:
    """Return the text without the numbers at its ends and without white space, in lower case."""
    return re.sub(r"\s+", "", re.sub(r"^[\W\d]+|[\W\d]+$", "", text)).casefold()


def _by_page(kept: Sequence[_Candidate], pages: Sequence[Page]) -> dict[int, RunningRows]:
    found: dict[int, RunningRows] = {}
    for one in sorted(kept, key=lambda one: one.line.top):
        above, below = found.get(pages[one.page].number, ((), ()))
        found[pages[one.page].number] = ((*above, one.line), below) if one.above else (above, (*below, one.line))
    return found


def _left_out(dropped: Sequence[_Candidate], pages: Sequence[Page]) -> LeftOut:
    whole = sum(len(line.text) for page in pages for line in page.lines)
    texts = Counter(one.line.text for one in dropped if not is_number(one.line.text))
    return LeftOut(
        rows=len(dropped),
        words=sum(len(one.line.text.split()) for one in dropped),
        share=round(sum(len(one.line.text) for one in dropped) / whole, 4) if whole else 0.0,
        texts=tuple(text for text, _ in texts.most_common(MOST_TEXTS)),
    )

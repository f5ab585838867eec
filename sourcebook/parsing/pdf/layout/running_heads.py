"""Running headers, footers and page numbers, which are left out."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from sourcebook.parsing.pdf.layout.page_parts import Line, Page
from sourcebook.parsing.pdf.layout.rows import joined, side_by_side

_MARGIN = 0.13
"""Height of the top and of the bottom margin with running heads, as a share of the page's height."""
_OUTERMOST = 3
"""Rows from the edge that may be running heads."""
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"[-–—|\[( ]*(?:(?:page|seite|pagina|página|стр\.?|p\.)\s*)?(?:\d{1,4}|[ivxlcdm]{1,6})"
    r"(?:\s*(?:/|of|von|de|sur|из)\s*\d{1,4})?[-–—|\]). ]*",
    re.IGNORECASE,
)
_EDGE_NUMBER = re.compile(r"^\s*(\d{1,4})\b|\b(\d{1,4})\s*$")
_FEWEST_NUMBERED = 3
"""Fewest pages whose numbers show that they are page numbers."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    page: int
    """Index of the page, counted from 0."""
    lines: tuple[Line, ...]
    line: Line
    above: bool


def without_running_heads(pages: Sequence[Page]) -> list[Page]:
    """Return the pages without the lines that repeat at their edges, with any numbers in them."""
    usual = _usual_size(pages)
    candidates = [one for index, page in enumerate(pages) for one in _candidates(index, page)]
    dropped: dict[int, set[int]] = defaultdict(set)
    for one in _repeated(candidates, usual):
        dropped[one.page].update(map(id, one.lines))
    for index, page in enumerate(pages):
        for one in _numbers(index, page, dropped[index]):
            dropped[index].update(map(id, one.lines))
    return [
        replace(page, lines=tuple(line for line in page.lines if id(line) not in dropped[index]))
        if dropped[index]
        else page
        for index, page in enumerate(pages)
    ]


def _usual_size(pages: Sequence[Page]) -> float:
    sizes = [line.size for page in pages for line in page.lines if len(line.text) > 3]
    return median(sizes) if sizes else 0.0


def _candidates(index: int, page: Page) -> Iterator[_Candidate]:
    """Yield the outermost rows in a page's top and bottom margin."""
    for above in (True, False):
        limit = page.height * (_MARGIN if above else 1 - _MARGIN)
        lines = [line for line in page.lines if (line.bottom <= limit if above else line.top >= limit)]
        found = list(side_by_side([line for line in lines if not line.turned]))
        for row in found[:_OUTERMOST] if above else found[-_OUTERMOST:]:
            row.sort(key=lambda line: line.left)
            yield _Candidate(index, tuple(row), joined(row), above)


def _repeated(candidates: Sequence[_Candidate], usual: float) -> Iterator[_Candidate]:
    places: dict[tuple[bool, int], list[_Candidate]] = defaultdict(list)
    for one in candidates:
        if one.line.size <= 1.25 * usual:  # titles of chapters repeat their position, too, in a larger font size
            places[one.above, round(one.line.top / 4)].append(one)
    for (above, place), group in places.items():
        near = [*group, *places.get((above, place - 1), ()), *places.get((above, place + 1), ())]
        texts: dict[str, set[int]] = defaultdict(set)
        for one in near:
            texts[_DIGITS.sub("#", one.line.text)].add(one.page)
        counting = _counting(near)
        for one in group:
            text = _DIGITS.sub("#", one.line.text)
            repeated = len(texts[text]) > 1 and (_fixed(text) or _PAGE_NUMBER.fullmatch(one.line.text))
            if repeated or (counting and _EDGE_NUMBER.search(one.line.text)):
                yield one


def _fixed(text: str) -> bool:
    """Tell whether a text has letters; numbers alone differ from table to table."""
    return any(letter.isalpha() for letter in text)


def _counting(near: Sequence[_Candidate]) -> bool:
    """Tell whether the numbers at the ends of rows grow from page to page, as page numbers do."""
    numbers: dict[int, int] = {}
    for one in near:
        match = _EDGE_NUMBER.search(one.line.text)
        if match:
            numbers.setdefault(one.page, int(match[1] or match[2]))
    ordered = [number for _, number in sorted(numbers.items())]
    grows = all(before < after for before, after in pairwise(ordered))
    return len(ordered) >= _FEWEST_NUMBERED and grows


def _numbers(index: int, page: Page, dropped: set[int]) -> Iterator[_Candidate]:
    """Yield a page number alone at the edge, even where no other page has one there."""
    left = replace(page, lines=tuple(line for line in page.lines if id(line) not in dropped))
    body = [(line.top, line.bottom) for line in left.lines]
    for one in _candidates(index, left):
        line = one.line
        if not _PAGE_NUMBER.fullmatch(line.text) or len(one.lines) > 1:
            continue
        outermost = (
            all(top >= line.top - 1 for top, _ in body)
            if one.above
            else all(bottom <= line.bottom + 1 for _, bottom in body)
        )
        space = min(
            (
                abs(top - line.bottom) if one.above else abs(line.top - bottom)
                for top, bottom in body
                if (top, bottom) != (line.top, line.bottom)
            ),
            default=0.0,
        )
        if outermost and space > 0.8 * line.size:
            yield one

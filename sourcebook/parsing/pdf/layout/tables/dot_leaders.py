"""Dots that lead from a title to its page number in contents, or from a label to its numbers in a table."""

import re
from collections.abc import Iterator
from dataclasses import replace

from sourcebook.parsing.pdf.layout.elements import Row
from sourcebook.parsing.pdf.layout.page_parts import Line

LEADERS = re.compile(r"(?:[.·…‥_]\s?){4,}")
PAGE_NUMBER = re.compile(r"(?:[\s.·…‥_]*)([ivxlcdm]{1,7}|[A-Z]?-?\d{1,4})\s*$")
_NUMBER = re.compile(r"[(\-–+]?[€$£]?\d[\d.,]*[%)]?")
_NARROW = 0.5
"""Width of a dot or space, in widths of another letter."""


def leads_to_page(row: Row) -> bool:
    """Tell whether dots lead from a title to a page number; two numbers behind the dots are cells of a table."""
    text = row.line.text
    leaders = list(LEADERS.finditer(text))
    if not leaders or PAGE_NUMBER.search(text) is None:
        return False
    return len(_NUMBER.findall(text[leaders[-1].end() :])) < 2


def without_leaders(row: Row) -> Row:
    """Return a row of a table without the dots between its label and its numbers, which become runs of their own."""
    if LEADERS.search(row.line.text) is None:
        return row
    runs = tuple(part for run in row.runs for part in _parts(run))
    return Row(runs, row.line) if runs else row


def _parts(run: Line) -> Iterator[Line]:
    """Yield the texts around the dots of a run, their edges estimated from the letters."""
    total = _weight(run.text)
    if LEADERS.search(run.text) is None or not total:
        yield run
        return
    step = run.width / total
    place = 0
    for leader in [*LEADERS.finditer(run.text), None]:
        end = leader.start() if leader is not None else len(run.text)
        text = run.text[place:end]
        if text.strip():
            left = run.left + step * _weight(run.text[: place + len(text) - len(text.lstrip())])
            right = run.right - step * _weight(run.text[place + len(text.rstrip()) :])
            yield replace(run, text=text.strip(), left=left, right=right)
        place = leader.end() if leader is not None else end


def _weight(text: str) -> float:
    return sum(_NARROW if letter in " .,·" else 1.0 for letter in text)

"""Dots that lead from a title to its page number in tables of contents, or from a label to its numbers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sourcebook.parsing.pdf.layout.elements import Row, Table
from sourcebook.parsing.pdf.layout.page_parts import Line

_LEADERS = re.compile(r"(?:[.·…‥_]\s?){4,}")
_PAGE_NUMBER = re.compile(r"(?:[\s.·…‥_]*)([ivxlcdm]{1,7}|[A-Z]?-?\d{1,4})\s*$")
_NUMBER = re.compile(r"[(\-–+]?[€$£]?\d[\d.,]*[%)]?")
_NARROW = 0.5
"""Width of a dot or space, in widths of another letter [library]."""


def leads_to_page(row: Row) -> bool:
    """Tell whether dots lead from a title to a page number; two numbers behind the dots are cells of a table."""
    text = row.line.text
    leaders = list(_LEADERS.finditer(text))
    if not leaders or _PAGE_NUMBER.search(text) is None:
        return False
    return len(_NUMBER.findall(text[leaders[-1].end() :])) < 2


def without_leaders(row: Row) -> Row:
    """Return a row of a table without the dots between its label and its numbers, which become runs of their own."""
    if _LEADERS.search(row.line.text) is None:
        return row
    runs = tuple(part for run in row.runs for part in _parts(run))
    return Row(runs, row.line) if runs else row


def _parts(run: Line) -> Iterator[Line]:
    """Yield the texts around the dots of a run, their edges estimated from the letters."""
    total = _weight(run.text)
    if _LEADERS.search(run.text) is None or not total:
        yield run
        return
    step = run.width / total
    place = 0
    for leader in [*_LEADERS.finditer(run.text), None]:
        end = leader.start() if leader is not None else len(run.text)
        text = run.text[place:end]
        if text.strip():
            left = run.left + step * _weight(run.text[: place + len(text) - len(text.lstrip())])
            right = run.right - step * _weight(run.text[place + len(text.rstrip()) :])
            yield replace(run, text=text.strip(), left=left, right=right)
        place = leader.end() if leader is not None else end


def _weight(text: str) -> float:
    return sum(_NARROW if letter in " .,·" else 1.0 for letter in text)


def contents_table(rows: Sequence[Row]) -> Table | None:
    """Return the table of contents in rows with dot leaders, or None; its columns are titles and page numbers."""
    if sum(map(leads_to_page, rows)) < 2:
        return None
    texts: list[list[str]] = []
    pending = ""
    for row in rows:
        text = f"{pending} {row.line.text}".strip()
        number = _PAGE_NUMBER.search(text)
        if not leads_to_page(row) or number is None:
            pending = text
            continue
        texts.append([_LEADERS.sub(" ", text[: number.start()]).strip(" ."), number[1]])
        pending = ""
    if pending:
        texts.append([pending, ""])
    # The header is empty, because no entry is a heading of the others.
    return Table.of(rows, [["", ""], *texts], contents=True)

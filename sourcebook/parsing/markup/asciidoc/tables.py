"""Tables of AsciiDoc: cells separated by bars, commas, tabs or colons."""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sourcebook.parsing.text.nested_table import nested_table

_CELL = re.compile(
    r"(?:(?<=\s)|^)(?:(?P<columns>\d{1,3})?(?:\.(?P<rows>\d{1,3}))?\+|(?P<times>\d{1,3})\*)?"
    r"[<^>]?(?:\.[<^>])?[adehlmsv]?(?<!\\)\||(?<!\\)\|",
    re.MULTILINE,
)
_NESTED = re.compile(r"(?:^\[[^\]\n]*\]\n)?^!={3,}[ \t]*$(.*?)^!={3,}[ \t]*$", re.MULTILINE | re.DOTALL)
_NESTED_CELL = re.compile(r"(?<!\S)((?:\d{1,3}[+*])?[<^>]?[adehlmsv]?)!")
_REPEATED = re.compile(r"(\d{1,3})\*")
_MOST_COLUMNS = 500
_MOST_ROWS_OF_A_CELL = 50
"""Rows that a cell may span."""


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    columns: int = 1
    rows: int = 1


def table_rows(lines: list[str], *, delimiter: str, attributes: Mapping[str, str]) -> list[list[str]]:
    """Return the rows of a table, all of one length; the text of a spanning cell is in its first place.

    Args:
        lines: lines between the delimiters `|===`.
        delimiter: first character of the delimiters.
        attributes: attributes of the block; `cols`, `format` and `separator` are used.
    """
    kind = attributes.get("format", {",": "csv", ":": "dsv"}.get(delimiter, "psv"))
    if kind in {"csv", "tsv", "dsv"}:
        separator = attributes.get("separator", {"csv": ",", "tsv": "\t"}.get(kind, ":"))[:1] or ","
        return _squared([row for row in csv.reader(lines, delimiter=separator) if any(row)])
    cells = list(_cells("\n".join(lines)))
    first = next((line for line in lines if line.strip()), "")
    width = _columns(attributes.get("cols", "")) or sum(cell.columns for cell in _cells(first)) or 1
    return list(_rows(cells, min(width, _MOST_COLUMNS)))


def _cells(text: str) -> Iterator[_Cell]:
    marks = list(_CELL.finditer(text))
    before = " ".join(text[: marks[0].start() if marks else len(text)].split())
    if before:
        yield _Cell(before)
    for mark, after in zip(marks, [*marks[1:], None], strict=False):
        written = _NESTED.sub(_nested, text[mark.end() : after.start() if after else len(text)])
        content = " ".join(written.replace("\\|", "|").split())
        for _ in range(int(mark["times"] or 1)):
            yield _Cell(content, max(int(mark["columns"] or 1), 1), _rows_of(mark["rows"]))


def _nested(table: re.Match[str]) -> str:
    """Return a table in a cell, whose marks are `!`, as the line that the cell holds."""
    lines = _NESTED_CELL.sub(r"\1|", table[1]).strip("\n").split("\n")
    return nested_table(table_rows(lines, delimiter="|", attributes={}))


def _rows_of(number: str | None) -> int:
    return min(max(int(number or 1), 1), _MOST_ROWS_OF_A_CELL)


def _columns(specification: str) -> int:
    columns = [part for part in re.split(r"[,;]", specification) if part.strip()]
    return sum(int(times[1]) if (times := _REPEATED.match(part.strip())) else 1 for part in columns)


def _rows(cells: list[_Cell], width: int) -> Iterator[list[str]]:
    taken = [0] * width  # rows that a spanning cell above still covers, by column
    row: list[str] = []
    for cell in cells:
        while len(row) >= width or taken[len(row)]:
            if len(row) >= width:
                yield row
                row = []
            else:
                taken[len(row)] -= 1
                row.append("")
        columns = min(cell.columns, width - len(row))
        taken[len(row) : len(row) + columns] = [cell.rows - 1] * columns
        row += [cell.text, *[""] * (columns - 1)]
    if row:
        yield row + [""] * (width - len(row))


def _squared(rows: list[list[str]]) -> list[list[str]]:
    width = min(max(map(len, rows), default=0), _MOST_COLUMNS)
    return [[*(" ".join(cell.split()) for cell in row[:width]), *[""] * (width - len(row))] for row in rows]

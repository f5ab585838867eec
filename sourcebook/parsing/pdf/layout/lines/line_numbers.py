"""Numbers of lines beside listings: they belong to the code, in frames and in the margin."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from sourcebook.parsing.pdf.layout.grouping import grouped
from sourcebook.parsing.pdf.layout.lines.rows import side_by_side
from sourcebook.parsing.pdf.layout.measures import NEAR
from sourcebook.parsing.pdf.layout.page_parts import Line

_FEWEST = 3
"""Fewest numbers, each one more than the number above it [0079]."""
_LEAST_CODE = 0.5
"""Share of the numbers beside which is code; empty lines have numbers, too [0079]."""
_WIDEST_PITCH = 3.0
"""Largest distance of two numbers, in heights of the lines of code [0079]."""


def with_line_numbers(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with the numbers of code's lines as parts of the code."""
    if sum(map(is_line_number, lines)) < _FEWEST:
        return list(lines)
    rows = [sorted(row, key=lambda line: line.left) for row in side_by_side(lines)]
    changed: dict[int, Line] = {}
    for part in grouped((row for row in rows if is_line_number(row[0])), lambda part, row: _follows(part[-1], row)):
        changed |= _numbered(part)
    return [changed.get(id(line), line) for line in lines]


def is_line_number(line: Line) -> bool:
    """Tell whether a line is a number alone that may count lines."""
    return line.text.isdecimal() and len(line.text) <= 4


def _follows(above: Sequence[Line], row: Sequence[Line]) -> bool:
    before, number = above[0], row[0]
    height = max(line.height for line in above)
    near = abs(number.right - before.right) < NEAR or abs(number.left - before.left) < NEAR
    return near and int(number.text) == int(before.text) + 1 and number.top - before.top < _WIDEST_PITCH * height


def _numbered(rows: Sequence[Sequence[Line]]) -> dict[int, Line]:
    """Return the numbers of rows of code by their identity, in the type and size of the code."""
    code = [line for row in rows for line in row[1:] if line.monospaced]
    beside = [row for row in rows if len(row) > 1]
    if len(rows) < _FEWEST or not code:
        return {}
    fixed = sum(all(line.monospaced for line in row[1:]) for row in beside)
    if fixed < len(beside) or len(beside) < _LEAST_CODE * len(rows):
        return {}
    width, size = median(line.letter_width for line in code), median(line.size for line in code)
    return {
        id(number): replace(
            number, left=number.right - width * len(number.text), size=size, monospaced=True, bold=False, italic=False
        )
        for number, *_ in rows
    }

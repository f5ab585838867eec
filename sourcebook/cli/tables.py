"""Tables that fit the terminal: nothing is cut, no word is broken, and in a pipe a row is a line with tabs."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from sourcebook.cli.output import console, longest_word, one_line, safe, say, wrapped, wraps

if TYPE_CHECKING:
    from rich.text import Text

_GAP = 2
_LEAST_FLEXIBLE = 20
"""Width of a column of prose below which it leaves the row."""
_WIDEST_CELL = 2000


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    heading: str
    align: Literal["left", "right"] = "left"
    is_prose: bool = False
    """Whether cells are wrapped at words where the row is too long."""
    leaves: int = 0
    """Order in which columns move below the row where it is too long, the greatest first; 0 for never."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: its cells, the styles of some of them, and lines below it."""

    cells: Sequence[str]
    styles: dict[int, str] = field(default_factory=dict)
    below: Sequence[tuple[str, str]] = ()
    """Name and text of what only some rows have; in a pipe each name is a column of its own."""


def show_table(columns: Sequence[Column], rows: Sequence[Row], *, names_below: Sequence[str] = ()) -> None:
    """Print a table on stdout.

    Args:
        columns: the columns, in the order of the cells.
        rows: the rows.
        names_below: the names that rows may have below them.
    """
    if not wraps():
        _show_plain(columns, rows, names_below)
        return
    cells = [[one_line(cell, _WIDEST_CELL) for cell in row.cells] for row in rows]
    widths, gone = _fitted(columns, cells, console().width)
    head = [safe(column.heading, "dim") for column in columns]
    _show_line(columns, head, widths, gone)
    for row, texts in zip(rows, cells, strict=True):
        _show_line(columns, [safe(text, row.styles.get(n, "")) for n, text in enumerate(texts)], widths, gone)
        indent = " " * (widths[0] + _GAP)
        details = [f"{columns[n].heading} {texts[n]}" for n in gone if texts[n]]
        if details:
            say(safe(" · ".join(details), "dim"), indent=indent)
        for _, text in row.below:
            say(safe(one_line(text, _WIDEST_CELL), "dim"), indent=indent)


def _show_plain(columns: Sequence[Column], rows: Sequence[Row], names_below: Sequence[str]) -> None:
    """Print a line with tabs for each row: every column, whatever the length of its cells."""
    lines = ["\t".join([*(column.heading for column in columns), *names_below])]
    for row in rows:
        below = dict(row.below)
        texts = [*row.cells, *(below.get(name, "") for name in names_below)]
        lines.append("\t".join(one_line(text, _WIDEST_CELL) for text in texts))
    sys.stdout.write("\n".join(lines) + "\n")


def _fitted(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> tuple[list[int], list[int]]:
    """Return the width of each column, and the columns that move below the row."""
    from rich.cells import cell_len

    wanted, least, words = [], [], []
    for number, column in enumerate(columns):
        texts = [column.heading, *(row[number] for row in rows)]
        longest = max(map(cell_len, texts))
        wanted.append(longest)
        word = max(map(longest_word, texts))
        words.append(word if column.is_prose else longest)
        least.append(max(word, min(longest, _LEAST_FLEXIBLE)) if column.is_prose else longest)
    gone: list[int] = []
    for number in sorted(range(len(columns)), key=lambda each: -columns[each].leaves):
        kept = [each for each in range(len(columns)) if each not in gone]
        if sum(least[each] for each in kept) + _GAP * (len(kept) - 1) <= width or not columns[number].leaves:
            break
        gone.append(number)
    kept = [each for each in range(len(columns)) if each not in gone]
    if sum(least[each] for each in kept) + _GAP * (len(kept) - 1) > width:
        least = words
    spare = width - sum(least[each] for each in kept) - _GAP * (len(kept) - 1)
    widths = list(least)
    for number in kept:
        more = min(max(spare, 0), wanted[number] - least[number])
        widths[number] += more
        spare -= more
    return widths, sorted(gone)


def _show_line(columns: Sequence[Column], texts: "Sequence[Text]", widths: Sequence[int], gone: Sequence[int]) -> None:
    """Print one row, on as many lines as its longest prose needs."""
    from rich.text import Text

    out = console()
    kept = [number for number in range(len(columns)) if number not in gone]
    lines = {
        number: wrapped(texts[number], widths[number]) if columns[number].is_prose else [texts[number]]
        for number in kept
    }
    for line in range(max(map(len, lines.values()))):
        printed = Text()
        for number in kept:
            cell = lines[number][line] if line < len(lines[number]) else Text()
            padding = " " * max(widths[number] - cell.cell_len, 0)
            if number != kept[0]:
                printed.append(" " * _GAP)
            if columns[number].align == "right":
                printed.append(padding)
            printed.append_text(cell)
            if columns[number].align == "left":
                printed.append(padding)
        printed.rstrip()
        out.print(printed, soft_wrap=True)

"""Put what stands on one line of a column side by side, in the order of its script."""

import unicodedata
from bisect import bisect, insort
from collections.abc import Sequence
from functools import lru_cache
from math import inf

from sourcebook.parsing.pdf.layout.elements import Row
from sourcebook.parsing.pdf.layout.page_parts import Line

_LEAST_SHARED = 0.5
"""Share of the lower one's height that two runs must share to stand on one line."""
_MOST_TALLER = 1.6
"""Times the lower one's height: what is taller must stand on the same base line."""
_LIKE_HEIGHT = 1.3
_OPEN_ROWS = 3


def rows(lines: Sequence[Line]) -> list[Row]:
    """Return the rows of a column from the top."""
    found = [Row(tuple(ordered), joined(ordered)) for ordered in map(in_order, side_by_side(lines))]
    for index in range(1, len(found) - 1):
        if _in_margin(found[index], found[index - 1], found[index + 1]):
            _move_up(found, index)
    return found


def _in_margin(row: Row, above: Row, below: Row) -> bool:
    """Whether a row stands beside the text that it interrupts, as a note in the margin does."""
    beside = row.line.right <= min(above.line.left, below.line.left) or row.line.left >= max(
        above.line.right, below.line.right
    )
    return beside and row.line.bottom > above.line.top and row.line.top < below.line.bottom and _goes_on(above, below)


def _goes_on(above: Row, below: Row) -> bool:
    size = above.line.size
    alike = abs(below.line.size - size) < 0.05 * size and above.line.bold == below.line.bold
    return alike and 0 < below.line.top - above.line.top < 1.6 * max(size, above.line.height)


def _move_up(found: list[Row], index: int) -> None:
    """Put a note before the paragraph beside which it stands."""
    place = index - 1
    while place > 0 and _goes_on(found[place - 1], found[place]):
        place -= 1
    found.insert(place, found.pop(index))


def side_by_side(lines: Sequence[Line], *, reach: float = inf) -> list[list[Line]]:
    """Return what stands on one line, from the top.

    Args:
        lines: in any order.
        reach: how far apart, in times the higher one's height, what differs in height may stand: a heading in the next
            column is on no line of this one.
    """
    found: list[list[Line]] = []
    spans: list[list[tuple[float, float]]] = []
    for line in sorted(lines, key=lambda line: (line.top + line.bottom, line.left)):
        # A tall letter beside several lines lies between the parts of one of them in this order.
        row: list[Line] | None = None
        for row, taken in zip(found[: -_OPEN_ROWS - 1 : -1], spans[: -_OPEN_ROWS - 1 : -1], strict=True):
            if _beside(row[0], line) and (reach == inf or _within(reach, line, row[0], taken)):
                insort(taken, (line.left, line.right))
                break
        else:
            row = None
        if row is None:
            found.append([line])
            spans.append([(line.left, line.right)])
        elif line.height > _LIKE_HEIGHT * row[0].height:
            row.insert(0, line)  # what stands beside a row is decided by its tallest early member
        else:
            row.append(line)
    return found


def _within(reach: float, line: Line, first: Line, taken: Sequence[tuple[float, float]]) -> bool:
    """Whether a line is as high as a row's first, or near to what stands on it already."""
    higher = max(line.height, first.height)
    if higher < _LIKE_HEIGHT * min(line.height, first.height):
        return True
    place = bisect(taken, (line.left, line.right))
    return any(
        left - line.right < reach * higher and line.left - right < reach * higher
        for left, right in taken[max(0, place - 1) : place + 1]
    )


def _beside(first: Line, other: Line) -> bool:
    height, other_height = first.bottom - first.top, other.bottom - other.top
    lower = min(height, other_height)
    if min(first.bottom, other.bottom) - max(first.top, other.top) <= _LEAST_SHARED * lower:
        return False
    return max(height, other_height) < _MOST_TALLER * lower or abs(first.bottom - other.bottom) < 0.35 * lower


def in_order(row: Sequence[Line]) -> list[Line]:
    """Sort runs the way they are read: from the right where most letters are Hebrew or Arabic."""
    ordered = sorted(row, key=lambda line: line.left)
    balance = sum(direction(line.text) for line in ordered)
    if balance >= 0:
        return ordered
    ordered.reverse()
    # Neighbouring words of a left-to-right script keep their own order within the line.
    result: list[Line] = []
    latin: list[Line] = []
    for line in ordered:
        if direction(line.text) > 0:
            latin.append(line)
        else:
            result += latin[::-1]
            latin.clear()
            result.append(line)
    return result + latin[::-1]


@lru_cache(maxsize=4096)
def direction(text: str) -> int:
    """Return letters that run to the right less those that run to the left."""
    if text.isascii():
        return sum(map(str.isalpha, text))
    classes = [unicodedata.bidirectional(letter) for letter in text]
    return classes.count("L") - classes.count("R") - classes.count("AL")


def joined(runs: Sequence[Line]) -> Line:
    """Return runs that stand side by side as one; monospaced ones keep their distance."""
    if len(runs) == 1:
        return runs[0]
    letters = sum(len(run.text) for run in runs) or 1
    monospaced = sum(len(run.text) for run in runs if run.monospaced) > 0.8 * letters
    main = max(runs, key=lambda run: len(run.text))
    return Line(
        text=_spaced(runs) if monospaced else " ".join(run.text for run in runs),
        left=min(run.left for run in runs),
        right=max(run.right for run in runs),
        top=min(run.top for run in runs),
        bottom=max(run.bottom for run in runs),
        size=main.size,
        bold=sum(len(run.text) for run in runs if run.bold) > 0.8 * letters,
        italic=sum(len(run.text) for run in runs if run.italic) > 0.8 * letters,
        monospaced=monospaced,
        turned=main.turned,
    )


def _spaced(runs: Sequence[Line]) -> str:
    text, previous = "", runs[0]
    for run in runs:
        width = previous.width / max(1, len(previous.text))
        text += " " * max(1, round((run.left - previous.right) / width) if width > 0 else 1) if text else ""
        text += run.text
        previous = run
    return text

"""Rows of a column: runs on one line, in the order of their script."""

import unicodedata
from bisect import bisect, insort
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import inf

from sourcebook.parsing.pdf.layout.elements import Row
from sourcebook.parsing.pdf.layout.measures import LEAST_SHARED, around
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.layout.words.section_numbers import is_number_within
from sourcebook.parsing.text.east_asian import is_east_asian

_MOST_TALLER = 1.6
"""Height in heights of the lower run above which a run must have the same base line [first]."""
_LIKE_HEIGHT = 1.3
"""Ratio of heights up to which runs are of one height [first]."""
_ONE_SIZE = 0.05
"""Difference of font sizes up to which runs have one size, as a share of it [library]."""
_FEWEST_EAST_ASIAN = 0.15
"""Share of a line's letters from which its Chinese, Japanese or Korean words decide on size and weight.

Their fonts have boxes of another height than the Latin font beside them, which has their size for the eye [0076].
"""
_OPEN_ROWS = 3
"""Rows that a further run may still join [first]."""


def rows(lines: Sequence[Line]) -> list[Row]:
    """Return the rows of a column from the top."""
    found = [Row(tuple(ordered), joined(ordered)) for ordered in map(in_order, side_by_side(lines))]
    for index in range(1, len(found) - 1):
        if _in_margin(found[index], found[index - 1], found[index + 1]):
            _move_up(found, index)
    return found


def _in_margin(row: Row, above: Row, below: Row) -> bool:
    """Tell whether a row is beside the text that it interrupts, as a note in the margin is."""
    beside = row.line.right <= min(above.line.left, below.line.left) or row.line.left >= max(
        above.line.right, below.line.right
    )
    return beside and row.line.bottom > above.line.top and row.line.top < below.line.bottom and _goes_on(above, below)


def _goes_on(above: Row, below: Row) -> bool:
    size = above.line.size
    alike = abs(below.line.size - size) < 0.05 * size and above.line.bold == below.line.bold
    return alike and 0 < below.line.top - above.line.top < 1.6 * max(size, above.line.height)


def _move_up(found: list[Row], index: int) -> None:
    """Move a note in the margin before the paragraph beside it."""
    place = index - 1
    while place > 0 and _goes_on(found[place - 1], found[place]):
        place -= 1
    found.insert(place, found.pop(index))


def side_by_side(lines: Sequence[Line], *, reach: float = inf) -> list[list[Line]]:
    """Return the runs of each line, from the top.

    Args:
        lines: runs in any order.
        reach: largest gap between runs of different height, in heights of the taller run, which keeps a heading in
            the next column off this column's lines.
    """
    found: list[list[Line]] = []
    spans: list[list[tuple[float, float]]] = []
    for line in sorted(lines, key=lambda line: (line.middle, line.left)):
        # In this order, a tall letter beside several lines comes between the parts of one line.
        row: list[Line] | None = None
        for place in range(len(found) - 1, max(len(found) - _OPEN_ROWS, 0) - 1, -1):
            first = found[place][0]
            if _beside(first, line) and (reach == inf or _within(reach, line, first, spans[place])):
                row = found[place]
                break
        if row is None:
            found.append([line])
            spans.append([(line.left, line.right)])
            continue
        if reach != inf:
            insort(spans[place], (line.left, line.right))
        if line.height > _LIKE_HEIGHT * row[0].height:
            row.insert(0, line)  # further runs are compared with the tallest of the first runs
        else:
            row.append(line)
    return found


def _within(reach: float, line: Line, first: Line, taken: Sequence[tuple[float, float]]) -> bool:
    """Tell whether a run is as high as the first of a row, or near to a run of the row."""
    higher = max(line.height, first.height)
    if higher < _LIKE_HEIGHT * min(line.height, first.height):
        return True
    place = bisect(taken, (line.left, line.right))
    return any(
        left - line.right < reach * higher and line.left - right < reach * higher
        for left, right in taken[max(0, place - 1) : place + 1]
    )


def _beside(first: Line, other: Line) -> bool:
    top, bottom, other_top, other_bottom = first.top, first.bottom, other.top, other.bottom
    height, other_height = bottom - top, other_bottom - other_top
    lower = min(height, other_height)
    shared = (min(bottom, other_bottom)) - (max(top, other_top))
    if shared <= LEAST_SHARED * lower:
        return False
    if _is_mark(first if height < other_height else other):
        return True
    return max(height, other_height) < _MOST_TALLER * lower or abs(bottom - other_bottom) < 0.35 * lower


def _is_mark(lower: Line) -> bool:
    """Tell whether a run is a single sign, such as a small bullet, whose box may be far smaller than its line's."""
    return len(lower.text) == 1 and not (lower.text.isalpha() or lower.text.isdecimal())


def in_order(row: Sequence[Line]) -> list[Line]:
    """Return runs in reading order: from the right where most letters are Hebrew or Arabic."""
    ordered = sorted(row, key=lambda line: line.left)
    if all(line.text.isascii() for line in ordered):
        return ordered
    balance = sum(direction(line.text) for line in ordered)
    if balance >= 0:
        return ordered
    ordered.reverse()
    # Adjacent words of a left-to-right script keep their own order within the line.
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
    """Return the number of left-to-right letters minus the number of right-to-left letters."""
    if text.isascii():
        return sum(map(str.isalpha, text))
    classes = [unicodedata.bidirectional(letter) for letter in text]
    return classes.count("L") - classes.count("R") - classes.count("AL")


def joined(runs: Sequence[Line]) -> Line:
    """Return runs side by side as one line; monospaced runs keep their distance."""
    if len(runs) == 1:
        return runs[0]
    text = " ".join([run.text for run in runs])
    letters = len(text) - len(runs) + 1
    bold = sum([len(run.text) for run in runs if run.bold])
    italic = sum([len(run.text) for run in runs if run.italic])
    fixed = sum([len(run.text) for run in runs if run.monospaced])
    most = 0.8 * (letters or 1)
    is_ascii = text.isascii()
    east_asian = [] if is_ascii else [run for run in runs if not run.text.isascii() and is_east_asian(run.text)]
    others = sum(len(run.text) for run in east_asian)
    decide = _FEWEST_EAST_ASIAN * letters < others
    main = _main(east_asian if decide else runs)
    if decide:
        most, bold = 0.8 * others, sum(len(run.text) for run in east_asian if run.bold)
    titled = fixed > 0 and _numbers_title(runs)
    if titled:
        fixed, bold = 0, letters
    left, top, right, bottom = around(runs)
    return Line(
        text=_spaced(runs) if fixed > 0.8 * (letters or 1) else text,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        size=main.size,
        bold=bold > most,
        italic=italic > 0.8 * (letters or 1),
        monospaced=fixed > 0.8 * (letters or 1),
        turned=main.turned,
        order=min([run.order for run in runs]),
    )


def _numbers_title(runs: Sequence[Line]) -> bool:
    """Tell whether the number of a section is before monospaced words, as in titles that name files or commands."""
    number, *title = runs
    is_number = number.bold and not number.monospaced and is_number_within(number.text)
    return is_number and bool(title) and all(run.monospaced for run in title)


def _main(runs: Sequence[Line]) -> Line:
    """Return the longest run of the font size that most letters have; the boxes of single signs may be far taller."""
    longest = max(runs, key=lambda run: len(run.text))
    if all(abs(run.size - longest.size) <= _ONE_SIZE * longest.size for run in runs):
        return longest
    letters = Counter[int]()
    for run in runs:
        letters[round(2 * run.size)] += len(run.text)
    size = letters.most_common(1)[0][0]
    return max((run for run in runs if round(2 * run.size) == size), key=lambda run: len(run.text))


def _spaced(runs: Sequence[Line]) -> str:
    text, previous = "", runs[0]
    for run in runs:
        width = previous.letter_width
        text += " " * max(1, round((run.left - previous.right) / width) if width > 0 else 1) if text else ""
        text += run.text
        previous = run
    return text

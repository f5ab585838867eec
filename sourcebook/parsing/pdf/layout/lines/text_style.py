"""Style of a document's running text, from which headings and footnotes differ."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sourcebook.parsing.pdf.layout.elements import Row

_ENOUGH_LETTERS = 400
"""Letters of a page below which the document's style holds for it [first]."""
_FEW_LETTERS = 120
"""Letters in the size of running text above which a page has running text [first]."""
_LEAST_PROPORTIONAL = 0.25
"""Share of letters in proportional fonts above which monospaced text is code, and no running text [library]."""
_RUNNING = 25
"""Fewest characters of a run of running text; labels of a diagram are shorter [library]."""
_SMALL_PRINT = 0.75
"""Smallest size of sentences between tables, in font sizes of the running text [0080]."""
_LONG = 60
"""Fewest characters of the last line of such a sentence [0080]."""
_SENTENCE = re.compile(r"\s.*[.۔।؟]\Z|.{8}[。．]\Z")
"""End of a sentence of several words."""
_STEP = 0.5
"""Step to which font sizes and distances are rounded, in points [first]."""


@dataclass(frozen=True, slots=True)
class TextStyle:
    """Font size, weight and line pitch of the running text."""

    size: float
    bold: bool
    pitches: dict[int, float]
    """Distances from the top of one line to the top of the next, in points, by font size in half points."""
    elsewhere: float = 0.0
    """Font size of the document's running text, where the page has another."""

    def pitch(self, size: float) -> float:
        """Return the usual distance between the tops of lines of a font size, in points."""
        known = self.pitches.get(_step(size))
        if known is not None:
            return known
        body = self.pitches.get(_step(self.size), 1.25 * self.size)
        return body * size / self.size if self.size else 1.25 * size


def style_of_page(style: TextStyle, rows: Sequence[Row]) -> TextStyle:
    """Return the document's style, with the page's own font size where its running text is smaller."""
    letters, running = Counter[int](), Counter[int]()
    for row in rows:
        if row.line.monospaced:
            continue
        step = _step(row.line.size)
        letters[step] += len(row.line.text)
        running[step] += sum(len(run.text) for run in row.runs if len(run.text) >= _RUNNING)
    if letters.total() < _ENOUGH_LETTERS:
        return style
    step, count = letters.most_common(1)[0]
    smaller = step * _STEP < 0.9 * style.size and 2 * count > letters.total() and 2 * running[step] > count
    return replace(style, size=step * _STEP, elsewhere=style.size) if smaller else style


def has_running_text(style: TextStyle, rows: Sequence[Row], *, small: bool = False) -> bool:
    """Tell whether a page has a sentence or some lines of running text; covers and title pages have none.

    Args:
        style: style of the running text.
        rows: rows of the page, without those of its tables.
        small: whether a long sentence in smaller print counts, as those between tables.
    """
    near = [row.line for row in rows if abs(row.line.size - style.size) <= 0.12 * style.size]
    if sum(len(line.text) for line in near) > _FEW_LETTERS:
        return True
    if any(not line.bold and _SENTENCE.search(line.text) is not None for line in near):
        return True
    print_sizes = [row.line for row in rows if _SMALL_PRINT * style.size < row.line.size < style.size]
    return small and any(
        not line.bold and len(line.text) >= _LONG and _SENTENCE.search(line.text) is not None for line in print_sizes
    )


def text_style(columns: Sequence[Sequence[Row]]) -> TextStyle:
    """Return the style of most letters in the columns of a document, without its code."""
    letters, bold, code = Counter[int](), Counter[int](), Counter[int]()
    distances: dict[int, Counter[int]] = {}
    for column in columns:
        previous: Row | None = None
        for row in column:
            line = row.line
            step = _step(line.size)
            letters[step] += len(line.text)
            code[step] += len(line.text) if line.monospaced else 0
            bold[step] += len(line.text) if line.bold else 0
            if previous is not None and _step(previous.line.size) == step and line.top > previous.line.top:
                distance = line.top - previous.line.top
                if distance < 4 * line.size:
                    distances.setdefault(step, Counter())[round(distance / _STEP)] += 1
            previous = row
    if not letters:
        return TextStyle(0.0, False, {})
    prose = letters - code
    step, count = (prose if prose.total() > _LEAST_PROPORTIONAL * letters.total() else letters).most_common(1)[0]
    pitches = {size: _usual(counts) for size, counts in distances.items() if counts.total() > 2}
    return TextStyle(step * _STEP, 2 * bold[step] > count, pitches)


def _usual(counts: Counter[int]) -> float:
    """Return the most frequent distance in points, averaged with its neighbours."""
    best = max(counts, key=lambda one: (counts[one - 1] + counts[one] + counts[one + 1], -one))
    near = range(best - 1, best + 2)
    total = sum(counts[one] for one in near)
    return sum(one * counts[one] for one in near) / total * _STEP


def _step(size: float) -> int:
    return round(size / _STEP)

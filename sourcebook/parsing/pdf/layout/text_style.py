"""How a document's running text looks, against which headings and footnotes stand out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sourcebook.parsing.pdf.layout.elements import Row

_ENOUGH_LETTERS = 400
_FEW_LETTERS = 120
_STEP = 0.5
"""Points; sizes that are nearer count as one."""


@dataclass(frozen=True, slots=True)
class TextStyle:
    """Of the running text: size, weight, and the usual distance between lines."""

    size: float
    bold: bool
    pitches: dict[int, float]
    """From the top of one line to that of the next, by size."""
    elsewhere: float = 0.0
    """Size of the running text on other pages, where a page has its own."""

    def pitch(self, size: float) -> float:
        """Return the usual distance between lines of that size."""
        known = self.pitches.get(_step(size))
        if known is not None:
            return known
        body = self.pitches.get(_step(self.size), 1.25 * self.size)
        return body * size / self.size if self.size else 1.25 * size


def of_page(style: TextStyle, rows: Sequence[Row]) -> TextStyle:
    """Return the document's style, with the size of a page whose running text is smaller."""
    letters = Counter[int]()
    for row in rows:
        letters[_step(row.line.size)] += len(row.line.text)
    if letters.total() < _ENOUGH_LETTERS:
        return style
    step, count = letters.most_common(1)[0]
    smaller = step * _STEP < 0.9 * style.size and 2 * count > letters.total()
    return replace(style, size=step * _STEP, elsewhere=style.size) if smaller else style


def has_running_text(style: TextStyle, rows: Sequence[Row]) -> bool:
    """Whether a page holds a sentence or some lines of running text; covers and title pages hold none."""
    near = [row.line for row in rows if abs(row.line.size - style.size) <= 0.12 * style.size]
    if sum(len(line.text) for line in near) > _FEW_LETTERS:
        return True
    return any(line.text.endswith(".") and " " in line.text and not line.bold for line in near)


def text_style(columns: Sequence[Sequence[Row]]) -> TextStyle:
    """Measure the style of most letters."""
    letters, bold = Counter[int](), Counter[int]()
    distances: dict[int, Counter[int]] = {}
    for column in columns:
        previous: Row | None = None
        for row in column:
            line = row.line
            step = _step(line.size)
            letters[step] += len(line.text)
            bold[step] += len(line.text) if line.bold else 0
            if previous is not None and _step(previous.line.size) == step and line.top > previous.line.top:
                distance = line.top - previous.line.top
                if distance < 4 * line.size:
                    distances.setdefault(step, Counter())[round(distance / _STEP)] += 1
            previous = row
    if not letters:
        return TextStyle(0.0, False, {})
    step, count = letters.most_common(1)[0]
    pitches = {size: _usual(counts) for size, counts in distances.items() if counts.total() > 2}
    return TextStyle(step * _STEP, 2 * bold[step] > count, pitches)


def _usual(counts: Counter[int]) -> float:
    """Return the most frequent distance, neighbours counted with it."""
    best = max(counts, key=lambda one: (counts[one - 1] + counts[one] + counts[one + 1], -one))
    near = range(best - 1, best + 2)
    total = sum(counts[one] for one in near)
    return sum(one * counts[one] for one in near) / total * _STEP


def _step(size: float) -> int:
    return round(size / _STEP)

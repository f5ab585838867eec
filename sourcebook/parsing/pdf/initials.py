"""Large initials over several lines, put back before the words they begin."""

from collections.abc import Sequence
from dataclasses import replace

from sourcebook.parsing.pdf.layout.page_parts import Line

_LARGER = 1.7
"""Times the size of the text beside it."""
_MOST = 40
"""A page with more large letters is a chart or a table."""
_FARTHEST = 1.0
"""Of the text's size: from the initial to its word."""


def with_initials(lines: Sequence[Line]) -> list[Line]:
    """Return the lines; one that goes on from a large letter at its left begins with it, those below where it does."""
    initials = [line for line in lines if len(line.text) == 1 and line.text.isupper() and not line.turned]
    if not 0 < len(initials) <= _MOST:
        return list(lines)
    changed: dict[int, Line | None] = {}
    for initial in initials:
        beside = sorted((line for line in lines if _beside(initial, line)), key=lambda line: line.top)
        if len(beside) < 2 or id(beside[0]) in changed or not beside[0].text[0].isalpha():
            continue
        first = beside[0]
        space = "" if first.text[0].islower() or first.left - initial.right < 0.3 * first.size else " "
        changed[id(initial)] = None
        changed[id(first)] = replace(first, text=f"{initial.text}{space}{first.text}", left=initial.left)
        for line in beside[1:]:
            changed[id(line)] = replace(line, left=initial.left)
    return [kept for line in lines if (kept := changed.get(id(line), line)) is not None]


def _beside(initial: Line, line: Line) -> bool:
    """Whether a smaller line begins directly right of the initial and within its height."""
    if line.turned or initial.size < _LARGER * line.size:
        return False
    near = -0.3 * line.size < line.left - initial.right < _FARTHEST * line.size
    return near and initial.top - 0.3 * line.size < (line.top + line.bottom) / 2 < initial.bottom

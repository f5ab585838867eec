"""Lines in a monospaced font as code, with its indentation and empty lines."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from sourcebook.parsing.pdf.layout.elements import Element, place
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.layout.text_style import TextStyle

_WIDEST_INDENT = 80
"""Characters."""


def code_element(lines: Sequence[Line], page: int, column: tuple[float, float], style: TextStyle) -> Element:
    """Return the lines as one piece of code."""
    widths = [line.width / len(line.text) for line in lines if line.text and line.width > 0]
    width = median(widths) if widths else 0.5 * lines[0].size
    margin = min(line.left for line in lines)
    distances = [after.top - before.top for before, after in pairwise(lines)]
    pitch = min((one for one in distances if one > 0.5 * lines[0].size), default=style.pitch(lines[0].size))
    text: list[str] = []
    for index, line in enumerate(lines):
        if index and distances[index - 1] > 1.7 * pitch:
            text.append("")
        indent = round((line.left - margin) / width) if width > 0 else 0
        text.append(" " * min(indent, _WIDEST_INDENT) + line.text)
    return Element("code", "\n".join(text), (place(page, lines),), lines[0], lines[-1], column, len(lines))

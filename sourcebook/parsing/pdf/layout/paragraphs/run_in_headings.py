"""Headings on the first line of their paragraph: bold, and parted from the text by a wide space."""

from collections.abc import Sequence
from itertools import takewhile

from sourcebook.parsing.pdf.layout.elements import Row
from sourcebook.parsing.pdf.layout.lines.rows import joined
from sourcebook.parsing.pdf.layout.lines.text_style import TextStyle

_LONGEST = 80
"""Most characters of such a heading."""
_WIDEST_SPACE = 3.0
"""Widest space behind it, in font sizes; cells of tables are farther apart."""
_FLUSH = 0.3
"""Largest distance between the left edges of the first two lines, in font sizes; definitions are indented."""


def parted(rows: Sequence[Row], style: TextStyle) -> tuple[Row, Sequence[Row]] | None:
    """Return a run-in heading and the rows of its paragraph, or None for a paragraph without one.

    Args:
        rows: Rows of a paragraph of several lines.
        style: Style of the running text.
    """
    if len(rows) < 2 or style.bold or rows[0].line.bold:
        return None
    bold = list(takewhile(lambda run: run.bold and not run.monospaced, rows[0].runs))
    rest = rows[0].runs[len(bold) :]
    if not bold or not rest or any(run.bold for run in rest):
        return None
    title, size = joined(bold), rows[0].line.size
    flush = abs(rows[1].line.left - title.left) < _FLUSH * size
    near = rest[0].left - title.right < _WIDEST_SPACE * size
    letters = sum(map(str.isalpha, title.text))
    if not (flush and near) or letters < 2 or len(title.text) > _LONGEST or title.text[-1] in ",;:":
        return None
    return Row(tuple(bold), title), [Row(rest, joined(rest)), *rows[1:]]

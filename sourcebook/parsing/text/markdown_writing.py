"""Tables and code as GitHub Markdown."""

import re
from collections.abc import Sequence

LONGEST_REPEATED = 200
"""Characters of a cell that is repeated in each row and column it spans."""
_MOST_FILLED = 8
"""Times as many cells as there are."""
_SMALL = 10_000
_BACKTICKS = re.compile("`{3,}")
_NEWLINES = re.compile(r"\s*\n\s*")


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Return the table whose header is the first row; bars are escaped and newlines become spaces.

    Short rows are filled up, unless that would multiply the table: GitHub's rules allow them.
    """
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    ragged = len(rows) * width > _MOST_FILLED * sum(map(len, rows)) + _SMALL
    lines = [_line(row, 0 if ragged and number else width) for number, row in enumerate(rows)]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def _line(row: Sequence[str], width: int) -> str:
    line = " | ".join([_cell(cell) for cell in row] + [""] * (width - len(row)))
    return f"| {line} |"


def _cell(text: str) -> str:
    if "\n" in text:
        text = _NEWLINES.sub(" ", text)
    return text.strip().replace("|", "\\|")


def code_fence(code: str, language: str = "") -> str:
    """Return code between fences longer than any fence in it, or "" for white space only."""
    if not code.strip():
        return ""
    fence = fence_for(code)
    return f"{fence}{' '.join(language.split())}\n{code}\n{fence}"


def fence_for(code: str) -> str:
    """Return the backticks of a fence, one longer than any run of them in the code, at least three."""
    return "`" * (max(map(len, _BACKTICKS.findall(code)), default=2) + 1)

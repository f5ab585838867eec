"""Rows of cells as a GitHub Markdown table, without padding."""

import re
from collections.abc import Sequence

_NEWLINES = re.compile(r"\s*\n\s*")


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Return the table whose header is the first row; bars are escaped and newlines become spaces."""
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    lines = [_line(row, width) for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def _line(row: Sequence[str], width: int) -> str:
    line = " | ".join([_cell(cell) for cell in row] + [""] * (width - len(row)))
    return f"| {line} |"


def _cell(text: str) -> str:
    if "\n" in text:
        text = _NEWLINES.sub(" ", text)
    return text.strip().replace("|", "\\|")

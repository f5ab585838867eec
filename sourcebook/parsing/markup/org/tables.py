"""Tables of Org: rows of cells between bars, with rules between them."""

import re
from collections.abc import Sequence

from sourcebook.parsing.markup.org.inline import markdown
from sourcebook.parsing.text.markdown_writing import markdown_table

ROW = re.compile(r"[ \t]*(?:\|.*|\+-[-+]*\+[ \t]*)")
"""Line of a table."""
_RULE = re.compile(r"[|+]-[-+|]*")
_WIDTH = re.compile(r"<[lrc]?\d{0,4}>|")
_GROUP = frozenset({"", "<", ">", "<>"})


def org_table(lines: Sequence[str]) -> str:
    """Return a table as Markdown; rules, widths and groups of columns are no rows."""
    rows: list[list[str]] = []
    for line in map(str.strip, lines):
        if _RULE.fullmatch(line):
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        widths = all(map(_WIDTH.fullmatch, cells)) and any(cells)
        groups = cells[0] == "/" and _GROUP.issuperset(cells[1:])
        if not widths and not groups and any(cells):
            rows.append([markdown(cell).replace("\\vert", "|") for cell in cells])
    return markdown_table(rows)

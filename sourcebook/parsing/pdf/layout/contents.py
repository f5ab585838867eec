"""Tables of contents, whose dots lead from titles to page numbers."""

import re
from collections.abc import Sequence

from sourcebook.parsing.pdf.layout.elements import Row, Table
from sourcebook.parsing.pdf.layout.table_of_rows import table_of

_LEADERS = re.compile(r"(?:[.·…‥_]\s?){4,}")
_PAGE_NUMBER = re.compile(r"(?:[\s.·…‥_]*)([ivxlcdm]{1,7}|[A-Z]?-?\d{1,4})\s*$")


def has_leader(row: Row) -> bool:
    """Whether dots lead from a title to a page number."""
    return _LEADERS.search(row.line.text) is not None and _PAGE_NUMBER.search(row.line.text) is not None


def contents_table(rows: Sequence[Row]) -> Table | None:
    """Return the table of contents that rows with dot leaders make: titles and page numbers."""
    if sum(map(has_leader, rows)) < 2:
        return None
    texts: list[list[str]] = []
    pending = ""
    for row in rows:
        text = f"{pending} {row.line.text}".strip()
        number = _PAGE_NUMBER.search(text)
        if not has_leader(row) or number is None:
            pending = text
            continue
        texts.append([_LEADERS.sub(" ", text[: number.start()]).strip(" ."), number[1]])
        pending = ""
    if pending:
        texts.append([pending, ""])
    # No entry is a heading of the others.
    return table_of(rows, [["", ""], *texts], contents=True)

"""Make a table of rows whose cells are known."""

from collections.abc import Sequence

from sourcebook.parsing.pdf.layout.elements import Cell, Row, Table


def table_of(rows: Sequence[Row], texts: Sequence[Sequence[str]], *, contents: bool = False) -> Table:
    """Return the table of these rows.

    Args:
        rows: what it covers of the page.
        texts: its cells, row by row; the first row is its header unless it is a table of contents.
        contents: whether it is one.
    """
    return Table(
        left=min(row.line.left for row in rows),
        top=min(row.line.top for row in rows),
        right=max(row.line.right for row in rows),
        bottom=max(row.line.bottom for row in rows),
        cells=tuple(
            Cell(index, column, text, header=index == 0 and not contents)
            for index, row in enumerate(texts)
            for column, text in enumerate(row)
        ),
        rows=len(texts),
        columns=len(texts[0]),
        contents=contents,
    )

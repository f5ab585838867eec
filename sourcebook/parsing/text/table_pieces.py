"""Tables of a file or a sheet as blocks, with the lines above and below them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from sourcebook.parsing.text.markdown_writing import Piece, markdown_table
from sourcebook.parsing.text.tables_in_rows import Table

_WIDEST_HEADER: Final = 400
"""Characters of a header above which passages have no room for it."""
_BARS: Final = 8
"""Characters around a name, in the header and in the row of dashes below it."""


def table_pieces(tables: Iterable[Table], page: int | None = None) -> Iterator[Piece]:
    """Yield the blocks of tables; a table too wide for passages to repeat its header is written record by record."""
    for table in tables:
        yield from (Piece("paragraph", label, page) for label in table.labels)
        names = [" ".join(name.split()) for name in table.rows[0]] if table.rows else []
        if len(table.rows) > 1 and any(names) and sum(map(len, names)) + _BARS * len(names) > _WIDEST_HEADER:
            yield from _records(names, table.rows[1:], page)
        else:
            yield Piece("table", markdown_table(table.rows), page)
        yield from (Piece("paragraph", note, page) for note in table.notes)


def _records(names: Sequence[str], rows: Sequence[Sequence[str]], page: int | None) -> Iterator[Piece]:
    """Yield each record as its first field, and a list of its other ones by name, without the empty ones."""
    for row in rows:
        fields = chain(zip(names, row, strict=False), (("", text) for text in row[len(names) :]))
        named = ((name, " ".join(text.split())) for name, text in fields)
        key, *others = [f"{name}: {text}" if name else text for name, text in named if text] or [""]
        yield Piece("paragraph", key, page)
        yield Piece("list", "\n".join(f"- {other}" for other in others), page)

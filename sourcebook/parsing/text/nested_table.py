"""A table within the cell of another, as the line that a cell holds."""

from collections.abc import Sequence


def nested_table(rows: Sequence[Sequence[str]], *, has_header: bool | None = None) -> str:
    """Return a table in a cell as a line, such as `Jar: blue, Litres: 9; Jar: red, Litres: 4`.

    Args:
        rows: texts of its cells.
        has_header: whether the first row names the columns; None where the table does not say it.
    """
    columns = max(map(len, rows), default=0)
    names = has_header if has_header is not None else columns > 2 or (columns == 2 and _names_columns(rows))
    if columns > 1 and len(rows) > 1 and names:
        pairs = ([f"{name}: {text}" for name, text in zip(rows[0], row, strict=False) if text] for row in rows[1:])
        return "; ".join(", ".join(row) for row in pairs if row)
    between = " " if len(rows) == 1 else ": " if columns == 2 else ", "
    return "; ".join(between.join(text for text in row if text) for row in rows if any(row))


def _names_columns(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first of two columns holds things, and no names of what stands beside them."""
    if any(len(row) != 2 for row in rows):
        return False
    (name, unit), *below = rows
    things = name[:1].isupper() and not any(first[:1].isupper() for first, _ in below)
    numbers = len(below) > 1 and not unit[:1].isdigit() and all(second[:1].isdigit() for _, second in below)
    return things or numbers

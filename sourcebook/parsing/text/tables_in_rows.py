"""Tables in rows of text: where one begins, which row is its header, and which lines stand above and below it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, Literal

Row = list[str]

_SAMPLE: Final = 60
"""Rows by which the width of a table and the kinds of its columns are judged."""
_MOST_COLUMNS: Final = 300
"""Columns by which a header is told from a record."""
_SHORTEST_NOTE: Final = 3
"""Words of a line that ends a table; fewer may be a record with one filled field."""
_NUMBER: Final = re.compile(r"[-+(]?\s?[€$£¥]?\s?(?:\d[\d.,'\s]*|\.\d+)(?:[eE][-+]?\d+)?\s?[%€$£¥]?\)?")
_QUANTITY: Final = re.compile(_NUMBER.pattern + r"\s?[^\W\d]{1,3}")
_DATE: Final = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ].*)?|\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d+)?")
_YEAR: Final = re.compile(r"(?:19|20|21)\d\d")
_BEGINS_AS_VALUE: Final = re.compile(r"[-+(]?[\d.,€$£¥]|#[A-Z\d/]+[!?]|#N/A|(?i:true|false)$")
_NOTHING: Final = frozenset({"", "-", "–", "n/a", "na", "nan", "null", "none", "?"})
_COMMENT: Final = re.compile(r"#+\s*(?=[^\s#])")


@dataclass(frozen=True, slots=True)
class Table:
    """A table, and the lines above and below it."""

    labels: list[str]
    rows: list[list[str]]
    """Rows, the header first; its texts are empty where the table has none. No rows where there are only labels."""
    notes: list[str] = field(default_factory=list)


def tables_in(rows: Sequence[Row]) -> Iterator[Table]:
    """Yield the tables of a file, in order.

    A blank row ends a table where the rows below it begin with a header of their own. Others, such as totals, belong
    to the table above. A file of one column is one table.

    Args:
        rows: all rows of the file; one without text is blank.
    """
    bands = [list(band) for filled, band in groupby(rows, key=lambda row: bool("".join(row).strip())) if filled]
    widest = max(map(_usual_width, bands), default=0)
    if widest < 2:
        yield Table([], [row for band in bands for row in band])
        return
    above: list[Row] = []
    table: list[Row] = []
    lines: list[Row] = []
    for band in bands:
        if (width := _usual_width(band)) < 2 or (not table and width < widest and _are_pairs(band)):
            lines += band
        elif table and not starts_table(band):
            table += [*lines, *band]
            lines = []
        else:
            if table:
                yield _below(above, table)
            above, table, lines = lines, band, []
    yield _below(above, table, lines)


def starts_table(band: Sequence[Row]) -> bool:
    """Tell whether the rows below a blank one begin with a header, and are not more rows of the table above it."""
    start, has_header = table_start(band)
    return has_header and len(band) > start + 1 and (is_header(band[start]) or _names_values(band[start:]))


def table_of(rows: Sequence[Row]) -> Table:
    """Return the table that rows without a blank one hold, with its header.

    A row that repeats the header, as on each page of a printout, is dropped; so are columns without any text.
    """
    start, has_header = table_start(rows)
    labels = [_line(row) for row in rows[:start]]
    if len(rows) - start == 1 and _width(rows[start]) == 1:
        return Table([*labels, *filter(None, rows[start])], [])
    table = list(rows[start:])
    notes: list[str] = []
    if _usual_width(table) > 2:
        while len(table) > 2 and _is_line(table[-1]) and len(table[-1][0].split()) >= _SHORTEST_NOTE:
            notes.insert(0, _line(table.pop()))
    header = table[0] if has_header else [""] * max(map(len, table))
    kept = [header, *(row for row in table if row != header)]
    if not all(header) or len(header) < max(map(len, table)):
        filled = {column for row in kept for column, text in enumerate(row) if text.strip()}
        if len(filled) < max(map(len, kept)):
            kept = [[text for column, text in enumerate(row) if column in filled] for row in kept]
    return Table(labels, kept, notes)


def table_start(rows: Sequence[Row]) -> tuple[int, bool]:
    """Return the position of a table's first row, and whether that row is its header.

    The rows above it are narrow lines, such as a title; the header is as wide as most rows, or nearly.
    """
    sample = rows[:_SAMPLE]
    usual = _usual_width(sample)
    widths = [0 if _COMMENT.match(_text(row, 0)) else _width(row) for row in sample]
    full = next((position for position, width in enumerate(widths) if width >= usual), 0)
    if full and widths[full - 1] == 0 and _width(sample[full - 1]) >= usual and _is_commented_header(sample, full):
        return full - 1, True
    narrower = (position for position in range(full) if widths[position] > 1 and 2 * widths[position] > usual)
    for position in (full, *narrower):
        if not position:
            break
        if is_header(sample[position]) and _are_lines(sample[:position], widths[position]):
            return position, True
    start = full if usual > 2 and all(width < 2 for width in widths[:full]) else 0
    return start, _has_header(sample[start:])


def is_header(row: Row) -> bool:
    """Tell whether a row holds several texts and no value but years."""
    texts = [text.strip() for text in row if text.strip()]
    return len(texts) > 1 and not any(_BEGINS_AS_VALUE.match(text) and not _YEAR.fullmatch(text) for text in texts)


def _below(above: Sequence[Row], table: Sequence[Row], below: Sequence[Row] = ()) -> Table:
    """Return a table with the lines that blank rows part from it."""
    found = table_of(table)
    return Table([*map(_line, above), *found.labels], found.rows, [*found.notes, *map(_line, below)])


def _is_commented_header(rows: Sequence[Row], start: int) -> bool:
    """Tell whether the comment above the first row names its columns: `#id,name`, or any one above values."""
    return not rows[start - 1][0].startswith("# ") or not is_header(rows[start])


def _are_lines(rows: Sequence[Row], width: int) -> bool:
    """Tell whether rows above a header are lines: comments, single texts, or names with their values."""
    pairs = [row for row in rows if not _is_line(row) and not _COMMENT.match(row[0])]
    if any(_width(row) != 2 or width < 3 or not (_text(row, 0) and _text(row, 1)) for row in pairs):
        return False
    return len(pairs) != 1 or _text(pairs[0], 0).endswith(":") or not is_header(pairs[0])


def _are_pairs(rows: Sequence[Row]) -> bool:
    """Tell whether rows above a table are names, each with its value, and no table themselves."""
    return max(map(_width, rows)) == 2 and not (len(rows) > 2 and _names_values(rows))


def _has_header(rows: Sequence[Row]) -> bool:
    """Tell whether the first row names the columns, and is none of the records."""
    first, body = rows[0], rows[1:_SAMPLE]
    if not body or _names_values(rows) or (not _text(first, 0) and any(_text(row, 0) for row in body)):
        return True
    kinds = (
        (_kind(_text(first, column)), _usual_kind(body, column)) for column in range(min(len(first), _MOST_COLUMNS))
    )
    return not any(kind == usual and kind in {"number", "quantity", "date"} for kind, usual in kinds)


def _names_values(rows: Sequence[Row]) -> bool:
    """Tell whether the first row has a text, a year or a quantity (100 m) above other values."""
    first, body = rows[0], rows[1:_SAMPLE]
    for column, text in enumerate(first[:_MOST_COLUMNS]):
        kind = _kind(text)
        usual = _usual_kind(body, column) if kind in {"text", "quantity", "year"} else None
        if usual in {"number", "date"} or (kind == "text" and usual in {"quantity", "year"}):
            return True
    return False


def _kind(text: str) -> Literal["text", "number", "quantity", "date", "year"] | None:
    """Return the kind of a cell's text; None where it has no value."""
    text = text.strip()
    if text.lower() in _NOTHING:
        return None
    if _YEAR.fullmatch(text):
        return "year"
    if _DATE.fullmatch(text):
        return "date"
    if _NUMBER.fullmatch(text):
        return "number"
    return "quantity" if _QUANTITY.fullmatch(text) else "text"


def _usual_kind(rows: Sequence[Row], column: int) -> str | None:
    kinds = Counter(kind for row in rows if (kind := _kind(_text(row, column))))
    return kinds.most_common(1)[0][0] if kinds else None


def _is_line(row: Row) -> bool:
    return _width(row) == 1 and bool(_text(row, 0))


def _line(row: Row) -> str:
    """Return a row as a line of text: a name with its value, or all its texts; without the mark of a comment."""
    texts = [text.strip() for text in row if text.strip()]
    if mark := _COMMENT.match(texts[0]):
        return ", ".join([texts[0][mark.end() :], *texts[1:]])
    return f"{texts[0].removesuffix(':')}: {texts[1]}" if len(texts) == 2 else "; ".join(texts)


def _usual_width(rows: Sequence[Row]) -> int:
    """Return the most frequent number of filled cells, and the larger one of two; lines of one cell do not count."""
    widths = Counter(map(_width, rows[:_SAMPLE]))
    return max(widths, key=lambda width: (width > 1, widths[width], width), default=0)


def _width(row: Row) -> int:
    return sum(1 for text in row if text.strip())


def _text(row: Row, column: int) -> str:
    return row[column].strip() if column < len(row) else ""

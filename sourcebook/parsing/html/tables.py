"""Tables of a page: data tables without spans, and layout tables as plain blocks."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import islice

from sourcebook.parsing.html.list_marks import prefix_item
from sourcebook.parsing.html.tree import (
    HEADINGS,
    Element,
    drop,
    found,
    plain_text,
    replace_content,
    subelement,
    text_length,
)
from sourcebook.parsing.text.markdown_writing import LONGEST_REPEATED
from sourcebook.parsing.text.nested_table import nested_table

_PARTS = ("table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup", "col", "center")
_ARRANGES = frozenset({"presentation", "none"})
_MOST_FILLED = 8
_SMALL = 10_000
"""Spans are filled in a table that then has at most 8 times its cells and 10,000 more."""
_MOST_REPEATED = 50
"""Elements of a cell whose content is repeated in the slots that it spans; its copies would cost much otherwise."""

_Slots = list[tuple[Element, bool]]
"""Cells of a row by column, each with the flag whether the cell begins there."""


_CELLS = frozenset({"cell", "gridcell", "columnheader", "rowheader"})


def tidy_tables(root: Element) -> None:
    """Unwrap the tables below `root` that only arrange the page, and fill the spans of the others.

    A layout table has `role=presentation`, a single cell, or holds a table, a heading, or code without a header cell,
    such as a listing beside the numbers of its lines. In a data table, a cell that spans rows or columns is repeated in
    each, rows without text go, and several header rows become one with texts such as `price - adult`.
    """
    _name_tables(root)
    _write_nested_tables(root)
    for table in list(root.iter("table")):
        if _is_layout(table):
            for part in _own_parts(table):
                part.tag = "div"
        else:
            _fill_spans(table)


def _name_tables(root: Element) -> None:
    """Make tables of the elements that are tables by their roles (ARIA), whose cells nothing else parts."""
    for table in found(root, "descendant::*/@role[. = 'table' or . = 'grid']/.."):
        rows = [row for row in table.iter() if row.get("role") == "row"]
        cells = [[cell for cell in row.iter() if cell.get("role") in _CELLS] for row in rows]
        length = sum(text_length(cell) for row in cells for cell in row)
        if table.tag == "table" or not rows or length != text_length(table):
            continue  # a table anyway, or one with text beside its cells, or another table in them
        replace_content(table, "")
        table.tag = "table"
        for held in cells:
            row = subelement(table, "tr")
            for cell in held:
                cell.tag, cell.tail = "th" if cell.get("role") == "columnheader" else "td", None
                row.append(cell)


def _write_nested_tables(root: Element) -> None:
    """Write small tables in the cells of data tables as lines of pairs, from the inside."""
    grids: dict[Element, bool] = {}
    for table in reversed(list(root.iter("table"))):
        outer = next(table.iterancestors("table"), None)
        if outer is not None and outer not in grids:
            grids[outer] = _is_grid(outer)
        if outer is None or not grids[outer] or next(table.iter("table", "pre", *HEADINGS), table) is not table:
            continue
        rows = [[plain_text(cell) for cell in cells] for cells in _own_cells(table)]
        header = {cell.tag for cell in next(table.iter("tr"), table)}
        says_so = next(table.iter("th"), None) is not None
        text = nested_table([row for row in rows if any(row)], has_header=header == {"th"} if says_so else None)
        replace_content(table, text)
        table.tag = "span"


def _own_cells(table: Element) -> list[list[Element]]:
    """Return the cells of a table by row, without those of the tables in it."""
    rows = [row for row in table.iter("tr") if next(row.iterancestors("table"), None) is table]
    return [[cell for cell in row if cell.tag in {"td", "th"}] for row in rows]


def _is_grid(table: Element) -> bool:
    """Tell whether a table that holds others is one of data, and does not arrange the page.

    It has rows of as many cells, most of which hold a short text and no table.
    """
    rows = _own_cells(table)
    cells = [cell for row in rows for cell in row]
    plain = [cell for cell in cells if next(cell.iter("table"), None) is None]
    if len(rows) < 2 or len({len(row) for row in rows}) > 1 or len(rows[0]) < 2 or table.get("role") in _ARRANGES:
        return False
    if any(len(plain_text(cell)) > LONGEST_REPEATED for cell in plain) or next(table.iter(*HEADINGS), None) is not None:
        return False
    says_so = any(cell.tag == "th" for cell in cells) or (table.get("border") or "0") != "0"
    return says_so or sum(bool(plain_text(cell)) for cell in plain) * 4 >= len(cells) * 3


def _is_layout(table: Element) -> bool:
    if table.get("role") in _ARRANGES:
        return True
    if next((inner for inner in table.iter("table", *HEADINGS) if inner is not table), None) is not None:
        return True
    if next(table.iter("pre"), None) is not None and next(table.iter("th"), None) is None:
        return True
    cells = table.iter("td", "th")
    return next(cells, None) is not None and next(cells, None) is None


def _own_parts(table: Element) -> list[Element]:
    """Return the table and its rows and cells, without those of a table within it."""
    found: list[Element] = []
    waiting = [table]
    while waiting:
        element = waiting.pop()
        found.append(element)
        waiting.extend(child for child in element if child.tag in _PARTS and child.tag != "table")
    return found


def _fill_spans(table: Element) -> None:
    rows = list(table.iter("tr"))
    _write_items(table)
    slots = _slots(rows)
    repeated = {id(cell): _template(cell) for cells in slots for cell, begins in cells if begins and _spans(cell)}
    written: list[Element] = []
    headers = 0
    for row, cells in zip(rows, slots, strict=True):
        if not (plain_text(row) or any(plain_text(repeated[id(cell)]) for cell, begins in cells if not begins)):
            drop(row)
            continue
        own = (cell for cell, begins in cells if begins)
        is_header = next(row.iterancestors("thead"), None) is not None or all(cell.tag == "th" for cell in own)
        headers += bool(cells) and is_header and headers == len(written)
        _write_row(row, cells, repeated)
        written.append(row)
    if headers > 1:
        _join(written[:headers])


def _write_items(table: Element) -> None:
    """Mark the items of lists within the line of Markdown that a cell is."""
    for item in list(table.iter("li")):
        previous, parent = item.getprevious(), item.getparent()
        if parent is None or parent.tag != "ol":
            prefix_item(item, "- ")
            item.tag = "span"
        elif previous is None or previous.tag != "li":
            for number, each in enumerate(parent.iterchildren("li"), start=_span(parent, "start")):
                prefix_item(each, f"{number}. ")
        item.tail = f" {item.tail or ''}"
    for item in list(table.iter("li")):
        item.tag = "span"


def _slots(rows: Sequence[Element]) -> list[_Slots]:
    """Return the cells of each row by column, spans filled."""
    # An element around the cells, as in `<tr><form><td>`, hides none of them.
    cells = [[cell for cell in row.iter("td", "th") if next(cell.iterancestors("tr"), None) is row] for row in rows]
    spans = {id(cell): (_span(cell, "colspan"), _span(cell, "rowspan")) for row in cells for cell in row}
    filled = sum(
        spans[id(cell)][0] * min(spans[id(cell)][1], len(rows) - number)
        for number, row in enumerate(cells)
        for cell in row
    )
    if filled > _MOST_FILLED * len(spans) + _SMALL:
        return [[(cell, True) for cell in row] for row in cells]
    found: list[dict[int, tuple[Element, bool]]] = [{} for _ in rows]
    for number, row in enumerate(cells):
        column = 0
        for cell in row:
            while column in found[number]:
                column += 1
            across, down = spans[id(cell)]
            for below in range(number, min(number + down, len(rows))):
                for beside in range(column, column + across):
                    found[below].setdefault(beside, (cell, below == number and beside == column))
    return [[row[column] for column in sorted(row)] for row in found]


def _span(cell: Element, name: str) -> int:
    value = (cell.get(name) or "").strip()
    return min(max(int(value), 1), 1000) if value.isascii() and value.isdecimal() and len(value) < 10 else 1


def _spans(cell: Element) -> bool:
    return _span(cell, "colspan") > 1 or _span(cell, "rowspan") > 1


def _template(cell: Element) -> Element:
    """Return a copy of a cell for the other slots that it spans, without its content where that is long."""
    is_long = (
        len(plain_text(cell)) > LONGEST_REPEATED or next(islice(cell.iter(), _MOST_REPEATED, None), None) is not None
    )
    template = subelement(cell, cell.tag) if is_long else deepcopy(cell)
    if is_long:
        cell.remove(template)
    template.tail = None
    template.set("colspan", "1")
    template.set("rowspan", "1")
    return template


def _write_row(row: Element, cells: _Slots, repeated: Mapping[int, Element]) -> None:
    written: list[Element] = []
    for cell, begins in cells:
        if begins:
            written.append(cell)
            cell.set("colspan", "1")
            cell.set("rowspan", "1")
        else:
            written.append(deepcopy(repeated[id(cell)]))
    for cell in written:
        row.append(cell)


def _join(rows: Sequence[Element]) -> None:
    """Join header rows to the last of them."""
    *above, last = rows
    columns = [[plain_text(cell) for cell in row if cell.tag in {"td", "th"}] for row in rows]
    for cell in list(last):
        drop(cell)
    for number in range(max(map(len, columns))):
        texts = dict.fromkeys(row[number] for row in columns if number < len(row) and row[number])
        subelement(last, "th", " - ".join(texts))
    for row in above:
        drop(row)

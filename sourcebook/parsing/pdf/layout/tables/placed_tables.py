"""Captions of tables, and tables that continue at the top of the next page without their header."""

import re
from collections.abc import Sequence
from dataclasses import replace

from sourcebook.parsing.pdf.layout.elements import Element, Part, Place, PlacedTable, Table

_NUMBER = re.compile(r"\W*\d[\d.,:/\s\-–]*\W*")
_CAPTION_REACH = 40.0
"""Largest distance between a table and its caption, in points [first]."""
_OF_TABLE = re.compile(r"\[?(?:tab|exhibit|표|表|таблица)", re.IGNORECASE)
_LABEL = re.compile(r"\[?\w+\.?\s?(?:[A-Z]?\d+(?:[.\-–]\d+)*|[IVXL]+)\]?[.:]?")
"""Caption that is only a label, such as `Table 3`, whose title is on the next line."""
_NOTE_REACH = 20.0
"""Largest distance between a caption and a note below it, in points [library]."""
_MOST_NOTED = 4
"""Most lines of such a note [library]."""
_NEAR = 4.0
"""Largest distance between the edges of a table's parts, in points [first]."""


def with_captions(found: Sequence[Part]) -> list[Part]:
    """Return the elements, with the captions above and below tables moved into the tables.

    A caption above a table may have a note below it, such as the unit of its numbers, or its title on the next line.
    """
    result: list[Part] = []
    for one in found:
        before = result[-1] if result else None
        if isinstance(one, PlacedTable) and (caption := _above(result, one)):
            del result[-len(caption) :]
            result.append(replace(one, caption=_as_one(caption)))
        elif isinstance(before, PlacedTable) and isinstance(one, Element) and _below(one, before):
            result[-1] = replace(before, caption=one)
        else:
            result.append(one)
    return result


def _above(result: Sequence[Part], table: PlacedTable) -> list[Element]:
    """Return the caption directly above a table, with the note between them; nothing where there is no caption."""
    last = result[-1] if result else None
    if not isinstance(last, Element):
        return []
    if _belongs(last, table):
        return [last]
    caption = result[-2] if len(result) > 1 else None
    if not isinstance(caption, Element) or caption.kind != "caption" or _OF_TABLE.match(caption.text) is None:
        return []
    alone = _LABEL.fullmatch(caption.text) is not None
    note = last.kind in ("paragraph", "footnote") or (alone and last.kind == "heading")
    if not note or last.lines > _MOST_NOTED or not _belongs(replace(last, kind="caption"), table):
        return []
    near = caption.places[-1].page == table.page and -2 <= last.places[0].top - caption.places[-1].bottom < _NOTE_REACH
    return [caption, last] if near else []


def _as_one(parts: Sequence[Element]) -> Element:
    first, last = parts[0], parts[-1]
    return replace(
        first,
        text=" ".join(part.text for part in parts),
        places=tuple(place for part in parts for place in part.places),
        last=last.last,
        lines=sum(part.lines for part in parts),
    )


def with_continued_tables(found: Sequence[Part]) -> list[Part]:
    """Return the elements, with the first table of a page joined to the last table of the page before.

    A part that repeats the header stays a separate table: it is readable alone, and its rows know their page.
    """
    result: list[Part] = []
    for one in found:
        place = len(result) - 1
        while place >= 0 and result[place].kind == "running head":
            place -= 1
        before = result[place] if place >= 0 else None
        if isinstance(one, PlacedTable) and isinstance(before, PlacedTable) and _goes_on(before, one):
            result[place] = _joined(before, one)
        else:
            result.append(one)
    return result


def _goes_on(before: PlacedTable, one: PlacedTable) -> bool:
    upper, lower = before.table, one.table
    last_page = before.more[-1].page if before.more else before.page
    if one.page != last_page + 1 or one.caption is not None or upper.contents or lower.contents:
        return False
    if upper.columns != lower.columns or abs(upper.left - lower.left) > _NEAR or abs(upper.right - lower.right) > _NEAR:
        return False
    # A header has words where the column below it has numbers.
    numbers = _number_columns(upper)
    first = {cell.column for cell in lower.cells if cell.row == 0 and _NUMBER.fullmatch(cell.text)}
    return bool(numbers) and first == numbers


def _number_columns(table: Table) -> set[int]:
    """Return the columns that hold nothing but numbers below the header."""
    body = [cell for cell in table.cells if not cell.header and cell.text]
    return {cell.column for cell in body} - {cell.column for cell in body if not _NUMBER.fullmatch(cell.text)}


def _joined(before: PlacedTable, one: PlacedTable) -> PlacedTable:
    upper, lower = before.table, one.table
    cells = (replace(cell, row=cell.row + upper.rows, header=False) for cell in lower.cells)
    table = replace(upper, cells=(*upper.cells, *cells), rows=upper.rows + lower.rows)
    place = Place(one.page, lower.left, lower.top, lower.right, lower.bottom)
    return replace(before, table=table, more=(*before.more, place))


def _belongs(caption: Element, table: PlacedTable) -> bool:
    if caption.kind != "caption" or table.table.contents or caption.places[-1].page != table.page:
        return False
    return -2 <= table.table.top - caption.places[-1].bottom < _CAPTION_REACH


def _below(caption: Element, table: PlacedTable) -> bool:
    if table.caption is not None or caption.kind != "caption" or caption.page != table.page:
        return False
    return (
        _OF_TABLE.match(caption.text) is not None and -2 <= caption.places[0].top - table.table.bottom < _CAPTION_REACH
    )

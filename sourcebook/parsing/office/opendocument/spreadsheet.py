"""Spreadsheets of OpenDocument: a section a sheet with its tables, drawn text and comments, cells as they are shown.

docling's reader of spreadsheets gives raw values (`0.5` where the sheet shows `50%`), and no names of sheets.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.left_out import LeftOutKind
from sourcebook.parsing.office.opendocument.opendocument_archive import (
    DRAWN,
    PARAGRAPHS,
    qualified,
    repetitions,
    shown_text,
)
from sourcebook.parsing.office.sheet_regions import Position, SheetCells, find_tables
from sourcebook.parsing.text.left_out import LeftOut
from sourcebook.parsing.text.markdown_writing import (
    LONGEST_REPEATED,
    Piece,
    WrittenDocument,
    write_pieces,
)
from sourcebook.parsing.text.table_pieces import table_pieces

_MOST_CELLS: Final = 2_000_000
"""Most filled cells of a spreadsheet, repetitions included."""
_TIME: Final = re.compile(r"PT(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})(?:[.,]\d*)?S)?")
_TABLE, _ROW, _COLUMN, _CELL, _COVERED, _VISIBILITY = (
    qualified(f"table:{name}")
    for name in ("table", "table-row", "table-column", "table-cell", "covered-table-cell", "visibility")
)


_FORMULA, _VALUE_TYPE = qualified("table:formula"), qualified("office:value-type")


@dataclass(slots=True)
class _Sheet:
    shown: SheetCells = field(default_factory=SheetCells)
    drawn: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    left_out: Counter[LeftOutKind] = field(default_factory=Counter)


def read_spreadsheet(root: Any) -> tuple[WrittenDocument, int, LeftOut]:
    """Read every sheet that is not empty; hidden sheets are marked.

    Args:
        root: root of `content.xml`.

    Returns:
        The Markdown, the number of sheets, and the counts of formulas without a value and of words nobody sees.

    Raises:
        ParseError: it has more than two million filled cells.
    """
    hidden = _hidden_styles(root)
    sheets = list(root.iterfind(f"{qualified('office:body')}/{qualified('office:spreadsheet')}/{_TABLE}"))
    left = _MOST_CELLS
    pieces: list[Piece] = []
    left_out: Counter[LeftOutKind] = Counter()
    for page, table in enumerate(sheets, start=1):
        sheet = _Sheet()
        left = _fill(sheet, table, left)
        left_out += sheet.left_out
        content = list(_contents(sheet, page))
        name = " ".join((table.get(qualified("table:name")) or f"Sheet {page}").split())
        mark = " (hidden)" if table.get(qualified("table:style-name")) in hidden else ""
        if content:
            pieces += [Piece("heading", f"## {name}{mark}", page), *content]
    return write_pieces(pieces), len(sheets), LeftOut(counts=left_out)


def _hidden_styles(root: Any) -> set[str]:
    properties = root.iter(qualified("style:table-properties"))
    shown = qualified("table:display")
    return {each.getparent().get(qualified("style:name")) for each in properties if each.get(shown) == "false"}


def _fill(sheet: _Sheet, table: Any, left: int) -> int:
    """Read the cells of a sheet; return the number of cells that may follow in other sheets."""
    row = 1
    for line in _rows(table):
        times = repetitions(line.get(qualified("table:number-rows-repeated")))
        filled = list(_filled(line, sheet.left_out))
        if filled and line.get(_VISIBILITY, "visible") != "visible":
            sheet.shown.hidden_rows.update(range(row, row + times))
        left = _less(left, times * sum(width for _, width, _, _ in filled))
        for number in range(row, row + times) if filled else ():
            for column, width, text, cell in filled:
                for place in range(column, column + width):
                    sheet.shown.texts[number, place] = text
                _note(sheet, number, column, cell)
        row += times
    column = 1
    for each in table.iter(_COLUMN):
        width = repetitions(each.get(qualified("table:number-columns-repeated")))
        if each.get(_VISIBILITY, "visible") != "visible":
            sheet.shown.hidden_columns.update(range(column, column + width))
        column += width
    boxes = (box.iterchildren(*PARAGRAPHS) for box in table.iter(DRAWN))
    sheet.drawn += [text for paragraphs in boxes for each in paragraphs if (text := shown_text(each).strip())]
    return _merge(sheet, table, left)


def _merge(sheet: _Sheet, table: Any, left: int) -> int:
    """Write the text of each merged cell into all its places; return the number of cells that may follow."""
    for (top, first), (bottom, last) in _spans(table):
        text = sheet.shown.texts.get((top, first))
        if text is None:
            continue
        left = _less(left, (bottom - top) * (last - first))
        repeated = text if len(text) <= LONGEST_REPEATED else ""
        for place in product(range(top, bottom), range(first, last)):
            sheet.shown.texts[place] = text if place == (top, first) else repeated
            sheet.shown.merged[place] = top, first
    return left


def _less(left: int, cells: int) -> int:
    if cells > left:
        raise ParseError(
            f"it has more than the {_MOST_CELLS:,} filled cells that are read; split it", FailureClass.TOO_LARGE
        )
    return left - cells


def _rows(table: Any) -> Iterator[Any]:
    """Yield the rows of a table in their order, those of groups and headers included."""
    for child in table.iterchildren(etree.Element):
        if child.tag == _ROW:
            yield child
        elif etree.QName(child).localname in {"table-row-group", "table-header-rows", "table-rows"}:
            yield from _rows(child)


def _cells(line: Any) -> Iterator[tuple[int, int, Any]]:
    """Yield column, repetitions and element of each cell of a row."""
    column = 1
    for cell in line.iterchildren(_CELL, _COVERED):
        width = repetitions(cell.get(qualified("table:number-columns-repeated")))
        yield column, width, cell
        column += width


def _filled(line: Any, left_out: Counter[LeftOutKind]) -> Iterator[tuple[int, int, str, Any]]:
    for column, width, cell in _cells(line):
        if cell.tag != _CELL:
            continue
        lines = (shown_text(paragraph).strip() for paragraph in cell.iterchildren(*PARAGRAPHS))
        text = "\n".join(each for each in lines if each)
        if not text and next(cell.iterchildren(*PARAGRAPHS), None) is None:
            text = _stored(cell)
        if not text and cell.get(_FORMULA) and not cell.get(_VALUE_TYPE):
            left_out["formulas"] += 1
        elif not text and (unseen := _stored(cell)):
            left_out["hidden_words"] += len(unseen.split())
        if text or cell.find(qualified("office:annotation")) is not None:
            yield column, width, text, cell


def _stored(cell: Any) -> str:
    """Return the value of a cell without its shown text, which programs other than offices leave out."""

    def held(name: str) -> str:
        return (cell.get(qualified(f"office:{name}")) or "").strip()

    value = held("value")
    match held("value-type"):
        case "percentage" if value:
            return f"{_number(value, 100)}%"
        case "currency":
            return f"{value} {held('currency')}".strip()
        case "date":
            return held("date-value").removesuffix("T00:00:00").replace("T", " ")
        case "time" if time := _TIME.fullmatch(held("time-value")):
            return f"{int(time[1] or 0):02}:{int(time[2] or 0):02}:{int(time[3] or 0):02}"
        case "boolean":
            return held("boolean-value").upper()
    return held("string-value") or value


def _number(value: str, times: int) -> str:
    try:
        return f"{float(value) * times:.10g}"
    except ValueError:
        return value


def _spans(table: Any) -> Iterator[tuple[Position, Position]]:
    """Yield the first cell of each merged range, and the cell below and right of its last."""
    row = 1
    for line in _rows(table):
        for column, _, cell in _cells(line):
            high = repetitions(cell.get(qualified("table:number-rows-spanned")))
            wide = repetitions(cell.get(qualified("table:number-columns-spanned")))
            if high * wide > 1:
                yield (row, column), (row + high, column + wide)
        row += repetitions(line.get(qualified("table:number-rows-repeated")))


def _note(sheet: _Sheet, row: int, column: int, cell: Any) -> None:
    if not sheet.shown.texts[row, column]:
        del sheet.shown.texts[row, column]  # it holds nothing but its comment
    for annotation in cell.iterchildren(qualified("office:annotation")):
        text = " ".join(" ".join(shown_text(each) for each in annotation.iterchildren(*PARAGRAPHS)).split())
        author = " ".join((annotation.findtext(qualified("dc:creator")) or "").split())
        if text:
            by = f" by {author}" if author else ""
            sheet.comments.append(f"> Comment on {_letters(column)}{row}{by}: {text}")


def _letters(column: int) -> str:
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _contents(sheet: _Sheet, page: int) -> Iterator[Piece]:
    yield from table_pieces(find_tables(sheet.shown), page)
    yield from (Piece("paragraph", text, page) for text in sheet.drawn)
    yield from (Piece("quote", comment, page) for comment in sheet.comments)

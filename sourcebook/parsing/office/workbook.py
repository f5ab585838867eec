"""Workbooks: each sheet is a section with its tables, drawn text, the data of its charts, and comments."""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from docling.backend.msexcel_backend import MsExcelDocumentBackend
from openpyxl.styles.numbers import is_date_format, is_timedelta_format  # type: ignore[import-untyped]
from openpyxl.utils.datetime import from_excel, to_excel  # type: ignore[import-untyped]
from openpyxl.worksheet.worksheet import Worksheet  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.errors import ParseError
from sourcebook.model.document import BlockKind
from sourcebook.model.left_out import LeftOutKind
from sourcebook.parsing.docling.backends import open_backend
from sourcebook.parsing.docling.table_serializer import chart_title, table_text, title_with_values
from sourcebook.parsing.office.cell_text import cell_text
from sourcebook.parsing.office.formula_values import FormulaValues, formula_values
from sourcebook.parsing.office.reduced_workbook import without_extras
from sourcebook.parsing.office.sheet_drawings import drawn_texts
from sourcebook.parsing.office.sheet_regions import Position, SheetCells, find_tables
from sourcebook.parsing.office.table_references import named_tables
from sourcebook.parsing.text.left_out import LeftOut, left_out_of
from sourcebook.parsing.text.markdown_writing import (
    LONGEST_REPEATED,
    Piece,
    WrittenDocument,
    write_pieces,
)
from sourcebook.parsing.text.table_pieces import table_pieces

_THREADED = re.compile(r"^\[Threaded comment\].*?^Comment:\s*", re.DOTALL | re.MULTILINE)
_CODES = re.compile(r'&(?:"[^"]*"|[A-Z]|\d{1,3})')
"""Fields and fonts in the header of a sheet, such as the number of the page."""
_ADDRESS = re.compile(r"(?:https?|mailto|ftp):[^\s()<>]+")


class WorkbookBackend(MsExcelDocumentBackend):
    """docling's reader of workbooks, used for its limits on merged cells and for the data of charts."""

    def charts(self, sheet: Any) -> Iterator[tuple[BlockKind, str]]:
        """Yield the title and the data of each chart on a sheet; docling gives them only with all cells converted."""
        for chart in getattr(sheet, "_charts", ()):
            kinds = [label.value for label in self._chart_classifications(chart)]
            values = self._title_text(getattr(getattr(chart, "y_axis", None), "title", None))
            yield "paragraph", chart_title(kinds, title_with_values(self._title_text(chart.title), [values]))
            data = self._chart_to_table_data(chart)
            if data is not None:
                yield "table", table_text(data, {})


def read_workbook(content: bytes, *, name: str) -> tuple[WrittenDocument, int, LeftOut]:
    """Read every sheet that is not empty; hidden sheets are marked, "very hidden" ones are left out.

    Formulas give the values that the program computed last, or those of a calculation engine where it computed none.

    Returns:
        The Markdown, the number of sheets, and the account of headers, footers and "very hidden" sheets.

    Raises:
        ParseError: docling or openpyxl refuses the file.
    """
    try:
        backend = open_backend(content, WorkbookBackend, name=name, docling_format="xlsx")
    except ParseError:
        backend = open_backend(without_extras(content), WorkbookBackend, name=name, docling_format="xlsx")
    workbook: Any = backend.workbook
    drawn, formulas = drawn_texts(content), formula_values(content, named_tables(workbook))
    uncomputed = sum(_fill_in(workbook[title], values) for title, values in formulas.items())
    sheets = [workbook[title] for title in workbook.sheetnames]
    shown = [_sheet_cells(sheet) if isinstance(sheet, Worksheet) else SheetCells() for sheet in sheets]
    pieces = (
        _sheet_pieces(backend, sheet, cells, page, drawn.get(sheet.title, ()))
        for page, (sheet, cells) in enumerate(zip(sheets, shown, strict=True), start=1)
    )
    written = write_pieces(chain.from_iterable(pieces))
    texts = chain.from_iterable(map(_left_out, sheets, shown))
    counts: dict[LeftOutKind, int] = {
        "formulas": uncomputed,
        "hidden_words": sum(cells.hidden_words for cells in shown),
    }
    return written, len(sheets), replace(left_out_of([*texts], kept=len(written.markdown)), counts=counts)


def _fill_in(sheet: Any, values: FormulaValues) -> int:
    """Give formulas their values and links; return the number of those that are left without a value."""
    cells = _cells(sheet)
    for place, value in values.computed.items():
        cell = cells.get(place) or sheet.cell(*place)
        # The setter would refuse some text, and take some for a formula.
        cell._value = "" if value is None else _typed(value, cell.number_format, sheet.parent.epoch)  # noqa: SLF001
    for place, target in values.links.items():
        if place in cells and cells[place].hyperlink is None:
            cells[place].hyperlink = target
    return sum(value is None for value in values.computed.values())


def _typed(value: object, number_format: str, epoch: dt.datetime) -> object:
    """Return a computed value as the day, time or duration that its number format shows."""
    if not isinstance(value, int | float | dt.date | dt.time) or isinstance(value, bool):
        return value
    if not is_date_format(number_format):
        return value
    days = value if isinstance(value, int | float) else to_excel(value, epoch)
    try:
        return from_excel(days, epoch, timedelta=is_timedelta_format(number_format))
    except (OverflowError, ValueError):  # of a day that no calendar has
        return days


def _left_out(sheet: Any, cells: SheetCells) -> Iterator[str]:
    """Yield headers and footers of a sheet, and all cells of one that its program does not list."""
    for name in ("firstHeader", "oddHeader", "evenHeader", "firstFooter", "oddFooter", "evenFooter"):
        head = getattr(sheet, name, None)
        for part in (head.left, head.center, head.right) if head is not None else ():
            yield _CODES.sub("", part.text or "")
    if sheet.sheet_state == "veryHidden":
        yield from cells.texts.values()


def _sheet_pieces(
    backend: WorkbookBackend, sheet: Any, cells: SheetCells, page: int, drawn: Sequence[str]
) -> list[Piece]:
    if sheet.sheet_state == "veryHidden":
        return []
    content = [
        *table_pieces(find_tables(cells), page),
        *(Piece("paragraph", text, page) for text in drawn),
        *(Piece("quote", comment, page) for comment in _comments(sheet)),
        *(Piece(kind, text, page) for kind, text in backend.charts(sheet)),
    ]
    heading = " ".join(sheet.title.split()) + (" (hidden)" if sheet.sheet_state == "hidden" else "")
    return [Piece("heading", f"## {heading}", page), *content] if content else []


def _sheet_cells(sheet: Any) -> SheetCells:
    """Return the text of each filled cell, with the merged and the hidden ones."""
    found = SheetCells(
        hidden_rows={number for number, row in sheet.row_dimensions.items() if row.hidden},
        hidden_columns={
            number
            for column in sheet.column_dimensions.values()
            if column.hidden
            for number in range(column.min or 0, (column.max or 0) + 1)
        },
    )
    texts = found.texts
    for place, cell in _cells(sheet).items():
        if cell.value is not None:
            text = cell_text(cell.value, cell.number_format)
            texts[place] = _linked(text, cell.hyperlink) if text else ""
            if not text:
                found.hidden_words += len(str(cell.value).split())
    for area in sheet.merged_cells.ranges:
        corner = area.min_row, area.min_col
        if corner not in texts:
            continue
        repeated = texts[corner] if len(texts[corner]) <= LONGEST_REPEATED else ""
        for row in range(area.min_row, area.max_row + 1):
            for column in range(area.min_col, area.max_col + 1):
                if (row, column) != corner:
                    texts[row, column] = repeated
                found.merged[row, column] = corner
    return found


def _cells(sheet: Any) -> dict[Position, Any]:
    """Return the stored cells; openpyxl's iterators walk their bounding rectangle, which may be the whole sheet."""
    cells: dict[Position, Any] = getattr(sheet, "_cells", {})  # there is no public way; a chart's sheet has none
    return cells


def _linked(text: str, hyperlink: Any) -> str:
    target = getattr(hyperlink, "target", None) or ""
    return f"[{text}]({target})" if _ADDRESS.fullmatch(target) and target != text else text


def _comments(sheet: Any) -> Iterator[str]:
    for cell in _cells(sheet).values():
        comment = getattr(cell, "comment", None)
        if comment is None:
            continue
        text = " ".join(_THREADED.sub("", comment.text or "").split())
        author = (comment.author or "").strip()
        by = f" by {author}" if author and not author.startswith("tc=") else ""
        if text:
            yield f"> Comment on {cell.coordinate}{by}: {text}"

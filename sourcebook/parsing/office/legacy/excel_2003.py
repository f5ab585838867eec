"""Workbooks of Excel 2003 in one XML file ("XML Spreadsheet"), rewritten as .xlsx for the reader of sheets."""

from collections.abc import Iterator
from datetime import datetime, time
from io import BytesIO
from typing import Any, Final

from openpyxl import Workbook  # type: ignore[import-untyped] # its stubs are a package of their own
from openpyxl.comments import Comment  # type: ignore[import-untyped]

from sourcebook.errors import FailureClass, ParseError
from sourcebook.parsing.markup.xml_tree import descendants, elements, first_of, local_name, words_of
from sourcebook.parsing.office.legacy.excel import LONGEST_CELL, MOST_MERGED, NOT_IN_NAMES, printable

_SS: Final = "{urn:schemas-microsoft-com:office:spreadsheet}"
_STATES: Final = {"SheetHidden": "hidden", "SheetVeryHidden": "veryHidden"}
_LAST_ROW, _LAST_COLUMN = 1_048_576, 16_384
_FORMATS: Final = {
    "General Number": "General", "Fixed": "0.00", "Standard": "#,##0.00", "Percent": "0.00%", "Scientific": "0.00E+00",
    "Currency": '"$"#,##0.00', "Euro Currency": "#,##0.00 [$€-1]", "Short Date": "yyyy-mm-dd", "Short Time": "h:mm",
    "General Date": "yyyy-mm-dd h:mm", "Medium Date": "yyyy-mm-dd", "Long Date": "yyyy-mm-dd", "Medium Time": "h:mm",
    "Long Time": "h:mm:ss", "Yes/No": '"Yes";"Yes";"No"', "True/False": '"True";"True";"False"',
    "On/Off": '"On";"On";"Off"',
}  # fmt: skip
"""Number formats by the names that stand for them."""
_DAY_ZERO: Final = 1899


def xlsx_of_xml(root: Any) -> bytes:
    """Rewrite a workbook: values with their number formats, merged cells, links, comments, hidden rows and sheets.

    Formulas keep the value that the program computed last.

    Raises:
        ParseError: it has no sheet.
    """
    if local_name(root) != "Workbook":
        raise ParseError("it is XML, but no workbook; check its file name", FailureClass.UNSUPPORTED)
    formats = _formats(root)
    written = Workbook(iso_dates=False)
    blank = written.active
    for sheet in descendants(root, "Worksheet"):
        title = NOT_IN_NAMES.sub(" ", printable(sheet.get(f"{_SS}Name") or "Sheet"))
        target = written.create_sheet(title)
        options = first_of(sheet, "WorksheetOptions")
        target.sheet_state = _STATES.get(words_of(None if options is None else first_of(options, "Visible")), "visible")
        for table in descendants(sheet, "Table"):
            _copy(table, target, formats)
    if any(sheet.sheet_state == "visible" for sheet in written.worksheets if sheet is not blank):
        written.remove(blank)
    target_file = BytesIO()
    written.save(target_file)
    return target_file.getvalue()


def _formats(root: Any) -> dict[str, str]:
    """Return the number formats of styles; one whose parent is written before it takes that of the parent."""
    found: dict[str, str] = {}
    for style in descendants(root, "Style"):
        stated = next(descendants(style, "NumberFormat"), None)
        own = stated.get(f"{_SS}Format") if stated is not None else None
        inherited = found.get(style.get(f"{_SS}Parent") or "", "General")
        found[style.get(f"{_SS}ID") or ""] = _FORMATS.get(own, own) if own else inherited
    return found


def _copy(table: Any, target: Any, formats: dict[str, str]) -> None:
    for number, row in _placed(table, "Row", _LAST_ROW):
        if row.get(f"{_SS}Hidden") == "1":
            target.row_dimensions[number].hidden = True
        for column, cell in _placed(row, "Cell", _LAST_COLUMN):
            _write(cell, target, number, column, formats.get(cell.get(f"{_SS}StyleID") or "", "General"))
    for number, column in _placed(table, "Column", _LAST_COLUMN):
        if column.get(f"{_SS}Hidden") == "1":
            for each in range(number, min(number + _integer(column, "Span"), _LAST_COLUMN) + 1):
                target.column_dimensions[target.cell(1, each).column_letter].hidden = True


def _placed(parent: Any, name: str, last: int) -> Iterator[tuple[int, Any]]:
    """Yield the rows, columns or cells of an element with their numbers, which count on unless they say another."""
    number = 0
    for child in elements(parent):
        if local_name(child) != name:
            continue
        number = _integer(child, "Index") or number + 1
        if number > last:
            return
        yield number, child
        number += _integer(child, "Span" if name != "Cell" else "MergeAcross")


def _write(cell: Any, target: Any, row: int, column: int, number_format: str) -> None:
    data, remark = first_of(cell, "Data"), first_of(cell, "Comment")
    written = target.cell(row, column)
    if data is not None:
        text = printable("".join(data.itertext()))[:LONGEST_CELL]
        written.value = _value(text, data.get(f"{_SS}Type") or "String")
        if isinstance(written.value, str):
            written.data_type = "s"  # also where it begins with "="
        elif not (isinstance(written.value, datetime | time) and number_format == "General"):
            written.number_format = number_format
    if link := cell.get(f"{_SS}HRef"):
        written.hyperlink = printable(link)
    if remark is not None:
        written.comment = Comment(printable(words_of(remark)), printable(remark.get(f"{_SS}Author") or ""))
    across, down = _integer(cell, "MergeAcross"), _integer(cell, "MergeDown")
    if 0 < (across + 1) * (down + 1) - 1 < MOST_MERGED:
        target.merge_cells(start_row=row, end_row=row + down, start_column=column, end_column=column + across)


def _value(text: str, kind: str) -> str | float | bool | datetime | time:
    try:
        match kind:
            case "Number":
                number = float(text)
                return int(number) if number.is_integer() and abs(number) < 1e15 else number
            case "Boolean":
                return text.strip() == "1"
            case "DateTime":
                moment = datetime.fromisoformat(text.strip())
                return moment.time() if moment.year == _DAY_ZERO else moment
    except ValueError:
        pass
    return text


def _integer(element: Any, name: str) -> int:
    value = element.get(f"{_SS}{name}") or ""
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 9 else 0

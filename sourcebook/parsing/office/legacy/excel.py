"""Workbooks of the old binary Excel format (.xls), rewritten as .xlsx: xlrd reads, openpyxl writes."""

import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from io import BytesIO, StringIO
from typing import Any, Final

import xlrd  # type: ignore[import-untyped] # its stubs are a package of their own
from olefile import OleFileIO  # type: ignore[import-untyped] # its stubs are a package of their own
from openpyxl import Workbook  # type: ignore[import-untyped] # its stubs are a package of their own
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE  # type: ignore[import-untyped]
from openpyxl.comments import Comment  # type: ignore[import-untyped]
from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH  # type: ignore[import-untyped]

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import JsonValue
from sourcebook.parsing.text.decode import decode
from sourcebook.parsing.text.titles import is_title

# Errors of xlrd for a damaged file, apart from its own.
_DAMAGED: Final = (ValueError, LookupError, TypeError, AttributeError, AssertionError, OSError, struct.error)
_VISIBILITY: Final = ("visible", "hidden", "veryHidden")
LONGEST_CELL: Final = 32_767
"""Characters that Excel stores in a cell."""
MOST_MERGED: Final = 10_000
"""Merged cells of one range beyond which the range ends with the last cell that has a value; it costs memory."""
NOT_IN_NAMES: Final = re.compile(r"[\\*?:/\[\]]")
"""Characters that Excel refuses in the name of a sheet, and other programs write."""
_PROPERTIES: Final = {
    "title": "title",
    "author": "author",
    "create_time": "created",
    "last_saved_time": "modified",
    "subject": "subject",
    "comments": "description",
    "keywords": "keywords",
    "category": "category",
}
"""Names of olefile, each with the name in a document's metadata."""


def xlsx_of_xls(content: bytes) -> bytes:
    """Rewrite a workbook: values with their number formats, merged cells, links and comments.

    Formulas keep the value that the program computed last. Charts are left out.

    Raises:
        ParseError: the file is damaged or protected by a password.
    """
    try:
        book = xlrd.open_workbook(file_contents=content, formatting_info=True, ragged_rows=True, logfile=StringIO())
        written = Workbook(iso_dates=False)
        if any(sheet.visibility == 0 for sheet in book.sheets()):  # a chart, which is left out, may be all that shows
            written.remove(written.active)
        written.epoch = MAC_EPOCH if book.datemode else WINDOWS_EPOCH
        for sheet in book.sheets():
            _copy(book, sheet, written.create_sheet(NOT_IN_NAMES.sub(" ", printable(sheet.name))))
        target = BytesIO()
        written.save(target)
    except (xlrd.XLRDError, xlrd.compdoc.CompDocError, *_DAMAGED) as error:
        if "encrypted" in str(error):
            raise ParseError("it is protected by a password; save a copy without one", FailureClass.PASSWORD) from error
        raise ParseError(
            "the file is damaged or cut off; copy it again, or open and save it", FailureClass.CORRUPT
        ) from error
    return target.getvalue()


_NEVER: Final = 1601
"""Year of a date that is not set."""
_UTF8: Final = 65001


def ole_properties(content: bytes) -> dict[str, JsonValue]:
    """Return the properties of an OLE file under the names that `read_properties` uses."""
    found: dict[str, JsonValue] = {}
    with suppress(*_DAMAGED), OleFileIO(content) as ole:
        metadata = ole.get_metadata()
        for name, target in _PROPERTIES.items():
            value = getattr(metadata, name)
            if isinstance(value, bytes):
                found[target] = " ".join(_decoded(value, metadata.codepage).split())
            elif isinstance(value, datetime) and value.year > _NEVER:
                found[target] = f"{value:%Y-%m-%dT%H:%M:%SZ}"
    if isinstance(words := found.get("keywords"), str):
        found["keywords"] = [word.strip() for word in re.split("[;,]", words) if word.strip()]
    if isinstance(title := found.get("title"), str) and not is_title(title):
        del found["title"]
    return {name: value for name, value in found.items() if value}


def _decoded(value: bytes, code_page: object) -> str:
    """Return a property in the code page that the file states; a guess where it states none, or another one."""
    try:
        return value.decode(f"cp{code_page}" if code_page != _UTF8 else "utf-8")
    except (LookupError, UnicodeDecodeError):
        return decode(value).text


def _copy(book: Any, sheet: Any, target: Any) -> None:
    target.sheet_state = _VISIBILITY[min(sheet.visibility, 2)]
    for row, column, cell in _cells(sheet):
        written = target.cell(row + 1, column + 1)
        match cell.ctype:
            case xlrd.XL_CELL_TEXT:
                written.value = printable(cell.value)[:LONGEST_CELL]
                written.data_type = "s"  # also where it begins with "="
            case xlrd.XL_CELL_ERROR:
                written.value = xlrd.error_text_from_code.get(cell.value, "#VALUE!")
            case xlrd.XL_CELL_BOOLEAN:
                written.value = bool(cell.value)
            case _:
                written.value = cell.value
                written.number_format = book.format_map[book.xf_list[cell.xf_index].format_key].format_str
        link = sheet.hyperlink_map.get((row, column))
        if link is not None and link.url_or_path and isinstance(link.url_or_path, str):
            written.hyperlink = printable(link.url_or_path)
    for (row, column), note in sheet.cell_note_map.items():
        target.cell(row + 1, column + 1).comment = Comment(printable(note.text), printable(note.author or ""))
    last_row, last_column = target.max_row, target.max_column
    for top, bottom, left, right in sheet.merged_cells:
        if (bottom - top) * (right - left) > MOST_MERGED:
            bottom, right = max(min(bottom, last_row), top + 1), max(min(right, last_column), left + 1)
        target.merge_cells(start_row=top + 1, end_row=bottom, start_column=left + 1, end_column=right)


def _cells(sheet: Any) -> Iterator[tuple[int, int, Any]]:
    for row in range(sheet.nrows):
        for column in range(sheet.row_len(row)):
            cell = sheet.cell(row, column)
            if cell.ctype not in {xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK}:
                yield row, column, cell


def printable(text: str) -> str:
    printable: str = ILLEGAL_CHARACTERS_RE.sub("", text)
    return printable

"""Workbooks of the old Excel format are read like .xlsx, without LibreOffice."""

from contextlib import suppress
from datetime import UTC, date, datetime, time
from io import BytesIO
from time import process_time

import pytest
import xlwt  # type: ignore[import-untyped] # has no types
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import OLE, XLS
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover


def workbook() -> bytes:
    """A workbook with a value of every kind, merged cells and hidden sheets."""
    book = xlwt.Workbook()
    sheet = book.add_sheet("Sales 2024")
    for column, name in enumerate(("Item", "Price", "Share", "Day", "At", "Span", "OK")):
        sheet.write(0, column, name)
    values: list[tuple[object, str]] = [
        ("Wüdget", "General"),
        (1234.5, '#,##0.00 "EUR"'),
        (0.125, "0.0%"),
        (date(2024, 5, 6), "yyyy-mm-dd"),
        (datetime(2024, 5, 6, 14, 30, tzinfo=UTC).replace(tzinfo=None), "dd.mm.yyyy hh:mm"),
        (1.5, "[h]:mm"),
        (True, "General"),
    ]
    for column, (value, number_format) in enumerate(values):
        sheet.write(1, column, value, xlwt.easyxf(num_format_str=number_format))
    sheet.write_merge(2, 2, 0, 2, "merged")
    sheet.write(2, 3, "=no formula")
    sheet.write(2, 4, time(9, 5), xlwt.easyxf(num_format_str="hh:mm"))
    for name, visibility in (("Drafts", 1), ("Internals", 2)):
        hidden = book.add_sheet(name)
        hidden.write(0, 0, f"in {name}")
        hidden.visibility = visibility
    return saved(book)


def saved(book: xlwt.Workbook) -> bytes:
    target = BytesIO()
    book.save(target)
    return target.getvalue()


WORKBOOK = workbook()


def read(content: bytes, media_type: str = XLS) -> ParsedDocument:
    return parse(content, name="a.xls", media_type=media_type)


@pytest.mark.parametrize("media_type", [XLS, OLE])
def test_values_show_as_the_program_shows_them(media_type: str) -> None:
    """Numbers and dates by their formats, merged cells everywhere they reach, hidden sheets marked."""
    document = read(WORKBOOK, media_type)
    assert_blocks_cover(document)
    assert document.markdown == (
        "## Sales 2024\n\n"
        "| Item | Price | Share | Day | At | Span | OK |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
        "| Wüdget | 1,234.50 EUR | 12.5% | 2024-05-06 | 2024-05-06 14:30 | 36:00 | TRUE |\n"
        "| merged | merged | merged | =no formula | 09:05 |  |  |\n\n"
        "## Drafts (hidden)\n\nin Drafts\n"
    )
    assert document.page_count == 3
    assert document.title is None


def test_the_time_of_reading_is_no_metadata() -> None:
    """A workbook without properties has none."""
    assert [*read(WORKBOOK).metadata] == ["left_out"]  # its sheet that no menu shows


def test_a_sheet_of_any_name_is_read() -> None:
    """Programs other than Excel write names with a colon or a slash."""
    book = xlwt.Workbook()
    sheet = book.add_sheet("Sheet")
    sheet.name = "2024/05: [in] EUR?"
    sheet.write(0, 0, "paid")
    assert "paid" in read(saved(book)).markdown


def test_a_hidden_sheet_alone_is_read() -> None:
    """A chart may be the only sheet that shows."""
    book = xlwt.Workbook()
    sheet = book.add_sheet("Data")
    sheet.write(0, 0, "paid")
    sheet.visibility = 1
    assert read(saved(book)).markdown == "## Data (hidden)\n\npaid\n"


def test_hidden_rows_and_columns_are_marked() -> None:
    """As in newer workbooks, and texts have their number format, too."""
    book = xlwt.Workbook()
    sheet = book.add_sheet("Pay")
    rows: list[list[str | int]] = [["Name", "Pay", "Town"], ["Ada", 3, "Oslo"], ["Bo", 4, "Rome"]]
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            sheet.write(row, column, text)
    sheet.write(3, 0, "Cy", xlwt.easyxf(num_format_str='0;0;0;"Mr. "@'))
    sheet.row(2).hidden = sheet.col(1).hidden = True
    table = read(saved(book)).markdown
    assert "| Name | Pay (hidden) | Town |\n" in table
    assert "| Bo (hidden) | 4 | Rome |\n| Mr. Cy |" in table


def test_cells_far_apart_and_large_merged_ranges_cost_little() -> None:
    """The empty cells between two values, and those of a merged range, are not read one by one."""
    book = xlwt.Workbook()
    sheet = book.add_sheet("Sheet")
    sheet.write(0, 0, "near")
    sheet.write(60_000, 255, "far")
    merged = book.add_sheet("Merged")
    merged.write_merge(0, 20_000, 0, 20, "wide")
    started = process_time()
    document = read(saved(book))
    assert process_time() - started < 10
    assert all(word in document.markdown for word in ("near", "far", "wide"))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, len(WORKBOOK) - 1), st.binary(min_size=1, max_size=40)), min_size=1, max_size=6)
)
def test_damaged_workbooks_are_read_or_refused(changes: list[tuple[int, bytes]]) -> None:
    """Changed bytes give a document or a reason."""
    content = bytearray(WORKBOOK)
    for place, written in changes:
        content[place : place + len(written)] = written
    with suppress(ParseError):
        assert_blocks_cover(read(bytes(content)))

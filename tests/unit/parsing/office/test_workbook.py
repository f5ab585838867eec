"""Workbooks: cells as a person sees them, tables where they stand."""

import datetime as dt
import re
import time

import openpyxl  # type: ignore[import-untyped] # its stubs are a package of their own
import pytest
from openpyxl.chart import BarChart, Reference  # type: ignore[import-untyped]
from openpyxl.comments import Comment  # type: ignore[import-untyped]

from sourcebook.parsing.office.cell_text import cell_text
from tests.unit.parsing.covering import texts
from tests.unit.parsing.office.office_files import changed, parse_named, saved


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (0.1 + 0.2, "General", "0.3"),
        (45123.0, "General", "45123"),
        (1234567, "General", "1234567"),
        (1e21, "General", "1e+21"),
        (1234.5, "#,##0.00", "1,234.50"),
        (1234.5, "0", "1234"),
        (2.5, "0.0##", "2.5"),
        (0.1234, "0.0%", "12.3%"),
        (-5.5, "#,##0.00;(#,##0.00)", "(5.50)"),
        (-5.5, "0.00;[Red]-0.00", "-5.50"),
        (-0.001, "0.00", "0.00"),
        (12.5, '#,##0.00 "EUR"', "12.50 EUR"),
        (12, "[$€-407] #,##0", "€ 12"),
        (1500000, '0.0,,"M"', "1.5M"),
        (1234567, '#,##0,"k"', "1,235k"),
        (1234567, "0,", "1235"),
        (123, "00000", "00123"),
        (-7.5, "000.0", "-007.5"),
        (5551234, "000-0000", "5551234"),
        (0.5, "# ?/?", "0.5"),
        (float("inf"), "0.00", "inf"),
        (10**400, "0.00", "########"),
        (True, "General", "TRUE"),
        (dt.datetime(2024, 5, 6), "dd/mm/yy", "2024-05-06"),  # noqa: DTZ001 - workbooks know no zones
        (dt.datetime(2024, 5, 6, 13, 30), "dd/mm/yy hh:mm", "2024-05-06 13:30"),  # noqa: DTZ001
        (dt.time(9, 5), "hh:mm", "09:05"),
        (dt.timedelta(hours=26, minutes=3), "[h]:mm", "26:03"),
        ("text ", "@", "text"),
        (None, "General", ""),
    ],
)
def test_cells_read_as_a_person_sees_them(value: object, number_format: str, shown: str) -> None:
    """Formats are followed, binary noise is not shown, dates are unambiguous."""
    assert cell_text(value, number_format) == shown


def test_tables_stand_where_cells_touch() -> None:
    """A gap parts two tables; a lone line above a header is text; merged cells are said in every row."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet["A1"] = "Report 2024"
    sheet.append(["team", "name", "days"])
    sheet.append(["red", "Ada", 3])
    sheet.append([None, "Bo", 4])
    sheet.merge_cells("A3:A4")
    sheet["E1"], sheet["F1"], sheet["E2"], sheet["F2"] = "k", "v", "a", 1
    sheet["A9"] = "a remark"
    assert texts(parse_named("a.xlsx", saved(workbook))) == [
        "## Sheet",
        "Report 2024",
        "| team | name | days |\n| --- | --- | --- |\n| red | Ada | 3 |\n| red | Bo | 4 |",
        "| k | v |\n| --- | --- |\n| a | 1 |",
        "a remark",
    ]


def test_a_row_above_numbers_stays_the_header() -> None:
    """A header with a single cell is not taken for a line above the table."""
    workbook = openpyxl.Workbook()
    for row in (["name", None], ["Ada", 3], ["Bo", 4]):
        workbook.active.append(row)
    assert texts(parse_named("a.xlsx", saved(workbook)))[1].splitlines()[0] == "| name |  |"


def test_hidden_and_empty_sheets() -> None:
    """A hidden sheet is marked, one hidden from the menus too is left out, an empty one makes no noise."""
    workbook = openpyxl.Workbook()
    for name, state in (("Shown", "visible"), ("Hidden", "hidden"), ("Very", "veryHidden")):
        sheet = workbook.create_sheet(name)
        sheet.append(["a", "b"])
        sheet.sheet_state = state
    parsed = parse_named("a.xlsx", saved(workbook))
    assert [(block.title, block.page) for block in parsed.blocks if block.kind == "heading"] == [
        ("Shown", 2),
        ("Hidden (hidden)", 3),
    ]


def test_what_a_workbook_leaves_out_is_counted() -> None:
    """Headers and footers of sheets, without their codes, and the cells of sheets that no menu shows."""
    workbook = openpyxl.Workbook()
    workbook.active.append(["a", "b"])
    workbook.active.oddHeader.center.text = "Company &D"
    workbook.active.oddFooter.right.text = "Page &P of &N"
    sheet = workbook.create_sheet("Very")
    sheet.append(["secret", "list"])
    sheet.sheet_state = "veryHidden"
    parsed = parse_named("a.xlsx", saved(workbook))
    left_out = parsed.metadata["left_out"]
    assert isinstance(left_out, dict)
    assert (left_out["rows"], left_out["texts"]) == (4, ["Company", "Page of", "secret", "list"])


def test_comments_links_and_charts() -> None:
    """A comment names its cell, a link keeps its target, a chart gives its data."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (["region", "sales"], ["east", 1], ["west", 2]):
        sheet.append(row)
    sheet["A2"].hyperlink = "https://example.org/east"
    sheet["B3"].comment = Comment("estimated", "Ada")
    chart = BarChart()
    chart.title = "Sales"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    chart.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=3))
    sheet.add_chart(chart, "E5")
    assert texts(parse_named("a.xlsx", saved(workbook)))[1:] == [
        "| region | sales |\n| --- | --- |\n| [east](https://example.org/east) | 1 |\n| west | 2 |",
        "> Comment on B3 by Ada: estimated",
        "Bar chart: Sales",
        "|  | sales |\n| --- | --- |\n| east | 1 |\n| west | 2 |",
    ]


def test_formulas_give_their_last_value() -> None:
    """Not the formula, and nothing is computed."""
    workbook = openpyxl.Workbook()
    workbook.active.append(["sum", "=1+1"])

    def computed(xml: bytes) -> bytes:
        return re.sub(rb"<v></v>|<v ?/>", b"<v>2</v>", xml)

    content = changed(saved(workbook), {"xl/worksheets/sheet1.xml": computed})
    assert "| sum | 2 |" in parse_named("a.xlsx", content).markdown


def test_the_size_of_a_sheet_costs_nothing() -> None:
    """Only the cells there are count: not one in the last corner, one merged over all, or an L of them."""
    started = time.monotonic()
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for number in range(1, 1500):
        sheet.cell(1, number).value = "across"
        sheet.cell(number, 1).value = "down"
    sheet["XFD1048576"] = "corner"
    merged = b'</sheetData><mergeCells count="1"><mergeCell ref="B2:XFD1048576"/></mergeCells>'
    content = saved(workbook)
    parsed = parse_named("a.xlsx", content)
    assert parsed.markdown.count("across") == 1498
    assert texts(parsed)[-1] == "corner"
    bomb = changed(content, {"xl/worksheets/sheet1.xml": lambda xml: xml.replace(b"</sheetData>", merged)})
    assert "across" in parse_named("a.xlsx", bomb).markdown
    assert time.monotonic() - started < 30


def test_twenty_thousand_rows() -> None:
    """A long sheet is one table, in time that grows with its cells."""
    workbook = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet("Long")
    sheet.append(["a", "b"])
    for number in range(20_000):
        sheet.append([number, "x"])
    started = time.monotonic()
    parsed = parse_named("a.xlsx", saved(workbook))
    assert parsed.markdown.count("\n") == 20_004
    assert time.monotonic() - started < 30

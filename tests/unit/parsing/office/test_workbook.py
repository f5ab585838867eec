"""Workbooks: cells as a person sees them, tables where they stand."""

import time

import openpyxl  # type: ignore[import-untyped] # its stubs are a package of their own
from openpyxl.chart import BarChart, Reference  # type: ignore[import-untyped]
from openpyxl.comments import Comment  # type: ignore[import-untyped]

from tests.unit.parsing.covering import texts
from tests.unit.parsing.office.office_files import changed, parse_named, saved


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


def test_rows_below_a_blank_one_go_on_with_the_table() -> None:
    """Totals keep their header; rows with a header of their own, and lines of one cell, do not belong to it."""
    workbook = openpyxl.Workbook()
    rows = [["Ship", "Captain", "Toll"], ["Skarv", "Torkel", 90], [None], ["Ruth", "Bo", 95], ["Sum", None, 185],
            [None], ["Port", "Keeper", "Depth"], ["Velling", "Ada", 7], [None], ["Printed in March"]]  # fmt: skip
    for row in rows:
        workbook.active.append(row)
    assert texts(parse_named("a.xlsx", saved(workbook)))[1:] == [
        "| Ship | Captain | Toll |\n| --- | --- | --- |\n| Skarv | Torkel | 90 |\n| Ruth | Bo | 95 |\n| Sum |  | 185 |",
        "| Port | Keeper | Depth |\n| --- | --- | --- |\n| Velling | Ada | 7 |",
        "Printed in March",
    ]


def test_hidden_rows_and_columns_are_marked() -> None:
    """The first text of a hidden row, and the header of a hidden column, below the lines above the table."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (["Pay of the crew"], ["Name", "Pay", "Town"], ["Ada", 3, "Oslo"], ["Bo", 4, "Rome"]):
        sheet.append(row)
    sheet.row_dimensions[4].hidden = True
    sheet.column_dimensions["B"].hidden = True
    assert texts(parse_named("a.xlsx", saved(workbook)))[1:] == [
        "Pay of the crew",
        "| Name | Pay (hidden) | Town |\n| --- | --- | --- |\n| Ada | 3 | Oslo |\n| Bo (hidden) | 4 | Rome |",
    ]


def test_a_header_merged_over_columns_is_one_with_the_row_below() -> None:
    """Each column of a passage far down has both its names."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (["Fish", "Spring", None, "Autumn"], [None, "Plan", "Catch", "Plan"], ["Cod", 1, 2, 3]):
        sheet.append(row)
    sheet.merge_cells("A1:A2")
    sheet.merge_cells("B1:C1")
    header = texts(parse_named("a.xlsx", saved(workbook)))[1].splitlines()[0]
    assert header == "| Fish | Spring - Plan | Spring - Catch | Autumn - Plan |"


def test_an_empty_column_parts_two_tables_but_no_column_from_its_table() -> None:
    """A single column with the same rows is a part; a title merged over columns is a line."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (
        ["Tasks of the week"],
        [],
        ["Task", None, "Owner", "Pay"],
        ["Paint", None, "Ada", 3],
        ["Row", None, "Bo", 4],
    ):
        sheet.append(row)
    sheet.merge_cells("A1:D1")
    assert texts(parse_named("a.xlsx", saved(workbook)))[1:] == [
        "Tasks of the week",
        "| Task | Owner | Pay |\n| --- | --- | --- |\n| Paint | Ada | 3 |\n| Row | Bo | 4 |",
    ]


def test_a_cell_whose_format_shows_nothing_is_counted() -> None:
    """Its words are not in the text, and nobody is left to think that there are none."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (["Kind", "Value"], ["secret", 777], ["remark", "two words"]):
        sheet.append(row)
    sheet["B2"].number_format = sheet["B3"].number_format = ";;;"
    parsed = parse_named("a.xlsx", saved(workbook))
    assert "777" not in parsed.markdown
    assert parsed.metadata["left_out"] == {"hidden_words": 3}


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
    chart.title, chart.y_axis.title = "Sales", "crowns"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    chart.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=3))
    sheet.add_chart(chart, "E5")
    assert texts(parse_named("a.xlsx", saved(workbook)))[1:] == [
        "| region | sales |\n| --- | --- |\n| [east](https://example.org/east) | 1 |\n| west | 2 |",
        "> Comment on B3 by Ada: estimated",
        "Bar chart: Sales (crowns)",
        "|  | sales |\n| --- | --- |\n| east | 1 |\n| west | 2 |",
    ]


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

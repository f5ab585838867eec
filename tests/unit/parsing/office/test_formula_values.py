"""Formulas whose value no program has stored are computed, or left out and counted; a stored 0 is no fact."""

import datetime as dt
import re

import openpyxl  # type: ignore[import-untyped] # its stubs are a package of their own
import pytest

from sourcebook.model.document import ParsedDocument
from tests.unit.parsing.covering import texts
from tests.unit.parsing.office.office_files import changed, parse_named, saved


def stored(value: bytes, *, asks: bool, formulas: tuple[str, ...] = ("=100*1.25", "=SUM(B1:B1)")) -> ParsedDocument:
    """Return a workbook of formulas for which a program has stored a value."""
    workbook = openpyxl.Workbook()
    for row, formula in enumerate(formulas, start=1):
        workbook.active.append([f"row {row}", formula])
    parts = {
        "xl/worksheets/sheet1.xml": lambda xml: re.sub(rb"<v></v>|<v ?/>", b"<v>%s</v>" % value, xml),
        "xl/workbook.xml": lambda xml: xml if asks else xml.replace(b'fullCalcOnLoad="1"', b""),
    }
    return parse_named("a.xlsx", changed(saved(workbook), parts))


def test_a_stored_value_is_believed() -> None:
    """Not the formula: the program has computed it, and did not ask for another computation."""
    assert "| row 1 | 7 |" in stored(b"7", asks=False).markdown


@pytest.mark.parametrize(("value", "asks"), [(b"0", True), (b"0", False), (b"7", True), (b"", True), (b"", False)])
def test_a_value_that_no_program_computed_is(value: bytes, asks: bool) -> None:
    """Programs store 0 or nothing, or leave old values, and ask for all to be computed when the file is opened."""
    parsed = stored(value, asks=asks)
    assert "| row 1 | 125 |" in parsed.markdown
    assert "| row 2 | 125 |" in parsed.markdown
    assert "left_out" not in parsed.metadata


def test_what_cannot_be_computed_is_counted() -> None:
    """Unknown functions, other workbooks and circles; all other formulas have their value."""
    parsed = stored(
        b"0", asks=True, formulas=("=MACRO(1)", "=[1]Other!A1", "=B4", "=B3", "=1/0", '=IF(1,"","x")', "=3")
    )
    values = [line.rpartition(" | ")[2].removesuffix("|").strip() for line in texts(parsed)[1].splitlines()]
    assert values == ["", "---", "", "", "", "#DIV/0!", "", "3"]
    assert parsed.metadata["left_out"] == {"formulas": 4}
    assert "| row 1 | 7 |" in stored(b"7", asks=True, formulas=("=MACRO(1)",)).markdown


def test_computed_values_are_shown_in_their_format() -> None:
    """Days, durations, shares and labels of links; today is the day on which the workbook was saved."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    link = '=HYPERLINK("https://example.org/a?b=1&c=2","Manual of the pump")'
    for row in (["day", dt.date(2026, 3, 1)], ["next", "=B1+1"], ["long", "=TIME(20,0,0)*2"], ["share", "=1/4"],
                ["link", link], ["today", "=TODAY()"], ["far", 1]):  # fmt: skip
        sheet.append(row)
    sheet["B2"].number_format = sheet["B6"].number_format = "dd/mm/yyyy"
    sheet["B3"].number_format, sheet["B4"].number_format = "[h]:mm", "0%"
    sheet["XFD1"] = "a wide sheet"
    content = changed(
        saved(workbook), {"docProps/core.xml": lambda xml: re.sub(rb"\d{4}-\d\d-\d\dT", b"2026-03-15T", xml)}
    )
    (table,) = [text for text in texts(parse_named("a.xlsx", content)) if "share" in text]
    assert [line.split(" | ")[1].removesuffix(" |") for line in table.splitlines()[2:]] == [
        "2026-03-01", "2026-03-02", "40:00", "25%",
        "[Manual of the pump](https://example.org/a?b=1&c=2)", "2026-03-15", "1",
    ]  # fmt: skip


def test_a_formula_fills_the_cells_of_its_array() -> None:
    """The other cells, for which a program stores 0 or nothing, too."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for number in (5, 6, 7):
        sheet.append(["x", number])
    sheet["C1"] = openpyxl.worksheet.formula.ArrayFormula("C1:C3", "=B1:B3*2")
    assert "| x | 7 | 14 |" in parse_named("a.xlsx", saved(workbook)).markdown


def test_formulas_name_columns_of_tables() -> None:
    """A row of totals, its own row, and a table of another sheet, in the notations of Excel and of XlsxWriter."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (["Item", "Qty", "Twice"], ["A", 1, "=[[#This Row],Qty]*2"], ["B", 2, "=Goods[[#This Row],[Qty]]*2"],
                ["Sum", "=SUBTOTAL(109,[Qty])", "=SUBTOTAL(109,Goods[Twice])"]):  # fmt: skip
        sheet.append(row)
    sheet.add_table(openpyxl.worksheet.table.Table(displayName="Goods", ref="A1:C4", totalsRowCount=1))
    workbook.create_sheet("Other").append(["most", "=MAX(Goods[Twice])"])
    parsed = parse_named("a.xlsx", saved(workbook))
    assert texts(parsed)[1].splitlines()[2:] == ["| A | 1 | 2 |", "| B | 2 | 4 |", "| Sum | 3 | 6 |"]
    assert "| most | 4 |" in parsed.markdown

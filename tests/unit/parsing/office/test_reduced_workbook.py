"""Workbooks of other programs, of which openpyxl refuses a part that holds no cell."""

import re

import openpyxl  # type: ignore[import-untyped] # its stubs are a package of their own
import pytest
from openpyxl.styles import NamedStyle  # type: ignore[import-untyped]
from openpyxl.workbook.defined_name import DefinedName  # type: ignore[import-untyped]
from openpyxl.worksheet.table import Table  # type: ignore[import-untyped]

from sourcebook.errors import ParseError
from tests.unit.parsing.office.office_files import Change, changed, parse_named, saved, workbook_file


def workbook() -> bytes:
    made = openpyxl.Workbook()
    made.active.append(["share", 0.25])
    made.active["B1"].number_format = "0.0%"
    made.active.append(["gate", "state"])
    made.active.append(["sill", "open"])
    made.active.auto_filter.ref = "A1:B1"
    made.active.add_table(Table(displayName="gates", ref="A2:B3"))
    made.defined_names["all"] = DefinedName("all", attr_text="Sheet!$A$1")
    made.active["A1"].style = NamedStyle("own")
    return saved(made)


def replaced(pattern: str, by: str) -> Change:
    def change(content: bytes) -> bytes:
        text, number = re.subn(pattern, by, content.decode(), count=1)
        assert number
        return text.encode()

    return change


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("xl/styles.xml", replaced(r'<cellStyle name="own"', "<cellStyle")),
        ("xl/worksheets/sheet1.xml", replaced("<autoFilter ", '<autoFilter unknown="1" ')),
        ("xl/styles.xml", replaced(r"<fill>\s*<patternFill ?/>\s*</fill>", "<fill/>")),
        ("xl/worksheets/_rels/sheet1.xml.rels", replaced("tables/table1.xml", "drawings/lost.xml")),
        ("xl/tables/table1.xml", replaced("<autoFilter ", "<autoFilter><filterColumn/></autoFilter><sortState ")),
        ("xl/workbook.xml", replaced("<definedName ", '<definedName unknown="1" ')),
    ],
)
def test_cells_are_read_whatever_else_is_odd(part: str, change: Change) -> None:
    """A style without a name, filters and a name of kinds that no standard has; formats stay."""
    assert "| share | 25.0% |" in parse_named("a.xlsx", changed(workbook(), {part: change})).markdown


@pytest.mark.parametrize("part", ["xl/workbook.xml", "xl/worksheets/sheet1.xml"])
def test_a_workbook_that_is_damaged_is_refused(part: str) -> None:
    """The second reading is no way around damage."""
    with pytest.raises(ParseError, match="no readable"):
        parse_named("a.xlsx", changed(workbook_file(), {part: lambda content: content[: len(content) // 2]}))

"""Tables as word processors, browsers and shops print them: open at the sides, with lines between rows or none."""

from collections.abc import Sequence
from itertools import pairwise

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, Stroke, pdf

WORDS = "some words that fill the line of a page with the keeper of the light in the tower"


def table(marks: Sequence[Mark]) -> list[list[str]]:
    """Return the rows of the tables of a page, the header first."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in markdown(marks).splitlines()
        if line.startswith("|") and not line.startswith("| ---")
    ]


def markdown(marks: Sequence[Mark]) -> str:
    return parse_pdf(pdf([marks]), settings=ParsingSettings(ocr=False)).markdown


def row(y: float, *cells: tuple[float, str], bold: bool = False) -> list[Mark]:
    return [Shown(x, y, text, bold=bold) for x, text in cells]


def prose(top: float, lines: int, x: float = 72) -> list[Mark]:
    return [Shown(x, top - 12 * n, WORDS) for n in range(lines)]


def test_a_header_over_two_columns() -> None:
    """It is above the middle of both, and its text is in the header of each."""
    marks = row(700, (80, "Region"), (186, "2023"), (306, "2024"), bold=True)
    marks += row(682, (150, "Revenue"), (215, "Profit"), (270, "Revenue"), (335, "Profit"), bold=True)
    for n, name in enumerate(("North", "South", "East", "West")):
        marks += row(664 - 18 * n, (80, name), (155, f"1,2{n}0"), (222, f"{n}8"), (275, f"2,3{n}0"), (342, f"{n}9"))
    assert table([*prose(760, 3), *marks, *prose(570, 3)])[:2] == [
        ["Region", "2023 - Revenue", "2023 - Profit", "2024 - Revenue", "2024 - Profit"],
        ["North", "1,200", "08", "2,300", "09"],
    ]


def test_a_header_over_two_columns_of_values() -> None:
    """Below it is a row of values: that one is no header."""
    marks = row(700, (80, "Region"), (183, "Revenue"), bold=True)
    for n, name in enumerate(("North", "South", "East", "West")):
        marks += row(682 - 18 * n, (80, name), (155, f"1,2{n}0"), (222, f"{n}8"))
    assert table([*prose(760, 3), *marks, *prose(570, 3)])[:2] == [
        ["Region", "Revenue", "Revenue"],
        ["North", "1,200", "08"],
    ]


def test_cells_of_several_lines() -> None:
    """More white space between the rows than within them says which lines are of one cell, also of the first."""
    marks = row(700, (80, "Date"), (130, "Details"), (330, "Amount"), bold=True)
    texts = (("Card payment at the market", "of the old town"), ("Salary",), ("Transfer to the savings", "account"))
    for n, lines in enumerate(texts):
        y = 680 - 32 * n
        marks += row(y, (80, f"0{n + 1}"), (130, lines[0]), (330, f"{n}48.17"))
        marks += row(y - 11, (80, "Mar"), *((130, line) for line in lines[1:]))
    last = row(580, (80, "31"), (130, "Balance carried forward"), (330, "448.17")) + row(569, (80, "Mar"))
    assert table([*prose(760, 3), *marks, *last, *prose(530, 3)]) == [
        ["Date", "Details", "Amount"],
        ["01 Mar", "Card payment at the market of the old town", "048.17"],
        ["02 Mar", "Salary", "148.17"],
        ["03 Mar", "Transfer to the savings account", "248.17"],
        ["31 Mar", "Balance carried forward", "448.17"],
    ]


def test_rows_in_groups_are_not_joined() -> None:
    """Rows with all cells stay rows, whatever the white space around a group of them."""
    marks = row(700, (80, "Lamp"), (180, "Height"), (280, "Light"), bold=True)
    for n in range(6):
        marks += row(680 - 11 * n - 10 * (n // 2), (80, f"lamp {n}"), (180, f"{n} metres"), (280, f"{n} candles"))
    assert len(table([*prose(760, 3), *marks, *prose(570, 3)])) == 7


def test_terms_with_one_meaning_are_not_joined() -> None:
    """The first of two terms stands alone in its row, close to the second one."""
    marks = row(724, (80, "Command"), (180, "Meaning"), bold=True)
    for n, name in enumerate(("zoom", "view", "birdseye view")):
        marks += row(700 - 32 * n, (80, f"{name} in")) + row(
            689 - 32 * n, (80, f"{name} out"), (180, "makes it larger")
        )
    assert [cells[0] for cells in table([*prose(780, 3), *marks, *prose(590, 3)])[1:]] == [
        f"{name} {way}" for name in ("zoom", "view", "birdseye view") for way in ("in", "out")
    ]


def borders(y: float, *edges: float) -> list[Mark]:
    """Return a line for each cell, whose ends touch."""
    return [Stroke(left, y, right, y) for left, right in pairwise(edges)]


def test_lines_between_the_rows_that_end_with_each_cell() -> None:
    """They say where the columns are, also where one of equal texts looks like a column of the page."""
    edges, rows = (54, 89, 135, 283, 387), []
    marks: list[Mark] = []
    for n in range(6):
        rows.append([f"a{n}", f"N{n}", f"ligature with another letter {n}", f"Akatab:cv0{n}=1"])
        marks += [Shown(61, 500 - 21 * n, rows[-1][0], size=15)]
        marks += row(500 - 21 * n, *zip((97, 142, 291), rows[-1][1:], strict=True))
        marks += borders(515 - 21 * n, *edges)
    assert table([*prose(760, 10, x=54), *marks, *borders(389, *edges), *prose(360, 10, x=54)]) == rows


def test_a_header_above_the_first_line() -> None:
    """Lines are only below each row of values."""
    edges, rows = (54, 89, 135, 283, 387), [["Sign", "Name", "Meaning", "Feature"]]
    marks = row(518, *zip((56, 97, 142, 291), rows[0], strict=True), bold=True)
    for n in range(6):
        rows.append([f"a{n}", f"N{n}", f"ligature with another letter {n}", f"Akatab:cv0{n}=1"])
        marks += [Shown(61, 500 - 21 * n, rows[-1][0], size=15)]
        marks += row(500 - 21 * n, *zip((97, 142, 291), rows[-1][1:], strict=True))
        marks += borders(515 - 21 * n, *edges)
    assert table([*prose(760, 10, x=54), *marks, *prose(360, 10, x=54)]) == rows


def test_tables_below_each_other_with_lines_by_cell() -> None:
    """Their columns differ, so that no edge goes on from one to the other."""
    marks: list[Mark] = []
    for top, edges in ((700, (72, 200, 330)), (600, (72, 150, 260, 330))):
        for n in range(4):
            marks += borders(top - 20 * n, *edges)
            if n < 3:
                marks += row(top - 14 - 20 * n, *((x + 3, f"{x} of {n}") for x in edges[:-1]))
    found = table(marks)
    assert [len(cells) for cells in found] == [2, 2, 2, 3, 3, 3]


def test_prose_around_a_table() -> None:
    """Its lines are not level with the rows of the table, and stay a paragraph."""
    marks = row(700, (430, "Year"), (490, "Members"), bold=True)
    for n in range(5):
        marks += row(683 - 17 * n, (430, f"{2019 + n}"), (500, f"1,{n}04"))
    text = [Shown(72, 702 - 12 * n, WORDS[:72]) for n in range(9)]
    found = markdown([*text, *marks, *(Shown(72, 590 - 12 * n, f"{WORDS} {WORDS[:20]}") for n in range(5))])
    assert "| Year | Members |\n| --- | --- |\n| 2019 | 1,004 |\n| 2020 | 1,104 |" in found
    assert " ".join([WORDS[:72].strip()] * 9) in found


def test_a_header_of_several_lines_at_the_bottom_of_its_row() -> None:
    """Its longest cell begins above the others, whose text is in the last lines."""
    marks = row(700, (200, "Team plan with"), (320, "Enterprise plan"), bold=True)
    marks += row(689, (140, "Basic"), (200, "priority"), (320, "including on-site"), bold=True)
    marks += row(678, (80, "Feature"), (140, "plan"), (200, "support"), (320, "service"), bold=True)
    for n, name in enumerate(("Projects", "Users", "Teams")):
        marks += row(660 - 17 * n, (80, name), (140, f"{n}"), (200, f"{n}0"), (320, "any"))
    assert table([*prose(760, 3), *marks, *prose(570, 3)])[:2] == [
        ["Feature", "Basic plan", "Team plan with priority support", "Enterprise plan including on-site service"],
        ["Projects", "0", "00", "any"],
    ]


def test_two_columns_that_both_go_on() -> None:
    """Both lines are full; a year that goes on is no number of a row of its own."""
    marks = row(700, (80, "2014 -"), (130, "Senior engineer in the north, responsible for"))
    marks += row(689, (80, "2019"), (130, "the test of all lamps and their certification in")) + row(
        678, (130, "the south")
    )
    marks += row(660, (80, "2010 -"), (130, "Engineer at the sea")) + row(649, (80, "2014"))
    marks += row(631, (80, "2008 -"), (130, "Student")) + row(620, (80, "2010"))
    assert table([*prose(760, 3), *marks, *prose(580, 3)]) == [
        [
            "2014 - 2019",
            "Senior engineer in the north, responsible for the test of all lamps and their certification in the south",
        ],
        ["2010 - 2014", "Engineer at the sea"],
        ["2008 - 2010", "Student"],
    ]


def test_cells_in_the_middle_of_their_row() -> None:
    """A line below each row parts them; above the first one are the header and a row of several lines."""
    edges = (61, 107, 328, 373)
    marks = row(650, (69, "Room"), (114, "Equipment"), (335, "Seats"), bold=True)
    marks += row(634, (114, "Projector, white board and loudspeakers")) + row(612, (114, "that can be rolled up"))
    marks += row(623, (69, "A 101"), (114, "with a screen of four metres, a piano"), (335, "120"))
    marks += [*borders(607, *edges), *row(596, (69, "A 102"), (114, "Projector"), (335, "40")), *borders(590, *edges)]
    marks += [*row(579, (69, "A 103"), (114, "Piano"), (335, "20")), *borders(573, *edges)]
    assert table([*prose(760, 3), *marks, *prose(530, 3)])[:3] == [
        ["Room", "Equipment", "Seats"],
        [
            "A 101",
            "Projector, white board and loudspeakers with a screen of four metres, a piano that can be rolled up",
            "120",
        ],
        ["A 102", "Projector", "40"],
    ]

"""Captions of tables, which stay in one passage with their table."""

from collections.abc import Sequence

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, grid, pdf

TABLE: list[Mark] = [
    *grid([72, 200, 330], [500, 520, 540]),
    *(Shown(80 + 128 * column, 526 - 20 * row, f"cell {row} {column}") for row in range(2) for column in range(2)),
]


def read(marks: Sequence[Mark]) -> ParsedDocument:
    prose: list[Mark] = [Shown(72, 740 - 12 * n, "some words that fill the line of a page") for n in range(6)]
    return parse_pdf(pdf([[*prose, *marks, *TABLE]]), settings=ParsingSettings(ocr=False))


def above_table(document: ParsedDocument) -> str:
    """Return the block above the table, which the chunker keeps in one passage with it."""
    (place,) = [place for place, block in enumerate(document.blocks) if block.kind == "table"]
    block = document.blocks[place - 1]
    return document.markdown[block.start : block.end].replace("\\", "")


@pytest.mark.parametrize(
    "lines",
    [
        ("Table 3. Lamps of the bay: 2009", "[In thousands, as of 1 July]"),
        ("Table 3", "Lamps of the bay"),
        ("TABLE IV", "Lamps of the bay"),
    ],
)
def test_a_caption_of_several_parts_is_one_block_above_its_table(lines: Sequence[str]) -> None:
    """Tables of statistics have a note on their unit below the caption; other captions have their title there."""
    marks = [Shown(72, 580 - 18 * n, line, size=12 if n == 0 else 9) for n, line in enumerate(lines)]
    assert above_table(read(marks)) == " ".join(lines)


def test_a_caption_with_a_roman_number_below_a_table_is_above_it() -> None:
    """Such captions are those of engineers' papers; the text before the table stays outside."""
    document = read([Shown(72, 480, "TABLE IV. Lamps of the bay")])
    assert above_table(document) == "TABLE IV. Lamps of the bay"


def test_a_paragraph_below_the_caption_of_a_figure_is_no_note() -> None:
    """Text that leads to a table is no caption of it."""
    document = read([Shown(72, 580, "Figure 2: The bay by night"), Shown(72, 560, "The lamps are as follows", size=9)])
    assert above_table(document) == "The lamps are as follows"

"""Sheets of two pages, headings on the first line of a paragraph, formulas, and labels of plots."""

from collections.abc import Sequence

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.pdf.layout.headings.unlikely_titles import is_formula
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, pdf

WORDS = "some words that fill the line of a page"


def parse_page(marks: Sequence[Mark], media_box: str = "0 0 612 792") -> ParsedDocument:
    return parse_pdf(pdf([marks], media_box=media_box), settings=ParsingSettings(ocr=False))


def headings(document: ParsedDocument) -> list[str | None]:
    return [block.title for block in document.blocks if block.kind == "heading"]


def test_the_pages_of_a_spread_are_read_one_after_the_other() -> None:
    """A sheet of two pages is cut in the middle first, also where the lines of both pages are level and short."""
    marks: list[Mark] = []
    for page, x in enumerate((40, 461)):
        for n in range(12):
            marks.append(Shown(x, 560 - 42 * n, f"Page {page} term {n}", bold=n % 3 == 0))
            marks.append(Shown(x + 150 + 20 * (n % 2), 546 - 42 * n, f"meaning {page} {n}"))
    text = parse_page(marks, "0 0 842 595").markdown
    assert text.rindex("meaning 0 11") < text.index("Page 1 term 0")


def test_a_table_on_a_wide_page_is_no_spread() -> None:
    """Rows that are written from side to side are read line by line."""
    marks: list[Mark] = []
    for n in range(14):
        marks += [Shown(40, 560 - 30 * n, f"Row {n}"), Shown(600, 560 - 30 * n, f"value {n}")]
    text = parse_page(marks, "0 0 842 595").markdown
    assert text.index("value 3") < text.index("Row 4")


def test_a_heading_on_the_first_line_of_its_paragraph() -> None:
    """Bold words and a wide space before the text of a paragraph are its heading."""
    marks: list[Mark] = [Shown(72, 740 - 12 * n, WORDS) for n in range(6)]
    marks += [Shown(72, 640, "Font setup", bold=True), Shown(72 + 62, 640, f"Any font can be taken {WORDS}")]
    marks += [Shown(72, 640 - 12 * n, f"and more {WORDS} to the end of it") for n in range(1, 4)]
    document = parse_page(marks)
    assert headings(document) == ["Font setup"]
    assert "Any font can be taken some words" in document.markdown


def test_a_bold_term_above_its_indented_definition_is_no_heading() -> None:
    """The lines of a definition hang below its term."""
    marks: list[Mark] = [Shown(72, 740 - 12 * n, WORDS) for n in range(6)]
    marks += [Shown(72, 640, "Font setup", bold=True), Shown(72 + 62, 640, f"Any font can be taken {WORDS}")]
    marks += [Shown(100, 640 - 12 * n, f"and more {WORDS} to the end of it") for n in range(1, 4)]
    assert headings(parse_page(marks)) == []


def test_formulas_are_no_headings() -> None:
    """A large formula between paragraphs is a paragraph."""
    marks: list[Mark] = [Shown(72, 740 - 12 * n, WORDS) for n in range(6)]
    marks += [Shown(100, 640, "E(x) = mc + ab", size=14), Shown(72, 610, WORDS)]
    assert headings(parse_page(marks)) == []


@pytest.mark.parametrize(
    ("text", "formula"),
    [("E(x) = mc", True), ("p \u2264 0.05", True), ("Testing whether p = 0", False), ("Results", False)],
)
def test_signs_of_formulas(text: str, formula: bool) -> None:
    """A title may name a formula, with most of its letters in words."""
    assert is_formula(text) == formula


def test_labels_of_a_plot_are_one_paragraph() -> None:
    """Words all over a figure make no page of single words."""
    marks: list[Mark] = [Shown(72, 740 - 12 * n, WORDS) for n in range(6)]
    places = [(100, 600), (240, 570), (150, 530), (330, 500), (90, 460), (280, 430), (410, 390), (190, 350), (370, 310)]
    marks += [Shown(x, y, f"label{n}", size=8) for n, (x, y) in enumerate(places)]
    (labels,) = [line for line in parse_page(marks).markdown.splitlines() if "label3" in line]
    assert labels.split() == [f"label{n}" for n in range(9)]


def test_short_lines_of_one_edge_stay_apart() -> None:
    """An address or a poem is no plot."""
    marks: list[Mark] = [Shown(72, 740 - 40 * n, f"Line {n}") for n in range(10)]
    assert len(parse_page(marks).blocks) == 10

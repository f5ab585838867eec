"""Bounds within which the order of a document may differ from that of its pages."""

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.layout.elements import Element, ElementKind, Place
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.layout.paragraphs.continuations import join_across_columns
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, grid, pdf


def element(kind: ElementKind, text: str, page: int, top: float) -> Element:
    line = Line(text, 72, 540, top, top + 10, 10)
    return Element(kind, text, (Place(page, 72, top, 540, top + 10),), line, line, (72, 540))


@pytest.mark.parametrize(("words", "note", "joined"), [(4, 60, True), (60, 4, True), (60, 60, False)])
def test_a_long_continuation_stays_behind_a_long_note(words: int, note: int, joined: bool) -> None:
    """A few words come to their sentence over a note; a whole paragraph is not moved over a whole note."""
    found = [
        element("paragraph", "The keeper goes", 1, 600),
        element("footnote", "a note " * note, 1, 700),
        element("paragraph", "up the stairs " * words, 2, 72),
    ]
    kinds = [one.kind for one in join_across_columns(found) if isinstance(one, Element)]
    assert kinds == (["paragraph", "footnote"] if joined else ["paragraph", "footnote", "paragraph"])


def test_numbers_below_each_other_are_rows_of_their_own() -> None:
    """Only some rows have a label between the drawn lines, as where standard errors are below their estimates."""
    marks: list[Mark] = [*grid([70, 200, 300, 400], [700, 676, 560]), Shown(80, 685, "Term"), Shown(210, 685, "First")]
    marks += [Shown(310, 685, "Second")]
    for row in range(6):
        top = 660 - 16 * row
        cells = (f"{row}.125", f"{row}.250") if row % 2 == 0 else (f"({row}.5)", f"({row}.7)")
        marks += [Shown(210, top, cells[0]), Shown(310, top, cells[1])]
        if row % 2 == 0:
            marks += [Shown(80, top, f"term{row}")]
    text = parse_pdf(pdf([marks]), settings=ParsingSettings(ocr=False)).markdown
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows[2:4] == ["| term0 | 0.125 | 0.250 |", "|  | (1.5) | (1.7) |"]
    assert len(rows) == 8

"""Runs that are on one line, and lists whose columns are no columns of prose."""

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.layout.lines.rows import rows
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf


def test_a_small_bullet_is_on_the_line_of_its_item() -> None:
    """A sign whose box is half as high as its line, and above the base line, belongs to the line."""
    bullet = Line("\u277c", 46.8, 50.4, 406.2, 409.8, 3.6)
    item = Line("filename: read and execute a file", 55.9, 263.0, 404.2, 412.0, 7.8)
    assert [row.line.text for row in rows([bullet, item])] == ["\u277c filename: read and execute a file"]


def test_types_and_names_are_read_line_by_line() -> None:
    """Level lines whose content goes from side to side are not two columns."""
    marks = []
    for n in range(12):
        marks.append(Shown(72, 700 - 14 * n, f"Complex diagonal matrix {n}"))
        marks.append(Shown(204, 700 - 14 * n, f"fills row {n} with the values of a given row"))
    text = parse_pdf(pdf([marks]), settings=ParsingSettings(ocr=False)).markdown
    places = [text.index(part) for n in range(12) for part in (f"Complex diagonal matrix {n}", f"fills row {n} with")]
    assert places == sorted(places)

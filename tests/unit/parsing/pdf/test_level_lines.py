"""Lines are level whose middles are, whatever the height of their letters."""

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, pdf


def test_a_table_with_tall_letters_in_one_column() -> None:
    """Its last column is no column of prose beside the others, though the boxes of its letters are lower."""
    marks: list[Mark] = [Shown(72, 730, "The letters of the first column are shown in a large type, as samples are.")]
    for n in range(7):
        top = 700 - 22 * n
        marks += [
            Shown(72, top - 1.5, "Q", size=16),
            Shown(110, top, f"N{n}T"),
            Shown(170, top, f"sign of two letters, number {n} of them"),
            Shown(400, top, f"feature:cv0{n}=1"),
        ]
    text = parse_pdf(pdf([marks]), settings=ParsingSettings(ocr=False)).markdown
    assert "| Q | N5T | sign of two letters, number 5 of them | feature:cv05=1 |" in text

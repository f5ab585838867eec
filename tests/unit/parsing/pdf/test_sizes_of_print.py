"""Pages are read alike in every size: small, condensed and scaled ones, and the large words of covers."""

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Drawn, Mark, Shown, grid, pdf

PAGE: list[Mark] = [
    Shown(72, 740, "All bills of the village hall", 16, bold=True),
    *(Shown(72, 700 - 12 * row, "The hall will pull down all walls and fill the cellar, still") for row in range(6)),
    *grid((72, 172, 272), (560, 580, 600)),
    *(Shown(x, y, text) for (x, y), text in zip(((76, 586), (176, 586), (76, 566), (176, 566)),
                                                ("Hall", "Bill", "Mill", "1,100"), strict=True)),
]  # fmt: skip


def scaled(factor: float) -> ParsedDocument:
    """Return the page, drawn larger or smaller."""
    marks = [Drawn(f"q {factor} 0 0 {factor} 0 0 cm"), *PAGE, Drawn("Q")]
    content = pdf([marks], media_box=f"0 0 {612 * factor} {792 * factor}")
    return parse_pdf(content, settings=ParsingSettings(ocr=False))


@pytest.mark.parametrize("factor", [0.15, 0.3, 5.0, 15.0])
def test_scaled_pages(factor: float) -> None:
    """Their letters, tables and headings are the same, and their boxes are in points."""
    usual, other = scaled(1), scaled(factor)
    assert "# All bills of the village hall" in usual.markdown
    assert "| Mill | 1,100 |" in usual.markdown
    assert other.markdown == usual.markdown
    boxes = [block.box for block in other.blocks]
    for box, expected in zip(boxes, (block.box for block in usual.blocks), strict=True):
        assert box == pytest.approx([edge * factor for edge in expected or ()], abs=5 * factor)


def test_condensed_letters() -> None:
    """Double letters stay two where their advance is below half a point."""
    line = "BT /plain 6 Tf 20 Tz 72 700 Td (the hall will pull down all walls and fill the cellar) Tj ET"
    document = parse_pdf(pdf([[Drawn(line)]]), settings=ParsingSettings(ocr=False))
    assert document.markdown.strip() == "the hall will pull down all walls and fill the cellar"


@pytest.mark.parametrize("large_first", [True, False])
def test_large_words_beside_small_text(large_first: bool) -> None:
    """A cover is not read across both, line by line."""
    large: list[Mark] = [Shown(72, 500, "We", 48, bold=True), Shown(72, 440, "Care", 48, bold=True)]
    small: list[Mark] = [
        Shown(300, 505, "For an inclusive ecosystem", 16),
        Shown(300, 445, "For an empowered workforce", 16),
    ]
    marks = [*large, *small] if large_first else [*small, *large]
    text = parse_pdf(pdf([marks]), settings=ParsingSettings(ocr=False)).markdown
    assert "We Care" in text
    assert "For an inclusive ecosystem For an empowered workforce" in " ".join(text.split())


def test_a_centred_title_over_a_sentence_and_a_table() -> None:
    """The title is set in the middle of the table, not at the right of the sentence."""
    marks: list[Mark] = [
        Shown(260, 740, "Store list", 18, bold=True),
        Shown(78, 710, "All parts of the store are in this table."),
        *grid((127, 207, 267, 467), (640, 660, 680)),
        *(Shown(x + 4, y, text) for y, row in ((666, ("Part", "Shelf", "Remark")), (646, ("VX-1", "R1", "oak")))
          for x, text in zip((127, 207, 267), row, strict=True)),
    ]  # fmt: skip
    document = parse_pdf(pdf([marks]), settings=ParsingSettings(ocr=False))
    assert document.markdown.startswith("# Store list\n")

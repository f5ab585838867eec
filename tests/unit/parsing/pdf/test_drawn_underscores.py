"""TeX draws the underscores of names as short lines."""

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, Stroke, pdf

TEXT = [Shown(72, 660 - 12 * n, "The text of the page goes on here for a few lines.") for n in range(6)]


def read(*marks: Mark) -> str:
    return parse_pdf(pdf([[*marks, *TEXT]]), settings=ParsingSettings(ocr=False)).markdown


def test_names_with_underscores_are_whole() -> None:
    """A name may have several of them."""
    text = read(
        Shown(72, 700, "set"),
        Shown(89.45, 700, "ray"),
        Stroke(103.6, 699.6, 106.9, 699.6),
        Shown(107.2, 700, "trace"),
        Stroke(129.7, 699.6, 133.0, 699.6),
        Shown(133.3, 700, "fog to"),
    )
    assert "set ray_trace_fog to" in text


def test_dashes_and_blanks_join_nothing() -> None:
    """A dash is at half the height, and a blank to fill in is longer."""
    text = read(
        Shown(72, 700, "ray"),
        Stroke(86.2, 702.8, 89.5, 702.8),
        Shown(89.8, 700, "trace"),
        Shown(72, 684, "name"),
        Stroke(99.0, 683.6, 160.0, 683.6),
        Shown(160.4, 684, "place"),
    )
    assert "_" not in text

"""Text of the words of a page."""

import pytest

from sourcebook.parsing.pdf.decoded_pages import decoded_pages
from sourcebook.parsing.pdf.second_reading import second_reading
from sourcebook.parsing.pdf.tight_boxes import TightBoxes
from sourcebook.parsing.pdf.words import page_words, readable
from tests.unit.parsing.pdf.pdf_writer import assembled

WITHOUT_NAMES = f"/Encoding << /Differences [97 {' '.join(f'/c{code}' for code in range(97, 123))}] >>"
"""Encoding of a font whose glyphs have the codes of the letters for names, which one reader does not know."""


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("\x84Gr\u00fc\u00dfe\x93", "\u201eGr\u00fc\u00dfe\u201c"),
        ("a\x96b", "a\u2013b"),
        ("end\x85", "end\u2026"),
        ("x\x81y", "xy"),
    ],
)
def test_control_characters_are_the_punctuation_of_windows(given: str, text: str) -> None:
    """Characters between U+0080 and U+009F are read as cp1252; those that it does not have are left out."""
    assert readable(given) == (text, False)


@pytest.mark.parametrize(
    ("letters", "matrix", "font", "angle"),
    [
        pytest.param("e", "-1 0 0 1 142 700", "/Encoding /WinAnsiEncoding", 0, id="mirrored"),
        pytest.param("e", "-1 0 0 -1 142 710", "/Encoding /WinAnsiEncoding", 180, id="upside down"),
        pytest.param("ewe", "-1 0 0 1 142 700", WITHOUT_NAMES, 0, id="mirrored, as PDFium reads it"),
        pytest.param("ewe", "-1 0 0 -1 142 710", WITHOUT_NAMES, 180, id="upside down, as PDFium reads it"),
    ],
)
def test_a_mirrored_letter_is_not_upside_down(letters: str, matrix: str, font: str, angle: int) -> None:
    """The logo of XeTeX has a mirrored E, which belongs to its line; text that is upside down has lines of its own."""
    shown = f"BT /F 12 Tf 72 700 Td (the lamp X) Tj ET BT /F 12 Tf {matrix} Tm ({letters}) Tj ET"
    more = " ".join(f"BT /F 12 Tf 72 {680 - 14 * line} Td (the keeper climbs the stairs) Tj ET" for line in range(4))
    text = f"{shown} {more}"
    content = assembled(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources 6 0 R >>",
            f"<< /Length {len(text)} >>\nstream\n{text}\nendstream",
            f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica {font} >>",
            "<< /Font << /F 5 0 R >> >>",
        ]
    )
    (page,) = list(decoded_pages(content))
    assert page is not None
    with second_reading(content) as second:
        words = second.better_words(page_words(page), page, 1, TightBoxes()).words
    assert [word.angle for word in words if word.text == letters] == [angle]

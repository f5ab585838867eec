"""Pages whose fonts one reader decodes wrongly are read by another."""

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.decoded_pages import decoded_pages
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from sourcebook.parsing.pdf.second_reading import second_reading
from sourcebook.parsing.pdf.words import page_words
from tests.unit.parsing.pdf.pdf_writer import Shown, assembled, pdf

LINES = (
    "the keeper of the light climbs the stairs every evening",
    "and trims the lamp before the boats come home",
    "from the banks beyond the bay",
)


def with_glyph_names(prefix: str) -> bytes:
    """Return a PDF whose font names its glyphs by the letters' codes, such as `a116`, which are no known names."""
    names = " ".join(f"/{prefix}{code}" for code in range(97, 123))
    text = "\n".join(f"BT /F 12 Tf 72 {700 - 14 * n} Td ({line}) Tj ET" for n, line in enumerate(LINES))
    return assembled(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources 6 0 R >>",
            f"<< /Length {len(text)} >>\nstream\n{text}\nendstream",
            f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Differences [97 {names}] >> >>",
            "<< /Font << /F 5 0 R >> >>",
        ]
    )


@pytest.mark.parametrize("prefix", ["c", "G"])
def test_fonts_whose_glyph_names_are_codes(prefix: str) -> None:
    """Glyphs named by their codes are the letters of these codes."""
    document = parse_pdf(with_glyph_names(prefix), settings=ParsingSettings(ocr=False))
    assert " ".join(document.markdown.split()) == " ".join(LINES)
    (block,) = document.blocks
    assert block.box is not None
    left, top, right, bottom = block.box
    assert (70 < left < 74, 75 < top < 95, 250 < right < 500, 110 < bottom < 130) == (True,) * 4


def test_the_first_reading_is_kept_where_both_agree() -> None:
    """Letters in their usual places are read once: words keep the places that the first reader gives them."""
    content = pdf([[Shown(72, 700 - 14 * n, line, size=12) for n, line in enumerate(LINES * 2)]])
    (page,) = list(decoded_pages(content))
    assert page is not None
    words = page_words(page)
    with second_reading(content) as second:
        assert second.better_words(words, page, 1) is words

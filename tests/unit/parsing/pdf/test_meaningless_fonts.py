"""A font without its table of letters shows signs, which are no text."""

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.meaningless_fonts import without_meaningless
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from sourcebook.parsing.pdf.words import Word
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf

SENTENCES = (
    "The keeper opens the upper gates before the flood, and no boat may pass them while the lamp at the weir is red. "
    "Whoever comes by night rings twice; the dues are those of the day."
)


def numbered(text: str) -> str:
    """Return a text in a subset of a font that numbers its letters from 33 on, without the table of letters."""
    return "".join(chr(33 + list(dict.fromkeys(text)).index(letter)) for letter in text)


def words(text: str, font: str) -> list[Word]:
    return [Word(part, 0, 9, 0, 9, 9, font=font) for part in text.split()]


def test_signs_in_place_of_letters_are_left_out() -> None:
    """With a word of another font beside them, which is kept."""
    heading = words("Gates at night", "B")
    assert without_meaningless([*heading, *words(numbered(SENTENCES), "A")]) == (heading, True)


@pytest.mark.parametrize(
    "text",
    [
        SENTENCES,
        "for (i = 0; i < n; i++) { a[i] *= (b[i] != 0) ? -c[i] : d->e; if (!f(&g)) return *h; } // %s\n" * 3,
        "Gates" + "." * 200 + "7",
        r"\frac{a}{b} + \sum_{i=1}^{n} x_i^2 \le \sqrt{y} \cdot \left( z - 1 \right) " * 3,
        "-" * 40 + "+" + "=" * 40 + "|" + "_" * 40,
        "1.204,50 3.114,75 -12,00 (4.000,00) 17,5 % +3,2 % 99,9 % " * 3,
        numbered(SENTENCES)[:40],
    ],
    ids=["sentences", "program", "dots", "formula", "lines", "numbers", "short"],
)
def test_text_with_many_signs_is_kept(text: str) -> None:
    """Programs, formulas, rows of dots, tables of numbers, and what is too short to be judged."""
    held = words(text, "A")
    assert without_meaningless(held) == (held, False)


def test_a_page_of_signs_is_told_and_not_indexed() -> None:
    """Its number is among the pages that were not read; the other page is kept."""
    signs = numbered(SENTENCES)
    pages = [
        [Shown(72, 700, SENTENCES[:60], size=12)],
        [Shown(72, 700 - 14 * line, signs[60 * line : 60 * line + 60], size=12) for line in range(len(signs) // 60)],
    ]
    document = parse_pdf(pdf(pages), settings=ParsingSettings(ocr=False))
    assert document.markdown.strip() == SENTENCES[:60].strip()
    assert document.metadata["unread_pages"] == [2]

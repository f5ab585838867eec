"""Sizes and weights of words with Chinese, Japanese or Korean letters."""

from dataclasses import dataclass

from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.east_asian_words import EastAsianFonts
from sourcebook.parsing.pdf.layout.lines.rows import joined
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.painted_letters import Letter, painted_text
from sourcebook.parsing.pdf.words import Word

MINCHO, GOTHIC, LATIN = "AAAAAA+RyuminPro-Light", "BBBBBB+GothicBBBPro-Medium", "CCCCCC+Libertinus"


@dataclass
class Glyph:
    """A letter as docling-parse gives it, 10 points wide, from the lower left corner."""

    text: str
    font_name: str
    left: float
    low: float
    high: float
    rendering_mode: int = 0

    def __getattr__(self, name: str) -> float:
        """Return a coordinate of a corner."""
        if name in ("r_x0", "r_x3"):
            return self.left
        if name in ("r_x1", "r_x2"):
            return self.left + 10
        return self.low if name in ("r_y0", "r_y1") else self.high


def page(glyphs: list[Glyph]) -> DecodedPage:
    return DecodedPage(0, 800, 600, 800, (), (), 0, (), letters=lambda: glyphs)


def test_a_word_of_two_scripts_has_the_size_of_its_ideographs() -> None:
    """Its box reaches over the letters of both fonts, and its font is that of the first letter."""
    word = Word("TeX入門", 72, 122, 96, 110, 14.0, font=LATIN)
    latin = [Glyph(letter, LATIN, 72 + 10 * place, 690, 704) for place, letter in enumerate("TeX")]
    others = [Glyph(letter, MINCHO, 102 + 10 * place, 692, 702) for place, letter in enumerate("入門")]
    (corrected,) = EastAsianFonts().corrected([word], page([*latin, *others]))
    assert (corrected.size, corrected.font) == (10.0, MINCHO)
    assert (corrected.top, corrected.bottom) == (96, 110)


def test_letters_are_as_high_as_wide() -> None:
    """The height of a font's box may be another on each page."""
    words = [Word("日本語組版", 72, 122, 100 + 20 * n, 108.6 + 20 * n, 8.6, font=MINCHO) for n in range(3)]
    assert {word.size for word in EastAsianFonts().corrected(words, page([]))} == {10.0}


def test_a_font_without_serifs_is_bold_beside_one_with_serifs() -> None:
    """Where all text has no serifs, it tells nothing."""
    body = Word("本文はこの書体で組まれる", 72, 192, 100, 110, 10.0, font=MINCHO)
    title = Word("見出し", 72, 102, 80, 90, 10.0, font=GOTHIC)
    assert [word.bold for word in EastAsianFonts().corrected([title, body], page([]))] == [True, False]
    assert not any(word.bold for word in EastAsianFonts().corrected([title, title], page([])))


def test_the_ideographs_of_a_line_decide_on_its_size_and_weight() -> None:
    """Latin words in it are in another font, whose box is higher for the same size."""
    line = joined([Line("Asymptote", 72, 130, 98, 112, 13.2), Line("入門", 134, 154, 100, 110, 10.0, bold=True)])
    assert (line.size, line.bold) == (10.0, True)
    latin = joined([Line("Asymptote", 72, 130, 98, 112, 13.2), Line("guide", 134, 154, 100, 110, 10.0, bold=True)])
    assert (latin.size, latin.bold) == (13.2, False)


def test_a_space_under_a_letter_parts_no_number() -> None:
    """Persian sections have a full stop painted over a space: `٣.١`, from left to right."""
    letters = [
        Letter("٣", 508.1, 515.6, 511.8, 5, 10),
        Letter(" ", 515.6, 519.44, 517.52, 5, 10),
        Letter(".", 515.6, 519.53, 517.56, 5, 10),
        Letter("١", 519.5, 527, 523.2, 5, 10),
    ]
    run = [Line("٣", 508.1, 515.6, 0, 10, 10), Line("١.", 515.6, 527, 0, 10, 10)]
    assert painted_text(letters, run) == "٣.١"

"""Text that looks like a heading and is none by its place, and headings in faces of TeX and beside formulas."""

from collections import Counter

import pytest

from sourcebook.parsing.pdf.layout.headings.unlikely_titles import is_formula
from sourcebook.parsing.pdf.plot_points import without_plot_points
from sourcebook.parsing.pdf.words import Word, is_bold, is_italic, is_monospaced
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown
from tests.unit.parsing.pdf.prose_pages import headings, prose


def title(top: float, text: str, size: float = 16) -> Shown:
    return Shown(72, top, text, size=size, bold=True)


def test_the_last_line_of_a_page_is_no_heading() -> None:
    """Type is set so that a title has text below it; a section's number, and a page of titles, show what they are."""
    pages: list[list[Mark]] = [
        [title(740, "The lamp"), *prose(700), title(400, "A sample in large type")],
        [*prose(740), title(400, "2 The stairs")],
        [title(740, "Part two")],
        prose(740),
    ]
    assert headings(*pages) == ["The lamp", "2 The stairs", "Part two"]


def test_sentences_in_large_type_are_no_headings() -> None:
    """The first one may be the document's title; a title of one word may have a full stop."""
    marks: list[Mark] = []
    for place, text in enumerate(("A guide. For keepers.", "This is shown larger.", "The options are these:", "Oil.")):
        marks += [title(740 - 150 * place, text), *prose(700 - 150 * place)]
    assert headings(marks) == ["A guide. For keepers.", "Oil."]


def test_a_label_above_the_caption_of_a_figure_is_no_heading() -> None:
    """It is in the figure."""
    marks = [
        title(740, "The lamp"),
        *prose(700),
        title(500, "East wing"),
        Shown(72, 470, "Figure 1: The rooms.", size=10),
    ]
    assert headings([*marks, *prose(440)]) == ["The lamp"]


@pytest.mark.parametrize(
    ("font", "bold", "italic", "monospaced"),
    [
        ("/ABCDEF+SFBX1200", True, False, False),
        ("/ABCDEF+CMBXTI10", True, True, False),
        ("/ABCDEF+NimbusRomNo9L-Medi", True, False, False),
        ("/ABCDEF+NimbusRomNo9L-ReguItal", False, True, False),
        ("/ABCDEF+SFTT0800", False, False, True),
        ("/ABCDEF+CMSLTT10", False, True, True),
        ("/ABCDEF+SFRM1000", False, False, False),
        ("/ABCDEF+CapitalSans", False, False, False),
        ("/ABCDEF+NimbusRomNo9L-Regu", False, False, False),
    ],
)
def test_faces_of_tex_and_urw_are_known(font: str, bold: bool, italic: bool, monospaced: bool) -> None:
    """Papers are set in them; headings and code show by their face."""
    assert (is_bold(font), is_italic(font), is_monospaced(font)) == (bold, italic, monospaced)


def test_letters_of_formulas_are_no_words() -> None:
    """A class of distributions is named with a formula; a formula alone is no title."""
    assert is_formula("𝑎𝑏 + 𝑥𝛼𝑒")
    assert is_formula("𝑥𝛼𝑒")
    assert not is_formula("The (𝑎, 𝑏, 0) class")


def point(left: float, top: float) -> Word:
    return Word("l", left, left + 2, top, top + 2.4, 2.4, font="/F1")


def test_points_of_plots_are_no_text() -> None:
    """Files hold them as letters of a symbol font, scattered; signs in the cells of a table are level with words."""
    label = [Word("Income", 72, 110, 100 + 20 * n, 112 + 20 * n, 10, font="/F2") for n in range(15)]
    scattered = [point(100 + 13 * n, 95.3 + 20 * n) for n in range(15)]
    assert without_plot_points([*label, *scattered]) == (label, Counter(l=15))
    level = [point(200, 104.8 + 20 * n) for n in range(15)]
    assert without_plot_points([*label, *level]) == ([*label, *level], Counter())


def test_pieces_of_pictures_are_no_text() -> None:
    """LaTeX draws arrows and rounded corners with the letters of fonts."""
    label = Word("Income", 72, 110, 100, 112, 10, font="/ABCDEF+CMR10")
    corner = Word("glyph[a113]", 60, 70, 100, 110, 10, font="/ABCDEF+LCIRCLE10")
    arrow = Word("✲", 110, 120, 100, 110, 10, font="/ABCDEF+LINE10")
    assert without_plot_points([corner, label, arrow]) == ([label], Counter({"glyph[a113]": 1, "✲": 1}))


def test_one_sign_alone_is_no_plot() -> None:
    """Words in a font of their own stay."""
    words = [Word("lamp", 100 + n, 120 + n, 93 + 7.3 * n, 99 + 7.3 * n, 6, font="/F3") for n in range(20)]
    assert without_plot_points(words) == (words, Counter())

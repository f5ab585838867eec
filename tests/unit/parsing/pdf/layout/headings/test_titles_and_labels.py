"""Titles in the places where documents of many makes have them, and bold or large text there that is no title."""

import pytest

from tests.unit.parsing.pdf.pdf_writer import Picture, Shown, grid
from tests.unit.parsing.pdf.prose_pages import WORDS, headings, prose


def test_a_section_above_its_first_subsection() -> None:
    """Their sizes differ by less than a fifth, and the white space between them says that they are two titles."""
    titles = [Shown(72, 600, "Access rules", size=13, bold=True), Shown(72, 577, "allow", size=11.3, bold=True)]
    text = [Shown(72, y, WORDS) for top in (760, 555) for y in range(top, top - 140, -18)]
    assert headings([*text, *titles], text) == ["Access rules", "allow"]


def test_the_lines_of_one_title_in_two_sizes() -> None:
    """The second line is a little smaller, and close to the first."""
    title = [
        Shown(72, 700, "The control of lamps", size=20, bold=True),
        Shown(72, 677, "in towers", size=18, bold=True),
    ]
    assert headings([*prose(760), *title, *prose(640)], prose(760)) == ["The control of lamps in towers"]


def test_a_title_above_a_paragraph_that_goes_on_overleaf() -> None:
    """The paragraph begins on the title's page, although its end is on the next one."""
    page = [*prose(760), Shown(72, 110, "Rolling back", size=13, bold=True)]
    page += [Shown(72, 90 - 12 * n, WORDS) for n in range(3)]
    assert headings(page, [Shown(72, 740, WORDS), *prose(728)]) == ["Rolling back"]


def test_a_title_above_a_picture_and_its_caption() -> None:
    """The first part of a section may be a figure; a label close to the caption is in the figure."""
    caption = Shown(72, 400, "Figure 1. The tower from the sea")
    page = [Shown(72, 740, "Towers", size=16, bold=True), Picture(72, 420, 300, 300), caption, *prose(370)]
    assert headings(page, prose(740)) == ["Towers"]
    page = [*prose(760), Picture(72, 430, 300, 200), Shown(150, 420, "Lamp", size=12, bold=True), caption, *prose(370)]
    assert headings(page, prose(740)) == []


def test_a_chapter_at_the_right_edge() -> None:
    """The word, the number and the title stand below each other at the right, as Sphinx sets them."""
    chapter = [
        Shown(490, 700, "CHAPTER", size=10, bold=True),
        Shown(511, 670, "ONE", size=14, bold=True),
        Shown(421, 610, "INTRODUCTION", size=14, bold=True),
    ]
    text = [Shown(72, 560 - 12 * n, f"{WORDS} {WORDS[:30]}") for n in range(8)]
    assert headings([*chapter, *text], text) == ["CHAPTER ONE INTRODUCTION"]


@pytest.mark.parametrize("word", ["Cap\u00edtol", "Appendice", "Hoofdstuk", "Rozdzia\u0142", "Ch\u01b0\u01a1ng"])
def test_the_number_of_a_chapter_in_other_languages(word: str) -> None:
    """It is no heading of its own, but a part of the title below it."""
    page = [Shown(72, 740, f"{word} 3", size=18, font="unicode"), Shown(72, 710, "De lampen", size=18, bold=True)]
    assert headings([*page, *prose(660)], prose(740)) == [f"{word} 3 De lampen"]


def test_titles_on_a_page_of_tables() -> None:
    """A page whose only text beside its titles is in tables and one sentence in smaller print is no cover."""
    rows = [[f"lamp {n}", f"{n} metres", f"{2 * n} candles"] for n in range(9)]
    cells = [
        Shown(75 + 150 * column, 660 - 20 * row, text)
        for row, line in enumerate(rows)
        for column, text in enumerate(line)
    ]
    ruled = grid([72, 222, 372, 522], [675 - 20 * n for n in range(10)])
    page = [
        Shown(72, 740, "Using the lamps", size=13, bold=True),
        Shown(72, 715, "The height of each lamp above the sea, and its light in candles.", size=8),
    ]
    assert "Using the lamps" in headings(prose(740, 20), [*page, *cells, *ruled], prose(740, 20))


def test_the_bold_beginning_of_a_paragraph_is_no_title() -> None:
    """The first line is bold and full, and the sentence goes on in plain type below it."""
    line = Shown(72, 600, "Use several processors where the machine has them, and turn on the lamp if", bold=True)
    rest = [Shown(72, 588, "this is so."), *prose(560)]
    assert headings([*prose(760), line, *rest], prose(740)) == []


def test_a_full_line_of_japanese_with_a_comma_is_no_title() -> None:
    """It is the first line of a paragraph, in larger type."""
    line = "\u6ce8\u610f\uff1a\u6f22\u5b57\u306b\u5bfe\u5fdc\u3059\u308b\u305f\u3081\u306b\uff0c" + "\u6587\u5b57" * 18
    text = [Shown(72, 740 - 16 * n, "\u6587\u5b57" * 32, size=10, font="unicode") for n in range(12)]
    below = [Shown(72, 520 - 16 * n, "1 " + "\u6587\u5b57" * 31, size=10, font="unicode") for n in range(3)]
    assert headings([*text, Shown(72, 540, line, size=13, font="unicode"), *below], text) == []


@pytest.mark.parametrize("text", ["C = ajk + bki", "a b c d e f g h i j k l m n"])
def test_formulas_and_alphabets_are_no_titles(text: str) -> None:
    """They are in a larger font than the running text."""
    assert headings([*prose(760), Shown(200, 690, text, size=12), *prose(660)], prose(740)) == []


def test_a_list_in_large_type_is_no_row_of_titles() -> None:
    """Numbers that are counted on, without text between them, are of one list."""
    sizes = (13, 16, 14, 13, 15)
    page = [Shown(200, 600 - 22 * n, f"{n + 1}. Part of the tower", size=size) for n, size in enumerate(sizes)]
    assert headings([*prose(760), *page, *prose(440)], prose(740)) == []


@pytest.mark.parametrize("label", ["Av\u00eds", "Suggerimento", "Waarschuwing", "\u0412\u0430\u0436\u043d\u043e"])
def test_labels_of_warnings_in_other_languages(label: str) -> None:
    """They are no titles of sections."""
    page = [*prose(760), Shown(72, 690, label, size=13, font="unicode"), *prose(670)]
    assert headings(page, prose(740)) == []

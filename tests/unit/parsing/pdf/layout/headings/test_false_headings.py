"""Text that looks like a heading and is none: parts of sentences, labels, title pages, slides that continue."""

import pytest

from sourcebook.parsing.pdf.layout.lines.rows import joined
from sourcebook.parsing.pdf.layout.page_parts import Line
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown
from tests.unit.parsing.pdf.prose_pages import WORDS, headings, prose


def test_prose_between_much_code_is_no_heading() -> None:
    """The code of a manual may have most of its letters, in a smaller font than its prose."""
    marks = prose(760, 9, size=11)
    for n in range(3):
        marks += [Shown(72, 620 - 160 * n, f"The keeper {n} is called by", size=11)]
        marks += [
            Shown(72, 600 - 160 * n - 10 * line, f"keeper.call({line}, lamp, stairs, light)", size=8, font="mono")
            for line in range(12)
        ]
    assert headings(marks) == []


def test_labels_of_a_diagram_in_small_print_are_no_headings() -> None:
    """A page of a diagram has no running text in the size of its labels, beside which bold ones are headings."""
    marks: list[Mark] = []
    for n in range(36):
        x, y = 72 + 130 * (n % 4), 700 - 70 * (n // 4) - 17 * (n % 4)
        marks += [Shown(x, y, f"Model Gate{n}", size=5, bold=True)]
        marks += [Shown(x, y - 8 - 7 * line, f"+ height {line} metre", size=5) for line in range(3)]
    assert headings(prose(740, 45), prose(740, 45), marks) == []


def test_a_chapter_and_its_title_are_one_heading() -> None:
    """The number is above the title, in a size of its own."""
    page = [Shown(72, 740, "Chapter 3", size=18, bold=True), Shown(72, 710, "The lamp", size=22, bold=True)]
    assert headings([*page, *prose(660)], prose(740)) == ["Chapter 3 The lamp"]


def test_a_section_and_its_first_subsection_are_two_headings() -> None:
    """They have no text between them, and here one style."""
    page: list[Mark] = [
        Shown(72, 700, "2.2 Areas", size=10, bold=True),
        Shown(72, 688, "2.2.1 Dunes", size=10, bold=True),
    ]
    assert headings([*prose(760), *page, *prose(670)]) == ["2.2 Areas", "2.2.1 Dunes"]


def test_a_line_of_a_sentence_is_no_heading() -> None:
    """A name in a larger font does not part the sentence around it."""
    page = [
        *prose(760),
        Shown(72, 700, f"{WORDS} and"),
        Shown(72, 686, "then the Keeper of lamps and boats by night", size=14),
        Shown(72, 674, f"goes on with {WORDS}."),
    ]
    assert headings(page) == []


def test_the_size_of_a_line_is_that_of_most_letters() -> None:
    """The box of one sign or long name may be far taller than its line."""
    words = [Line(text, 60 * n, 60 * n + 50, 0, 10, 10) for n, text in enumerate(("the", "sum", "of", "all", "terms"))]
    tall = Line("permutation", 300, 360, -10, 15, 25)
    assert joined([*words, tall]).size == 10


@pytest.mark.parametrize("label", ["Remark.", "Example 3.", "Theorem 2.1 (Gauss).", "Important note."])
def test_labels_of_remarks_and_theorems_are_no_headings(label: str) -> None:
    """Such a label is bold and begins a paragraph."""
    beside = Shown(74 + 5.6 * len(label), 700, "some words that fill the line of a page with the keeper")
    assert headings([*prose(760), Shown(72, 700, label, bold=True), beside, *prose(688)]) == []


def test_a_bracket_that_is_not_closed_is_no_heading() -> None:
    """It is a part of a sentence or of a signature."""
    assert headings([*prose(760), Shown(72, 700, "lamp, stairs)", bold=True), *prose(680)]) == []


def test_authors_and_dates_below_a_title_are_no_headings() -> None:
    """The heading directly above the running text stays."""
    page = [
        Shown(200, 740, "The Lights of the Bay", size=20),
        Shown(220, 710, "Ada Byron", size=14),
        Shown(220, 690, "24 July 2022", size=14),
        Shown(72, 660, "Abstract", bold=True),
        *prose(640, 6),
        Shown(72, 560, "1 Introduction", bold=True),
        *prose(540, 6),
    ]
    assert headings(page, prose(740)) == ["The Lights of the Bay", "Abstract", "1 Introduction"]


def test_slides_that_continue_are_one_section() -> None:
    """Their title is a heading once; the title of another slide between them begins a section."""
    slides = [[Shown(72, 720, title, size=24), *prose(660, size=14)] for title in ("Lamps", "Lamps", "Boats", "Lamps")]
    assert headings(*slides) == ["Lamps", "Boats", "Lamps"]


def test_a_sample_of_letters_is_no_heading() -> None:
    """No word is as long as an alphabet."""
    sample = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    assert headings([Shown(72, 740, sample, size=14, bold=True), *prose(700)]) == []

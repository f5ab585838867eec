"""Bold text that is no title, and titles that are not bold: labels, terms, commands, numbered and slanted titles."""

import pytest

from sourcebook.parsing.pdf.layout.build_document import build_document
from sourcebook.parsing.pdf.layout.headings.unlikely_titles import is_no_title
from sourcebook.parsing.pdf.layout.lines.text_style import TextStyle
from sourcebook.parsing.pdf.layout.page_parts import Line, Page
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown
from tests.unit.parsing.pdf.prose_pages import WORDS, headings, prose


def bold(top: float, text: str, size: float = 10, left: float = 72) -> Shown:
    return Shown(left, top, text, size=size, bold=True)


def test_a_label_that_many_sections_have_is_no_heading() -> None:
    """It names none of them; two sections of different pages may have one title, and a larger one may be repeated."""
    pages = [
        [
            *prose(760),
            bold(700, f"1.{n} Lamp {n}"),
            *prose(680),
            bold(610, "Returns"),
            *prose(590),
            bold(520, "Notes on oil" if n < 2 else "Notes on glass"),
            *prose(500),
            bold(420, "Summary", size=14),
            *prose(400),
        ]
        for n in range(3)
    ]
    expected = [
        title
        for n in range(3)
        for title in (f"1.{n} Lamp {n}", "Notes on oil" if n < 2 else "Notes on glass", "Summary")
    ]
    assert headings(*pages) == expected


def test_a_label_that_is_twice_on_one_page_is_no_heading() -> None:
    """Examples and watermarks, whatever their size."""
    page = [*prose(760), bold(690, "Draft", size=20), *prose(660), bold(590, "Draft", size=20), *prose(560)]
    assert headings(page) == []


def test_terms_are_no_headings_where_their_definitions_are_apart() -> None:
    """White space may part a term from its indented definition; text that is all indented has headings beside it."""
    defined: list[Mark] = [*prose(760, 12), bold(560, "Rest area"), Shown(92, 538, f"{WORDS}.")]
    assert headings(defined) == []
    indented = [Shown(92, 538 - 12 * n, WORDS) for n in range(20)]
    assert headings([bold(560, "Rest area"), *indented]) == ["Rest area"]


@pytest.mark.parametrize(
    "text",
    [
        "{before, after}",
        "(p. 51), set the lamp (p. 142)",
        "make -o lamps lamps.c",
        "sort lamps >sorted",
        "Copyright © 2022 The Keepers",
        "∥Lθ∥ = 1",
    ],
)
def test_commands_and_formulas_are_no_titles(text: str) -> None:
    """They begin with a sign, or hold options and operators."""
    assert is_no_title([Line(text, 72, 72 + 5 * len(text), 0, 10, 10)], text, TextStyle(10, False, {}))


@pytest.mark.parametrize("text", ["(2) Oil for the lamps", "(iv) Glass", "Foreign words (and others)"])
def test_numbers_in_brackets_begin_titles(text: str) -> None:
    """Reports number their sections so."""
    assert not is_no_title([Line(text, 72, 72 + 5 * len(text), 0, 10, 10)], text, TextStyle(10, False, {}))


def test_letters_of_a_picture_are_no_titles() -> None:
    """A glyph's name is far longer than the glyph is wide, and labels of diagrams are far smaller than text."""
    style = TextStyle(5, False, {}, elsewhere=10)
    assert not is_no_title([Line("Treble clef", 72, 130, 0, 12, 12)], "Treble clef", style)
    assert is_no_title([Line("Treble clef", 72, 90, 0, 36, 36)], "Treble clef", style)
    assert is_no_title([Line("Treble clef", 72, 97, 0, 5, 5)], "Treble clef", style)


def test_the_lines_of_a_numbered_title_are_one_heading() -> None:
    """The second line is indented to the title's text; a line behind white space is another heading."""
    wide = "2.1 The lamp, the oil, the glass, and what else the keeper of a light brings up"
    page = [
        *prose(760, 6),
        Shown(72, 660, wide, size=12, bold=True),
        Shown(98, 646, "the stairs", size=12, bold=True),
        *prose(620, 6),
        Shown(72, 520, "Chapter 3. Boats", size=16, bold=True),
        Shown(72, 500, "Oars", size=16, bold=True),
        *prose(470, 6),
    ]
    assert headings(page) == [f"{wide} the stairs", "Chapter 3. Boats", "Oars"]


def test_a_numbered_title_may_end_with_a_colon_or_full_stop() -> None:
    """Its number shows that it begins a section; a bold item of a list and a bold sentence stay text."""
    page = [*prose(760), bold(690, "2.3 Oil:"), *prose(670), bold(590, "2. Bring oil."), *prose(570)]
    assert headings(page) == ["2.3 Oil:"]


def test_titles_in_italics_are_headings() -> None:
    """Papers set the titles of their lowest level so; lines in italics within text and single ones stay text."""

    def page_with(titles: int) -> list[str]:
        lines = [Line(f"{WORDS}.", 72, 400, 40, 50, 10)]
        top = 70.0
        for n in range(4):
            if n < titles:
                lines.append(Line(f"Keeping lamp {n}", 72, 150, top, top + 10, 10, italic=True))
                top += 20
            for _ in range(6):
                lines.append(Line(WORDS, 72, 400, top, top + 10, 10))
                top += 12
            lines.append(Line("see The Lights of the Bay", 72, 180, top, top + 10, 10, italic=True))
            lines.append(Line(f"and {WORDS}.", 72, 400, top + 12, top + 22, 10))
            top += 42
        document = build_document([Page(1, 595, 842, tuple(lines))])
        return [item.text for item in document.texts if item.label in ("section_header", "title")]

    assert page_with(4) == [f"Keeping lamp {n}" for n in range(4)]
    assert page_with(1) == []

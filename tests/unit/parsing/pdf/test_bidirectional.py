"""Hebrew and Arabic lines are read in their order, with their Latin words, numbers and brackets."""

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.bidirectional import brackets_are_mirrored, in_reading_order, runs_from_right
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.painted_letters import Letter, painted_text
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf


@pytest.mark.parametrize(
    ("painted", "read"),
    [
        ("םולש", "שלום"),
        (".PDF-ב", "ב-PDF."),
        ("תכמותו )Python 3.11 תפשב( 2024 תנשב", "בשנת 2024 (בשפת Python 3.11) ותומכת"),
        (')17% מ"עמ ללוכ( 1,250.50 אוה', 'הוא 1,250.50 (כולל מע"מ 17%)'),
        (".ףוס )English inside( םגו", "וגם (English inside) סוף."),
        (")USD( ריחמ", "מחיר (USD)"),
        ("f(x, 2) תא", "את f(x, 2)"),
        (".]3 ףיעס[ https://example.org/a?b=1 ואר", "ראו https://example.org/a?b=1 [סעיף 3]."),
        (".٢٥ ةحفص", "صفحة ٢٥."),
        ("2024 2023 םינש", "שנים 2023 2024"),
    ],
)
def test_lines_from_right_to_left(painted: str, read: str) -> None:
    """Latin words and numbers keep their order; brackets stand where they open and close."""
    assert runs_from_right(painted, page_from_right=True)
    assert in_reading_order(painted, from_right=True) == read


def test_words_from_right_to_left_within_a_line_from_left_to_right() -> None:
    """Only the Hebrew words of an English line are turned."""
    painted = "A line with םלוע 17 םולש (hello world) inside."
    assert not runs_from_right(painted, page_from_right=True)
    assert in_reading_order(painted, from_right=False) == "A line with שלום 17 עולם (hello world) inside."


def test_brackets_by_their_shape() -> None:
    """Where fonts give the shape of a bracket, the one that opens is that which closes Latin text."""
    by_shape = [("(2.1 הסרג) ךירדמ", True), ("(ב) ףיעס", True)]
    assert brackets_are_mirrored(by_shape)
    assert in_reading_order("(2.1 הסרג) ךירדמ", from_right=True, mirrored=True) == "מדריך (גרסה 2.1)"
    assert not brackets_are_mirrored([(")2.1 הסרג( ךירדמ", True), (")ב( ףיעס", True)])


def test_vowel_marks_stay_with_their_letter() -> None:
    """A mark follows its letter, wherever its glyph stands."""
    letters = [
        Letter("ת", 70, 78, 74, 5, 10),
        Letter("ב\u05bc\u05b7", 79, 88, 83.5, 5, 10),
    ]
    run = [Line("ב\u05bc\u05b7ת", 70, 88, 0, 10, 10)]
    assert in_reading_order(painted_text(letters, run), from_right=True) == "ב\u05bc\u05b7ת"


@pytest.mark.parametrize("by_shape", [False, True])
def test_the_text_of_a_page_from_right_to_left(by_shape: bool) -> None:
    """A page painted from left to right gives brackets, Latin words and numbers in their order."""
    painted = ".ףוס )Open Source 3.11 רישכמ( 2024 תנשב ]ב[ ףיעס"
    if by_shape:
        painted = painted.translate(str.maketrans("()[]", ")(]["))
    marks = [Shown(72, 700 - 14 * n, painted, font="unicode") for n in range(14)]
    text = parse_pdf(pdf([marks]), settings=ParsingSettings(ocr=False)).markdown
    assert text.count("סעיף [ב] בשנת 2024 (מכשיר Open Source 3.11) סוף.") == 14

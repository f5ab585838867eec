"""Layouts of newsletters, books, manuals and financial statements, each in a PDF made for it."""

from collections.abc import Sequence

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.covering import assert_blocks_cover, texts
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, grid, pdf

WORDS = "that is as long as lines of running text in a column usually are"


def parse_page(*pages: Sequence[Mark]) -> ParsedDocument:
    document = parse_pdf(pdf(pages), settings=ParsingSettings(ocr=False))
    assert_blocks_cover(document)
    return document


def column(x: float, name: str, *, top: float, lines: int = 20) -> list[Mark]:
    return [Shown(x, top - 11 * n, f"{name} column, line {n}, and so on.", size=8) for n in range(lines)]


def paragraph(top: float, *, x: float = 72, lines: int = 3) -> list[Mark]:
    return [Shown(x, top - 12 * n, f"Text {n} {WORDS}") for n in range(lines)]


def assert_in_order(text: str, *parts: str) -> None:
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_columns_whose_lines_do_not_stand_beside_each_other() -> None:
    """Three columns of a newsletter, shifted by headings, are read one after the other; no table is made of them."""
    heads = [Shown(50, 716, "Harbour news", size=14), Shown(230, 640, "Weather", size=14)]
    middle = [*column(230, "second", top=714, lines=6), *column(230, "second again", top=622, lines=12)]
    document = parse_page([*heads, *column(50, "first", top=697), *middle, *column(410, "third", top=709)])
    assert_in_order(
        document.markdown, "Harbour news", "first column, line 19", "second column, line 5", "Weather", "third column"
    )
    assert "table" not in {block.kind for block in document.blocks}
    assert [block.title for block in document.blocks if block.kind == "heading"] == ["Harbour news", "Weather"]


def test_a_heading_in_the_next_column_joins_no_lines() -> None:
    """Large letters that stand as high as two lines of another column leave them two lines."""
    heading = Shown(330, 693, "Large", size=14)
    lines = [Shown(72, 700, "one two three four five six"), Shown(72, 688, "seven eight nine ten eleven twelve")]
    assert "one two three four five six seven eight nine ten" in parse_page([*lines, heading]).markdown


def test_initials_begin_their_word() -> None:
    """A large letter over several lines, as at the start of a chapter, belongs to the first of them."""
    lines = [Shown(100, 700, f"ociety {WORDS}"), Shown(100, 688, f"of them {WORDS}"), Shown(72, 676, f"all {WORDS}.")]
    document = parse_page([Shown(72, 686, "S", size=34), *lines, *paragraph(640)])
    assert texts(document)[0] == f"Society {WORDS} of them {WORDS} all {WORDS}."


def test_text_in_a_frame_is_kept_apart() -> None:
    """The text of a frame beside running text is read separately, after it."""
    left = [Shown(72, 700 - 12 * n, f"Running text, line {n}, beside a frame.") for n in range(2)]
    inside = [Shown(330, 696 - 10 * n, f"Framed words, line {n}.", size=8) for n in range(3)]
    page = [*paragraph(760), *left, *inside, *grid([320, 500], [660, 710]), *paragraph(630)]
    text = parse_page(page).markdown
    assert_in_order(text, "Running text, line 1", "Framed words, line 0. Framed words, line 1. Framed words, line 2.")


def test_terms_and_warnings_are_no_headings() -> None:
    """Bold words over an indented text that they define, and the word over a warning, stand for no section."""
    terms = [
        Shown(72, 600, "Datum", bold=True),
        Shown(100, 588, "The height that is called zero."),
        Shown(72, 570, "Warning", bold=True),
        Shown(72, 550, "Do not lean over the wall of the quay, and do not swim."),
        Shown(72, 520, "Next steps", bold=True),
        Shown(72, 500, f"Text {WORDS}"),
    ]
    document = parse_page([*paragraph(700), *terms])
    assert [block.title for block in document.blocks if block.kind == "heading"] == ["Next steps"]


def test_statement_with_lines_over_its_totals() -> None:
    """Lines that part only the totals from what they are made of do not make one row of several."""
    rows = [("Harbour dues", "1,204", "1,180"), ("Fish market", "(310)", "280"), ("Income", "894", "1,460")]
    rows += [("Repairs", "402", "390"), ("Wages", "350", "340"), ("Surplus", "142", "730")]
    cells: list[Mark] = [
        Shown(x, 700 - 14 * n, text)
        for n, row in enumerate([("", "2024", "2023"), *rows])
        for x, text in zip((72, 300, 400), row, strict=True)
        if text
    ]
    lines = [line for y in (668, 626) for line in grid([72, 430], [y])[:1]]
    document = parse_page([*cells, *lines, *paragraph(560)])
    assert "| Fish market | (310) | 280 |" in document.markdown
    assert "| Surplus | 142 | 730 |" in document.markdown


def test_rows_of_a_table_are_no_columns_of_text() -> None:
    """Words in the first and the last column of a table do not make these columns of the page."""
    rows = [("Source", "2023", "2024", "Remark")]
    rows += [(f"Weather variance {n}", f"{n}9,627", f"{n}4,215", f"Signal more market on day {n}") for n in range(8)]
    cells = [
        Shown(x, 700 - 14 * n, text, size=8)
        for n, row in enumerate(rows)
        for x, text in zip((72, 160, 200, 240), row, strict=True)
    ]
    document = parse_page([*paragraph(760), *cells, *paragraph(540)])
    assert "| Weather variance 3 | 39,627 | 34,215 | Signal more market on day 3 |" in document.markdown


def test_words_in_a_figure_are_no_headings() -> None:
    """Large words among the scraps of a drawing, over its caption, stand for no section."""
    drawing = [Shown(100, 600, "Pump house", size=14), Shown(200, 570, "valve"), Shown(100, 540, "to the sea")]
    caption = Shown(72, 500, "Figure 1: How the water leaves the harbour.")
    page = [*paragraph(700), Shown(72, 650, "Drainage", size=14), *paragraph(635, lines=2), *drawing, caption]
    document = parse_page([*page, *paragraph(470)])
    assert [block.title for block in document.blocks if block.kind == "heading"] == ["Drainage"]


def test_a_table_that_goes_on_without_its_header() -> None:
    """Its rows on the next page are rows of the one table; a part that repeats the header is a table of its own."""

    def part(rows: Sequence[tuple[str, str]], top: float) -> list[Mark]:
        ys = [top - 16 * n for n in range(len(rows) + 1)]
        lines = zip(ys[:-1], rows, strict=True)
        cells = [Shown(x, y - 12, text) for y, row in lines for x, text in zip((76, 306), row, strict=True)]
        return [*grid([72, 300, 500], ys), *cells]

    header, rows = ("Class", "Arrivals"), [(f"Vessel {letter}", f"{ord(letter)},401") for letter in "ABCDEFGH"]
    before, after = paragraph(700), [Shown(72, 500, "That was all.")]
    joined = parse_page([*before, *part([header, *rows[:4]], 640)], [*part(rows[4:], 740), *after])
    assert [block.kind for block in joined.blocks] == ["paragraph", "table", "paragraph"]
    assert joined.markdown.index("| Vessel D | 68,401 |\n| Vessel E | 69,401 |") > 0
    repeated = parse_page([*before, *part([header, *rows[:4]], 640)], [*part([header, *rows[4:]], 740), *after])
    assert [block.kind for block in repeated.blocks] == ["paragraph", "table", "table", "paragraph"]


def test_the_line_below_a_chapter_number_is_its_title() -> None:
    """Books set it in letters that differ little from those of the text."""
    page = [Shown(72, 700, "Chapter 3", size=14), Shown(72, 670, "The keeper of the light"), *paragraph(640)]
    document = parse_page(page)
    headings = [block.title for block in document.blocks if block.kind == "heading"]
    assert headings == ["Chapter 3 The keeper of the light"]


def test_numbered_sections_without_space_between() -> None:
    """A short line with a section's number is a heading, however close the text follows; several make no table."""
    page = [Shown(72, 700 - 12 * n, text) for n, text in enumerate(["2.1. Hardware", "Text of it.", "2.2. Software"])]
    wide = [Shown(72 + 60 * n, 600 - 12 * k, t) for k in range(4) for n, t in enumerate([f"3.1.{k}.", "Constraint"])]
    document = parse_page([*paragraph(760), *page, *paragraph(664), *wide, *paragraph(500)])
    headings = [block.title for block in document.blocks if block.kind == "heading"]
    assert headings[:2] == ["2.1. Hardware", "2.2. Software"]
    assert "table" not in {block.kind for block in document.blocks}

"""Columns, lists, tables, code, headings, running heads, and other scripts, each on a PDF made for it."""

import time
from collections.abc import Sequence
from typing import Literal

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.covering import assert_blocks_cover, texts
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, Stroke, grid, pdf

WORDS = "that is as long as lines of running text in a column usually are"


def parse_pages(*pages: Sequence[Mark], outline: Sequence[tuple[str, int]] = ()) -> ParsedDocument:
    document = parse_pdf(pdf(pages, outline=outline), settings=ParsingSettings(ocr=False))
    assert_blocks_cover(document)
    return document


def column(x: float, name: str, *, top: float = 700, lines: int = 8, size: float = 10) -> list[Mark]:
    return [
        Shown(x, top - 1.2 * size * n, f"{name} column line number {n} of {lines} or so.", size=size)
        for n in range(lines)
    ]


def paragraph(top: float, *, x: float = 72, lines: int = 3, name: str = "Text") -> list[Mark]:
    return [Shown(x, top - 12 * n, f"{name} {n} {WORDS}") for n in range(lines)]


def assert_in_order(text: str, *parts: str) -> None:
    assert (places := [text.index(part) for part in parts]) == sorted(places)


def test_columns_are_read_one_after_the_other() -> None:
    """A title above both columns comes first, what spans both below them last; rows are not mixed."""
    title = Shown(72, 740, "A title that spans both of the columns of this page, from left to right", size=14)
    below = Shown(72, 500, "A line below the columns that goes from the left of the page to the right of it, and on.")
    text = parse_pages([below, *column(330, "right"), *column(72, "left"), title]).markdown
    assert_in_order(text, "A title", "left column line number 7", "right column line number 0", "A line below")


def test_three_columns() -> None:
    """Each is read to its end."""
    page = [*column(420, "third", size=8), *column(50, "first", size=8), *column(235, "second", size=8)]
    text = parse_pages(page).markdown
    assert_in_order(text, "first column line number 7", "second column line number 0", "third column line number 0")


def test_heading_below_columns_of_different_length() -> None:
    """A heading below the shorter column belongs to the text across the page that follows it."""
    heading = Shown(72, 560, "What follows", size=14)
    across = [
        Shown(72, 540 - 12 * n, f"Text across the whole page, line {n}: {WORDS} and then some.") for n in range(3)
    ]
    text = parse_pages([*column(72, "left"), *column(330, "right", lines=10), heading, *across]).markdown
    assert_in_order(text, "left column line number 0", "right column line number 9", "## What follows", "line 0")


def test_paragraphs_run_on_across_columns_and_pages() -> None:
    """A sentence that stops at the foot of a column goes on at the head of the next, footnotes between them or not."""
    first = [*paragraph(700, lines=20), Shown(72, 460, "and the last words of this page are di-")]
    note = [Shown(72, 100, "1) A footnote in smaller letters at the foot.", size=7)]
    second = [Shown(72, 700, "vided between it and the next one."), *paragraph(660, name="Other")]
    document = parse_pages([*first, *note], second)
    assert "the last words of this page are divided between it and the next one." in document.markdown
    assert [text[:5] for text in texts(document)] == ["Text ", "1) A ", "Other"]


def test_compounds_keep_their_hyphen() -> None:
    """A word that the document writes with a hyphen elsewhere keeps it at a line's end; a soft hyphen goes."""
    page = [
        Shown(72, 700, "This is a long-term plan, and what the plan says is that long-"),
        Shown(72, 688, "term plans are better than short ones, as they de-"),
        Shown(72, 676, "serve more thought."),
        Shown(72, 640, "soft\u00adhyphens and \ufb01ne ligatures", font="unicode"),
    ]
    text = parse_pages(page).markdown
    assert "that long-term plans are better than short ones, as they deserve more thought." in text
    assert "softhyphens and fine ligatures" in text


def test_heading_levels_from_numbers_and_sizes() -> None:
    """The title is level 1; numbers tell the levels below it, and other headings go by size."""
    page = [
        Shown(72, 760, "The title of it", size=24),
        Shown(72, 720, "1 First part", size=16),
        *paragraph(700),
        Shown(72, 640, "1.1 A section", size=13),
        *paragraph(620),
        Shown(72, 560, "Unnumbered part", size=16),
        *paragraph(540),
        Shown(72, 480, "A bold line", bold=True),
        *paragraph(460),
    ]
    document = parse_pages(page)
    headings = [(block.level, block.title) for block in document.blocks if block.kind == "heading"]
    assert headings == [
        (1, "The title of it"),
        (2, "1 First part"),
        (3, "1.1 A section"),
        (2, "Unnumbered part"),
        (4, "A bold line"),
    ]


def test_numbers_alone_tell_headings() -> None:
    """A short line that begins with 3.2 is a heading in any letters; a measure and a numbered clause are none."""
    page = [
        *paragraph(740),
        Shown(72, 690, "3.2 Methods used"),
        *paragraph(665),
        Shown(72, 610, "3.5 million were sold"),
        Shown(72, 590, "4.1 The supplier delivers all goods within thirty days after the order."),
        *paragraph(560),
    ]
    document = parse_pages(page)
    assert [(block.level, block.title) for block in document.blocks if block.kind == "heading"] == [
        (3, "3.2 Methods used")
    ]


def test_bold_lines_below_each_other_are_no_headings() -> None:
    """Where nothing stands below any of them, they are a list of names or an agenda."""
    names = ("Ada Lovelace", "Bob Ross", "Cy Twombly")
    shown = [Shown(72, 600 - 24 * n, name, bold=True) for n, name in enumerate(names)]
    document = parse_pages([*paragraph(700), *shown])
    assert not any(block.kind == "heading" for block in document.blocks)


def test_the_outline_tells_headings() -> None:
    """A line that looks like any other is a heading where the file's own outline names it."""
    page = [Shown(72, 740, "On plain headings"), *paragraph(715), Shown(72, 660, "Not named"), *paragraph(635)]
    document = parse_pages(page, outline=[("On Plain  Headings", 1)])
    assert [block.title for block in document.blocks if block.kind == "heading"] == ["On plain headings"]


def test_lists_with_nested_items() -> None:
    """Bullets and numbers make lists, indented ones nested lists; hanging lines belong to their item."""
    page = [
        *paragraph(740),
        Shown(80, 690, "\u2022 First item, which is so long that it is set in", font="unicode"),
        Shown(92, 678, "two lines"),
        Shown(100, 666, "- nested item"),
        Shown(80, 654, "\u2022 Second item", font="unicode"),
        *paragraph(620),
        Shown(80, 570, "1. One"),
        Shown(80, 558, "2. Two"),
    ]
    document = parse_pages(page)
    lists = [text for text, block in zip(texts(document), document.blocks, strict=True) if block.kind == "list"]
    assert lists == [
        "- First item, which is so long that it is set in two lines\n    - nested item\n- Second item",
        "1. One\n2. Two",
    ]


def test_numbers_at_the_start_of_a_line_make_no_list() -> None:
    """A sentence may have a number where its line begins."""
    page = [
        Shown(72, 700, "The results of all these measurements are found in table"),
        Shown(72, 688, "14. They were made in the same year as the others were,"),
        Shown(72, 676, "which is to say long ago."),
    ]
    assert [block.kind for block in parse_pages(page).blocks] == ["paragraph"]


def test_code_keeps_lines_and_indentation() -> None:
    """Lines in a monospaced font are code, with their indentation and empty lines."""
    code = ["def half(n):", "    if n:", "        return n / 2", "", "    return 0"]
    shown = [
        Shown(90 + 6 * (len(line) - len(line.lstrip())), 650 - 12 * n, line.strip(), font="mono")
        for n, line in enumerate(code)
        if line
    ]
    document = parse_pages([*paragraph(700), *shown, *paragraph(560)])
    assert [block.kind for block in document.blocks] == ["paragraph", "code", "paragraph"]
    assert "```\n" + "\n".join(code) + "\n```" in document.markdown


def test_ruled_table_with_spans_and_caption() -> None:
    """Lines part the cells; where one is missing the cell spans; the caption goes with the table."""
    lines = [
        *grid([72, 172, 272, 372], [600, 580, 560]),
        Stroke(72, 540, 372, 540),
        *(Stroke(x, 560, x, 540) for x in (72, 172, 372)),
    ]
    cells = [("Name", "Size", "Weight"), ("Duck", "small", "1 kg"), ("Goose", "not measured", "")]
    shown = [
        Shown(75 + 100 * column, 586 - 20 * row, text)
        for row, texts_of_row in enumerate(cells)
        for column, text in enumerate(texts_of_row)
        if text
    ]
    document = parse_pages([*paragraph(700), Shown(72, 608, "Table 1: Water birds"), *lines, *shown, *paragraph(500)])
    assert (
        "Table 1: Water birds\n\n"
        "| Name | Size | Weight |\n"
        "| --- | --- | --- |\n"
        "| Duck | small | 1 kg |\n"
        "| Goose | not measured | not measured |\n"
    ) in document.markdown
    block = next(block for block in document.blocks if block.kind == "table")
    assert block.box is not None
    assert [round(side) for side in block.box] == [72, 192, 372, 252]


def test_frames_and_underlines_make_no_table() -> None:
    """A box around text and lines between paragraphs are decoration."""
    frame = [*grid([60, 560], [720, 640]), Stroke(72, 600, 500, 600), Stroke(72, 500, 500, 500)]
    document = parse_pages([*frame, *paragraph(700), *paragraph(580)])
    assert {block.kind for block in document.blocks} == {"paragraph"}


def test_table_of_aligned_columns() -> None:
    """Short cells below each other with white space between are a table; a wrapped cell stays one."""
    rows = [("Region", "2024", "2025"), ("North", "1,234", "2,345"), ("South and West", "34", "45"), ("East", "7", "8")]
    shown = [
        Shown(x, 650 - 16 * n, text) for n, row in enumerate(rows) for x, text in zip((72, 250, 350), row, strict=True)
    ]
    document = parse_pages([*paragraph(720), *shown, *paragraph(550)])
    assert [block.kind for block in document.blocks] == ["paragraph", "table", "paragraph"]
    assert "| South and West | 34 | 45 |" in document.markdown


def test_dots_between_labels_and_numbers_belong_to_no_cell() -> None:
    """Numbers behind dots are cells of a table in which every column stays apart; only page numbers make contents."""
    rows = [("Burglary", "240.9", "60.3", "29"), ("Robbery", "102.1", "25.5", "9"), ("Fraud", "173.7", "5.1", "73")]
    marks: list[Mark] = [Shown(72, 740, "Offense"), Shown(260, 740, "Total"), Shown(320, 740, "Young")]
    for n, (label, *numbers) in enumerate(rows):
        marks.append(Shown(72, 726 - 14 * n, f"{label} . . . . . . . . . . . . . . . . . ."))
        marks += [Shown(260 + 60 * at, 726 - 14 * n, number) for at, number in enumerate(numbers)]
    document = parse_pages(marks)
    assert "| Robbery | 102.1 | 25.5 | 9 |" in document.markdown
    assert ". ." not in document.markdown


def test_justified_lines_make_no_table() -> None:
    """Wide spaces between the words of a justified paragraph are no white space between columns."""
    wide = [Shown(x, 676 - 12 * n, word) for n in range(3) for x, word in ((72, "considerable"), (300, "difficulties"))]
    full = [Shown(72, y, "Full lines of the paragraph are set around the wide ones.") for y in (700, 688, 640)]
    document = parse_pages([*full, *wide])
    assert {block.kind for block in document.blocks} == {"paragraph"}


def test_contents_are_a_table_and_no_headings() -> None:
    """Entries with dot leaders keep their page numbers and lose the dots."""
    entries = [
        Shown(72, 700 - 14 * n, f"{title} . . . . . . . . . . . . . . . . . . . . {page}", bold=True)
        for n, (title, page) in enumerate([("Preface", "vii"), ("1 Beginning", "1"), ("2 End", "27")])
    ]
    document = parse_pages([Shown(72, 740, "Contents", size=18), *entries], [*paragraph(700)])
    assert [block.title for block in document.blocks if block.kind == "heading"] == ["Contents"]
    assert "| 1 Beginning | 1 |" in document.markdown
    assert ". ." not in document.markdown


def test_footnotes_stand_apart() -> None:
    """Small numbered text at the foot of a column is neither a list nor a heading."""
    notes = [Shown(72, 90, "1 See the first book.", size=7), Shown(72, 80, "2 See the second book.", size=7)]
    document = parse_pages([*paragraph(700, lines=10), *notes])
    assert [block.kind for block in document.blocks] == ["paragraph"] * 3
    assert document.markdown.rstrip().endswith("2 See the second book.")


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_turned_pages(angle: Literal[90, 180, 270]) -> None:
    """A page whose text runs upwards, downwards or upside down is read like any other."""
    places = {
        90: [(100 + 12 * n, 72) for n in range(4)],
        180: [(540, 100 + 12 * n) for n in range(4)],
        270: [(500 - 12 * n, 740) for n in range(4)],
    }[angle]
    lines = [Shown(x, y, f"Turned {n} {WORDS}", angle=angle) for n, (x, y) in enumerate(places)]
    document = parse_pages(lines)
    assert document.markdown == "".join(f"Turned {n} {WORDS} " for n in range(4)).rstrip() + "\n"


def test_turned_margin_notes_come_last() -> None:
    """A stamp that runs up the margin does not interrupt the text."""
    page = [*paragraph(700, lines=6), Shown(30, 600, "stamped in the margin", angle=90)]
    assert texts(parse_pages(page))[-1] == "stamped in the margin"


def test_right_to_left_text_is_in_logical_order() -> None:
    """Words run from right to left, numbers and Latin words within them from left to right."""
    visual = [("שלום", 470), ("עולם", 440), ("2024", 405), ("PDF", 350), ("reader", 370), ("סוף", 320)]
    words = [Shown(x, 700, text if text.isascii() else text[::-1], size=8, font="unicode") for text, x in visual]
    assert parse_pages(words).markdown == "שלום עולם 2024 PDF reader סוף\n"


def test_right_to_left_columns() -> None:
    """The right column is read first, and its lines make paragraphs."""
    right = [Shown(330, 700 - 12 * n, f"ימין {n} של הטור הראשון בעמוד הזה"[::-1], font="unicode") for n in range(8)]
    left = [Shown(72, 700 - 12 * n, f"שמאל {n} של הטור השני בעמוד הזה"[::-1], font="unicode") for n in range(8)]
    document = parse_pages([*left, *right])
    assert_in_order(document.markdown, "ימין 0", "ימין 7", "שמאל 0", "שמאל 7")


def test_a_page_of_very_many_cells() -> None:
    """Ten thousand scattered words take seconds, not minutes: 2 of a core, and 24 if each is compared with each."""
    cells = [Shown(10 + (n * 37 % 590), 10 + (n * 53 % 770), f"w{n % 10}", size=2) for n in range(10_000)]
    begun = time.process_time()
    assert len(parse_pages(cells).markdown) > 10_000
    assert time.process_time() - begun < 12


def test_rows_of_numbers_between_two_drawn_lines_stay_rows() -> None:
    """A line is drawn only below each group, whose name stands above its numbers; a column may hold fewer of them."""
    xs, ys = [72, 172, 272, 372], [612, 596, 540, 484]
    shown = [Shown(75 + 100 * n, 600, text) for n, text in enumerate(("Sample", "Bias", "Error"))]
    for group, top in (("Portnoy", 584), ("Powell", 528)):
        shown.append(Shown(75, top, group))
        for row in range(3):
            place = top - 13 * (row + 1)
            shown += [Shown(75, place, f"n = {group[1]}{row}00"), Shown(175, place, f"-0.00{row}{len(group)}")]
            shown += [Shown(275, place, f"0.06{row}{len(group)}")] if row else []
    document = parse_pages([*paragraph(700), *grid(xs, ys), *shown, *paragraph(440)])
    assert "| Portnoy |  |  |\n| n = o000 | -0.0007 |  |\n| n = o100 | -0.0017 | 0.0617 |\n" in document.markdown
    assert "| Powell |  |  |\n| n = o000 | -0.0006 |  |\n| n = o100 | -0.0016 | 0.0616 |\n" in document.markdown


def test_boxes_of_brackets_are_items() -> None:
    """Forms draw their boxes with brackets where the font has none."""
    lines = ("[ ] I agree to the terms", "[x] Send me the newsletter", "[ ] Call me")
    document = parse_pages([*paragraph(700), *(Shown(72, 640 - 14 * n, line) for n, line in enumerate(lines))])
    assert "\n".join(f"- {line}" for line in lines) in document.markdown


def test_lines_that_run_over_the_edge_of_the_page_are_whole() -> None:
    """Printers cut them off, and plain text has them. Other text beyond the edge is counted."""
    code = [
        Shown(
            72,
            600 - 12 * n,
            f"call_number_{n}(argument, another_argument, {'longer_argument, ' * 4}last_{n})",
            font="mono",
        )
        for n in range(4)
    ]
    other_half = [Shown(700, 700 - 12 * n, "the other half of a spread") for n in range(3)]
    document = parse_pages([*paragraph(700), *code, *other_half])
    for n in range(4):
        assert f"longer_argument, longer_argument, last_{n})" in document.markdown
    assert "other half" not in document.markdown
    assert document.metadata["left_out"]["words_beyond_page"] == 18  # type: ignore[index, call-overload]

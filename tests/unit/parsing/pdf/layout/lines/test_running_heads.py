"""Running heads, running feet and page numbers: repetitions are left out and counted, and nothing else."""

from collections.abc import Sequence

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.covering import assert_blocks_cover, texts
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, pdf

WORDS = "that is as long as lines of running text in a column usually are"


def parse_pages(pages: Sequence[Sequence[Mark]]) -> ParsedDocument:
    document = parse_pdf(pdf(pages), settings=ParsingSettings(ocr=False))
    assert_blocks_cover(document)
    return document


def paragraph(top: float, *, lines: int = 3, name: str = "Text") -> list[Mark]:
    return [Shown(72, top - 12 * n, f"{name} {n} {WORDS}") for n in range(lines)]


def left_out(document: ParsedDocument) -> dict[str, JsonValue]:
    found = document.metadata.get("left_out", {})
    assert isinstance(found, dict)
    return found


def book_page(number: int, *, first: int = 8) -> list[Mark]:
    return [
        Shown(72, 760, "A handbook of ducks"),
        Shown(72, 700, f"Chapter {number}", size=20),
        *paragraph(650, name=f"Page {number}"),
        Shown(72, 40, "The feeding of ducks"),
        Shown(500, 40, f"{number + first}"),
    ]


def test_running_heads_appear_once() -> None:
    """Rows that repeat on pages in a row appear where they are first; page numbers and repetitions are counted."""
    document = parse_pages([book_page(number) for number in range(1, 5)])
    assert document.markdown.count("A handbook of ducks") == 1
    assert document.markdown.count("The feeding of ducks") == 1
    assert texts(document)[0] == "A handbook of ducks"
    headings = [block.title for block in document.blocks if block.kind == "heading"]
    assert headings == [f"Chapter {number}" for number in range(1, 5)]
    found = left_out(document)
    assert found["rows"] == 6
    assert found["words"] == 3 * 4 + 3 * 5
    assert found["texts"] == [
        "A handbook of ducks",
        "The feeding of ducks 10",
        "The feeding of ducks 11",
        "The feeding of ducks 12",
    ]
    assert isinstance(found["share"], float)
    assert 0 < found["share"] < 0.25


def test_a_head_that_repeats_the_title_goes_from_all_pages() -> None:
    """A running head whose text is in the body appears there alone."""
    pages = [book_page(number) for number in range(1, 5)]
    pages[0] = [Shown(72, 700, "A handbook of ducks", size=20), *paragraph(650)]
    document = parse_pages(pages)
    assert document.markdown.count("A handbook of ducks") == 1
    assert document.markdown.startswith("## A handbook of ducks")


def test_heads_of_left_and_right_pages() -> None:
    """Left and right pages have heads of their own; each appears once."""
    names = ("The book of ducks", "The ponds of Europe")
    pages = [[Shown(72, 760, names[n % 2]), *paragraph(700, name=f"Page {n}")] for n in range(8)]
    text = parse_pages(pages).markdown
    assert [text.count(name) for name in names] == [1, 1]


def test_numbers_of_sampled_pages_rise_by_any_step() -> None:
    """Each text of a foot is kept once; numbers of other things, which do not begin low, stay on every page."""

    def pages(first: int, steps: Sequence[int], foot: str) -> ParsedDocument:
        return parse_pages([[*paragraph(700, name=f"Page {n}"), Shown(72, 40, f"{first + n}   {foot}")] for n in steps])

    steps = (0, 6, 13, 14, 22, 31)
    document = pages(2, steps, "The keeping of ducks in ponds")
    assert document.markdown.count("The keeping of ducks in ponds") == 1
    assert left_out(document)["rows"] == 5
    assert pages(4711, steps, "is the number of this invoice").markdown.count("this invoice") == 6
    assert pages(2, steps, "Article").markdown.count("Article") == 6


def test_a_paragraph_runs_on_past_a_running_head() -> None:
    """A head that is kept on the second page does not part the sentence that goes on there."""
    pages = [
        [*paragraph(700, lines=20), Shown(72, 460, "and the last words of this page are di-")],
        *([Shown(72, 760, "Of ducks"), Shown(72, 700, "vided here."), *paragraph(650)] for _ in range(3)),
    ]
    text = parse_pages(pages).markdown
    assert "and the last words of this page are divided here." in text
    assert text.count("Of ducks") == 1


def test_lines_without_space_to_the_body_are_body() -> None:
    """The first lines of a form letter are the same on all pages and belong to its text."""
    opening = [Shown(72, 740, "Dear member of the society,"), Shown(72, 728, "we thank you for your help and say that")]
    pages = [[*opening, *paragraph(716, name=f"Letter {number}")] for number in range(5)]
    document = parse_pages(pages)
    assert document.markdown.count("Dear member of the society") == 5
    assert document.markdown.count("we thank you for your help") == 5
    assert "left_out" not in document.metadata


def test_two_pages_of_many_share_a_warning() -> None:
    """A line that repeats on two pages is no running head."""
    pages: list[list[Mark]] = [paragraph(700, name=f"Page {number}") for number in range(12)]
    for number in (3, 4):
        pages[number].insert(0, Shown(72, 760, "Do not open while the lamp is hot"))
    assert parse_pages(pages).markdown.count("Do not open while the lamp is hot") == 2


def test_letterheads_stay() -> None:
    """Several close rows that repeat without a page number are no running heads."""
    head = [Shown(72, 770, "Harbour Office"), Shown(72, 758, "4 Quay Road"), Shown(72, 746, "Leith")]
    text = parse_pages([[*head, *paragraph(650, name=f"Letter {n}")] for n in range(4)]).markdown
    assert [text.count(part) for part in ("Harbour Office", "Quay Road", "Leith")] == [4, 4, 4]


def test_pages_that_are_mostly_alike_are_not_emptied() -> None:
    """A ticket whose lines are all in the margin of its page keeps them."""
    pages = [[Shown(72, 760, "Entrance ticket of the museum"), Shown(72, 735, f"Seat {n}")] for n in (14, 3, 27, 5)]
    document = parse_pages(pages)
    assert document.nothing_to_read is None
    assert document.markdown.count("Entrance ticket of the museum") == 4
    assert all(f"Seat {n}" in document.markdown for n in (14, 3, 27, 5))


def test_numbers_that_do_not_count_pages_stay() -> None:
    """Numbers in a row at the edge that differ from page to page otherwise than page numbers do are content."""
    pages = [[Shown(72, 760, f"Invoice {n}"), *paragraph(650, name=f"Page {n}")] for n in (118, 305, 127, 440)]
    text = parse_pages(pages).markdown
    assert all(f"Invoice {n}" in text for n in (118, 305, 127, 440))


def test_names_beside_counting_numbers_stay() -> None:
    """A row that ends with a page number and has a text of its own on each page keeps the text."""
    names = ("Anne Smith", "John Miller", "Mary Jones", "Paul Brown")
    pages = [
        [Shown(72, 760, name), Shown(500, 760, f"{n + 5}"), *paragraph(650, name="Page")]
        for n, name in enumerate(names)
    ]
    assert all(name in parse_pages(pages).markdown for name in names)


@pytest.mark.parametrize("number", ["- 7 -", "Page 1 of 9", "1"])
def test_lone_page_number(number: str) -> None:
    """The number of a single page goes where dashes, words or its value say that it is one; it is counted."""
    document = parse_pages([[*paragraph(700), Shown(72, 600, "42"), Shown(300, 40, number)]])
    assert "42" in document.markdown
    assert number not in document.markdown.splitlines()
    assert left_out(document)["rows"] == 1


def test_another_lone_number_stays() -> None:
    """A number at the foot of a single page may be anything."""
    assert "137" in parse_pages([[*paragraph(700), Shown(300, 40, "137")]]).markdown


def test_points_of_plots_are_counted() -> None:
    """They are no text, and what is no text is told, too; they are in no share of the text."""
    labels = [Shown(72, 700 - 20 * n, f"Income of the year {n}") for n in range(15)]
    points = [Shown(300 + 9 * n, 693 - 20 * n, "l", size=3, font="mono") for n in range(15)]
    document = parse_pdf(pdf([[*labels, *points]]), settings=ParsingSettings(ocr=False))
    assert document.metadata["left_out"] == {"plot_points": 15}
    assert "Income of the year 14" in document.markdown
    assert " l" not in document.markdown


def test_numbers_of_letters_and_invoices_are_no_page_numbers() -> None:
    """They count up with the pages, too, but stand behind a word and are higher than the pages."""
    body = "We thank you for the payment that we have booked to your account in the past month, number"
    pages = [
        [
            Shown(72, 770, "City Water - Service"),
            Shown(72, 756, f"Customer no. {4711 + n}"),
            *(Shown(72, 680 - 14 * line, f"{body} {line}") for line in range(9)),
            Shown(300, 20, str(n + 1)),
        ]
        for n in range(8)
    ]
    document = parse_pages(pages)
    for n in range(8):
        assert f"Customer no. {4711 + n}" in document.markdown


def test_page_numbers_of_an_article_in_a_volume_are_left_out() -> None:
    """They are higher than the pages, but stand apart from the words of the head."""
    pages = [[Shown(72, 770, "Annals of Wells"), Shown(500, 770, str(345 + n)), *paragraph(650)] for n in range(5)]
    document = parse_pages(pages)
    assert document.markdown.count("Annals of Wells") == 1
    assert "348" not in document.markdown

"""Pages and paragraphs far longer than usual take no longer for each word than others."""

import random
from time import process_time

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.layout.words.line_joining import joined_text
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from sourcebook.parsing.pdf.second_reading import second_reading
from sourcebook.parsing.pdf.tight_boxes import _share_near
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, pdf

WORDS = ("keeper", "light", "climbs", "stairs", "every", "evening", "trims", "lamp", "before", "boats", "come", "home")


def lines(count: int, words: int) -> list[str]:
    """Return lines of words, each with its own number before it."""
    chosen = random.Random(5)
    return [f"{number} {' '.join(chosen.choice(WORDS) for _ in range(words))}" for number in range(count)]


def test_letters_far_beyond_the_page_are_read_by_pdfium_alone() -> None:
    """docling-parse takes many seconds for such a page; its lines are whole all the same."""
    texts = lines(90, 55)
    crowded: list[Mark] = [Shown(10, 780 - 8.5 * place, text, size=7) for place, text in enumerate(texts)]
    usual: list[Mark] = [Shown(10, 780 - 8.5 * place, text[:120], size=7) for place, text in enumerate(texts)]
    content = pdf([usual, crowded])
    with second_reading(content) as reading:
        assert [reading.must_read(number) for number in (1, 2, 3)] == [False, True, False]
    found = parse_pdf(content, settings=ParsingSettings(ocr=False)).markdown
    assert all(text in " ".join(found.split()) for text in texts)


def test_a_paragraph_of_many_lines_takes_no_longer_for_each() -> None:
    """Ten times the lines take ten times as long, not a hundred times."""

    def seconds(count: int) -> float:
        rows = [Line(f"{text}-", 0, 400, 0, 10, 10) for text in lines(count, 10)]
        taken = []
        for _ in range(3):
            began = process_time()
            joined_text(rows)
            taken.append(process_time() - began)
        return min(taken)

    assert seconds(4_000) < 40 * max(seconds(400), 0.0005)


def test_divided_words_are_joined_over_several_lines() -> None:
    """The word before a hyphen is the whole one, also where its beginning is lines above."""
    rows = [Line(text, 0, 400, 0, 10, 10) for text in ("a co-", "op-", "era-", "tive sh\u00ad", "op", "x2-", "b")]
    assert joined_text(rows) == "a cooperative shop x2- b"
    assert joined_text(rows, {"coopera-tive"}) == "a coopera-tive shop x2- b"


def test_the_share_of_heights_near_another() -> None:
    """Heights a twelfth away are not near, on either side."""
    heights = [1.0, 11.0, 11.5, 12.0, 12.5, 13.0, 40.0]
    assert _share_near(heights, 12.0) == 3 / 7
    assert _share_near(heights, 100.0) == 0

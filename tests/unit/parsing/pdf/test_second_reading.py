"""Pages whose fonts one reader decodes wrongly are read by another."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.decoded_pages import decoded_pages
from sourcebook.parsing.pdf.east_asian_words import OF_PDFIUM
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from sourcebook.parsing.pdf.second_reading import second_reading
from sourcebook.parsing.pdf.tight_boxes import TightBoxes
from sourcebook.parsing.pdf.words import UNKNOWN, Word, page_words
from tests.unit.parsing.pdf.pdf_writer import Shown, assembled, pdf

LINES = (
    "the keeper of the light climbs the stairs every evening",
    "and trims the lamp before the boats come home",
    "from the banks beyond the bay",
)


def with_glyph_names(prefix: str, lines: Sequence[str] = LINES) -> bytes:
    """Return a PDF whose font names its glyphs by the letters' codes, such as `a116`, which are no known names."""
    names = " ".join(f"/{prefix}{code}" for code in range(97, 123))
    text = "\n".join(f"BT /F 12 Tf 72 {700 - 14 * n} Td ({line}) Tj ET" for n, line in enumerate(lines))
    return assembled(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources 6 0 R >>",
            f"<< /Length {len(text)} >>\nstream\n{text}\nendstream",
            f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Differences [97 {names}] >> >>",
            "<< /Font << /F 5 0 R >> >>",
        ]
    )


@pytest.mark.parametrize("prefix", ["c", "G"])
def test_fonts_whose_glyph_names_are_codes(prefix: str) -> None:
    """Glyphs named by their codes are the letters of these codes."""
    document = parse_pdf(with_glyph_names(prefix), settings=ParsingSettings(ocr=False))
    assert " ".join(document.markdown.split()) == " ".join(LINES)
    (block,) = document.blocks
    assert block.box is not None
    left, top, right, bottom = block.box
    assert (70 < left < 74, 75 < top < 95, 250 < right < 500, 110 < bottom < 130) == (True,) * 4


def test_a_word_that_is_divided_at_the_end_of_a_line() -> None:
    """PDFium joins its parts, whose box would be as wide as the page and as high as two lines."""
    lines = (
        "the keeper of the light climbs the stairs every even-",
        "ing and trims the lamp before the boats come home",
    )
    document = parse_pdf(with_glyph_names("c", lines), settings=ParsingSettings(ocr=False))
    assert document.markdown.strip() == " ".join(lines).replace("- ", "")


def test_the_first_reading_is_kept_where_both_agree() -> None:
    """Letters in their usual places are read once: words keep the places that the first reader gives them."""
    content = pdf([[Shown(72, 700 - 14 * n, line, size=12) for n, line in enumerate(LINES * 2)]])
    (page,) = list(decoded_pages(content))
    assert page is not None
    words = page_words(page)
    with second_reading(content) as second:
        assert second.better_words(words, page, 1, TightBoxes()).words is words


def test_words_that_are_parted_keep_the_boxes_of_the_first_reading() -> None:
    """Where PDFium only parts a word, the boxes are corrected once: a second correction makes them twice as high."""
    lines = [Shown(72, 700 - 14 * n, line, size=12) for n, line in enumerate(LINES * 3)]
    content = pdf([[*lines, Shown(72, 400, "lamp post", size=12)]])
    (page,) = list(decoded_pages(content))
    assert page is not None
    boxes = TightBoxes()
    words = boxes.corrected([tight(word) for word in page_words(page)])
    first, last = words[-2:]
    glued = [*words[:-2], replace(first, text=first.text + last.text, right=last.right)]
    with second_reading(content) as second:
        parted = second.better_words(glued, page, 1, boxes).words
    assert [word.text for word in parted] == [word.text for word in words]
    assert [word.size for word in parted[:-1]] == [word.size for word in words[:-1]]


FONT_THAT_IS_LOST = ("wind over water", "and no ship in sight", "under a cloudless sky")


@pytest.mark.parametrize(
    ("shown", "known", "expected"),
    [
        pytest.param((*LINES, *FONT_THAT_IS_LOST), LINES, (*LINES, *FONT_THAT_IS_LOST), id="a lost font"),
        pytest.param((*LINES, *LINES), LINES, LINES, id="painted twice"),
        pytest.param((*LINES, "x1 y2 z3"), LINES, LINES, id="signs"),
    ],
)
def test_words_that_the_first_reader_loses(shown: Sequence[str], known: Sequence[str], expected: Sequence[str]) -> None:
    """A page is read by PDFium where the first reader gives no words for one of its fonts, and for nothing less."""
    content = pdf([[Shown(72, 700 - 14 * n, line, size=12) for n, line in enumerate(shown)]])
    (page,) = list(decoded_pages(content))
    assert page is not None
    words = page_words(page)[: len(" ".join(known).split())]
    with second_reading(content) as second:
        found = second.better_words(words, page, 1, TightBoxes()).words
    assert [word.text for word in found] == " ".join(expected).split()


def test_unknown_glyphs_count_as_words_that_are_not_plain() -> None:
    """A font without known characters is lost, too, though its text is of numbers, and so less plain than the rest."""
    numbers = ("Wreckers, vol. 12, pp. 4-19", "Lanterns, vol. 9 (1871), pp. 101-140", "Pilots, vol. 31 (1902), p. 7")
    content = pdf([[Shown(72, 700 - 14 * n, line, size=12) for n, line in enumerate((*LINES, *numbers))]])
    (page,) = list(decoded_pages(content))
    assert page is not None
    words = page_words(page)
    known = len(" ".join(LINES).split())
    unknown = [replace(word, text=UNKNOWN, unmapped=True) for word in words[known:]]
    with second_reading(content) as second:
        found = second.better_words([*words[:known], *unknown], page, 1, TightBoxes()).words
    assert [word.text for word in found] == [word.text for word in words]


@pytest.mark.parametrize(
    ("holes", "is_filled"),
    [
        pytest.param("wind over water cliff", True, id="words"),
        pytest.param("q q q q", False, id="letters in place of bullets"),
        pytest.param("light lamp home bay", False, id="words that the page has, too"),
    ],
)
def test_holes_of_a_page_are_filled(holes: str, is_filled: bool) -> None:
    """A page whose first reading lacks some words is read by PDFium where that has them."""
    lines = [f"{line} {number}" for number, line in enumerate(LINES * 4)]
    shown = [Shown(72, 700 - 14 * n, line, size=12) for n, line in enumerate(lines)]
    lost = [Shown(72, 500 - 14 * n, word, size=12) for n, word in enumerate(f"{holes} sea".split())]
    content = pdf([[*shown, *lost]])
    (page,) = list(decoded_pages(content))
    assert page is not None
    words = page_words(page)
    words = [*words[:-5], *(replace(word, text=UNKNOWN, unmapped=True) for word in words[-5:])]
    with second_reading(content) as second:
        found = second.better_words(words, page, 1, TightBoxes()).words
    assert (found[-1].text == "sea") == is_filled


def test_a_page_with_holes_is_of_one_reader() -> None:
    """Words of another script that lack letters are holes of the page, which is read whole, as are its Latin words."""
    russian = ("Смотритель маяка каждый вечер", "зажигает лампу на башне", "читает уровень воды", "пишет письма")
    marks = [Shown(72, 700 - 14 * n, line, size=12) for n, line in enumerate(LINES * 2)]
    marks += [Shown(72, 400 - 14 * n, line, size=12, font="unicode") for n, line in enumerate(russian)]
    content = pdf([marks])
    (page,) = list(decoded_pages(content))
    assert page is not None
    words = [
        word if word.text.isascii() else replace(word, text=word.text[: len(word.text) // 2], unmapped=True)
        for word in page_words(page)
    ]
    with second_reading(content) as second:
        found = second.better_words(words, page, 1, TightBoxes()).words
    assert " ".join(word.text for word in found).endswith(" ".join(russian))
    assert all(word.font.startswith(OF_PDFIUM) for word in found)


def test_words_beyond_the_page_are_not_lost_ones() -> None:
    """What is painted outside of the page is not shown, and is no reason for another reading."""
    lines = [Shown(72, 700 - 14 * n, line, size=12) for n, line in enumerate(LINES)]
    beyond = [Shown(72, 900 + 14 * n, line, size=12) for n, line in enumerate(FONT_THAT_IS_LOST)]
    content = pdf([[*lines, *beyond]])
    (page,) = list(decoded_pages(content))
    assert page is not None
    words = [word for word in page_words(page) if word.top > 0]
    with second_reading(content) as second:
        assert second.better_words(words, page, 1, TightBoxes()).words is words


def tight(word: Word) -> Word:
    """Return a word with a box that ends at the ink of its letters."""
    above = 0.7 if set(word.text) & set("bdfhkl") else 0.64 if set(word.text) & set("ti") else 0.45
    below = 0.22 if set(word.text) & set("gpy") else 0.0
    top, bottom = word.bottom - (above + 0.22) * word.size, word.bottom - (0.22 - below) * word.size
    return replace(word, top=top, bottom=bottom, size=bottom - top, font="T1")


def test_a_page_that_is_nearly_lost_is_read_though_it_is_less_plain() -> None:
    """A table of names has few plain words; those that are left of it in the first reading are plainer by chance."""
    names = [f"dash_{number} dot_len{number} curly{number} the style" for number in range(12)]
    content = pdf([[Shown(72, 700 - 14 * n, line, size=12) for n, line in enumerate(names)]])
    (page,) = list(decoded_pages(content))
    assert page is not None
    words = page_words(page)
    with second_reading(content) as second:
        found = second.better_words([word for word in words if word.text == "the"], page, 1, TightBoxes()).words
    assert [word.text for word in found] == [word.text for word in words]


def test_what_only_one_reader_sees_is_kept() -> None:
    """Words of lines that PDFium does not have stay where its reading is taken for the others."""
    content = with_glyph_names("c", LINES)
    (page,) = list(decoded_pages(content))
    assert page is not None
    garbled = [replace(word, text="c97c98") for word in page_words(page)]
    seen_by_one = Word("11.35", 400, 430, 500, 512, 12)
    with second_reading(content) as second:
        words = second.better_words([*garbled, seen_by_one], page, 1, TightBoxes()).words
    assert [word.text for word in words] == [*" ".join(LINES).split(), "11.35"]

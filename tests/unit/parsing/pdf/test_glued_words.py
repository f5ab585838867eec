"""Words that the decoder joins although white space parts them."""

from collections import Counter
from dataclasses import dataclass

from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.glued_words import with_parted_words
from sourcebook.parsing.pdf.words import Word


@dataclass
class Letter:
    """A letter as docling-parse gives it, 10 points high."""

    text: str
    r_x0: float
    r_x1: float
    r_y0: float = 90.0
    r_y2: float = 100.0


def page(*parts: str, gap: float) -> tuple[Word, DecodedPage]:
    """Return a word of several parts and the page that shows them with a gap between."""
    letters, left = [], 50.0
    for part in parts:
        for letter in part:
            letters.append(Letter(letter, left, left + 5))
            left += 5
        left += gap
    shown = DecodedPage(0, 200, 600, 200, (), (), 0, (), letters=lambda: letters)  # type: ignore[arg-type, return-value] # no more is looked at
    return Word("".join(parts), 50, left - gap, 100, 110, 10), shown


def test_words_with_white_space_between_are_parted() -> None:
    """PDFium's words and the white space between the letters part a word, each part with its own box."""
    word, shown = page("short-term", "memory", "span", gap=1.7)
    parted = with_parted_words([word], Counter(["short-term", "memory", "span"]), shown)
    assert [one.text for one in parted] == ["short-term", "memory", "span"]
    assert [(round(one.left, 3), round(one.right, 3)) for one in parted] == [(50, 100), (101.7, 131.7), (133.4, 153.4)]


def test_words_without_white_space_stay_whole() -> None:
    """A word that PDFium alone parts is one word."""
    word, shown = page("data", "base", gap=0.2)
    assert list(with_parted_words([word], Counter(["data", "base"]), shown)) == [word]


def test_words_of_the_text_stay_whole() -> None:
    """A compound is kept where the other reader has it, or has its parts only elsewhere on the page."""
    word, shown = page("data", "base", gap=1.7)
    others = [Word("data", 10, 20, 0, 10, 10), Word("base", 30, 40, 0, 10, 10)]
    assert with_parted_words([word, *others], Counter(["database", "data", "base"]), shown) == [word, *others]
    assert with_parted_words([word, *others], Counter(["data", "base"]), shown) == [word, *others]


def test_short_words_of_hangul_are_parted() -> None:
    """A justified line of Korean may be one word of many for the decoder; some of its words have one or two letters."""
    line = ["대부분의", "텍", "소스에는", "이런", "이른바", "텍", "리거쳐를", "쓰는", "것이", "좋은", "일", "이다"]
    word, shown = page(*line, gap=1.5)
    assert [one.text for one in with_parted_words([word], Counter(line), shown)] == line
    word, shown = page("긴", "명령", gap=1.5)
    assert [one.text for one in with_parted_words([word], Counter(["긴", "명령"]), shown)] == ["긴", "명령"]

"""Words of fonts whose boxes end at the ink of their letters."""

from dataclasses import replace
from unicodedata import combining, normalize

import pytest

from sourcebook.parsing.pdf.text_runs import runs
from sourcebook.parsing.pdf.tight_boxes import TightBoxes
from sourcebook.parsing.pdf.words import Word

TEXT = [
    "the",
    "dog",
    "runs",
    "as",
    "a",
    "guard",
    "or",
    "bell",
    "beneath",
    "the",
    "heavy",
    "house",
    "now",
    "on",
    "all",
    "seas",
    "high",
    "above",
    "deep",
    "fields",
    "where",
    "nobody",
    "knew",
]


def tight(text: str, left: float, base: float, size: float = 10, font: str = "T1") -> Word:
    """Return a word whose box ends at the ink of its letters."""
    above = 0.7 if set(text) & set("bdfhklT") else 0.64 if set(text) & set("ti") else 0.45
    below = 0.22 if set(text) & set("gpy") else 0.0
    top, bottom = base - above * size, base + below * size
    return Word(text, left, left + 5 * len(text), top, bottom, bottom - top, font=font)


def test_words_with_and_without_tall_letters_are_on_one_line() -> None:
    """Low words join the line of tall ones, in the size of their font."""
    words, left = [], 10.0
    for text in TEXT:
        words.append(tight(text, left, 100))
        left += 5 * len(text) + 3
    assert len(runs(words, ())) > 1
    (line,) = runs(TightBoxes().corrected(words), ())
    assert line.text == " ".join(TEXT)
    assert abs(line.size - 10) < 0.01


@pytest.mark.parametrize(
    ("text", "tall", "deep"),
    [
        ("на село бок біля вода робота Буфет Дубки кава мова база або Бас груба фарба", "бБф", "рудД"),
        (
            "ναι εκεί Βίος δεν λόγος Θύρα ρίζα τον σου και όσο Κήπος θα δε Κακό λέει βάρος νέος φάρος ψάρι",
            "βδθλζξφψΒΘΚ",
            "βγζημξρςφχψ",
        ),
    ],
)
def test_words_in_cyrillic_and_greek_are_on_one_line(text: str, tall: str, deep: str) -> None:
    """Their letters are low, tall and deep, too; one with a mark is as high as `t`."""
    words, left = [], 10.0
    for word in text.split():
        letters = set(normalize("NFD", word))
        marked = any(map(combining, letters)) or "і" in letters
        above = 0.7 if letters & set(tall) else 0.64 if marked else 0.45
        below = 0.22 if letters & set(deep) else 0.0
        words.append(
            Word(word, left, left + 5 * len(word), 100 - 10 * above, 100 + 10 * below, 10 * (above + below), font="T1")
        )
        left += 5 * len(word) + 3
    assert len(runs(words, ())) > 1
    (line,) = runs(TightBoxes().corrected(words), ())
    assert line.text == text
    assert abs(line.size - 10) < 0.01


def test_a_heading_keeps_its_own_size() -> None:
    """A word far larger than the others of its font, which may be two fonts without a name, keeps its size."""
    words = [tight(text, 10 + 40 * place, 100) for place, text in enumerate(TEXT)]
    heading = tight("The", 10, 60, size=17)
    corrected = TightBoxes().corrected([heading, *words])
    assert abs(corrected[0].size - 17) < 0.01


def test_boxes_as_high_as_their_font_are_kept() -> None:
    """The boxes of other fonts do not depend on the letters."""
    words = [Word(text, 10, 20, 90, 100, 10, font="F1") for text in TEXT]
    assert TightBoxes().corrected(words) == words
    sizes = [replace(word, bottom=word.top + (8 if set(word.text) & set("dfhkl") else 5)) for word in words[:3]]
    two_sizes = [*sizes, *(replace(word, bottom=word.top + 7) for word in words), *words]
    assert TightBoxes().corrected(two_sizes) == two_sizes
    rotated = [replace(word, angle=90) for word in words]
    assert TightBoxes().corrected(rotated) == rotated

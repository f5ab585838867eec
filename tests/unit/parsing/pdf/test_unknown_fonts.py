"""A font whose codes look Latin is read as the second reader has it; all other fonts stay as they are."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from sourcebook.parsing.pdf.unknown_fonts import with_known_fonts, with_other_scripts
from sourcebook.parsing.pdf.words import Word

LATIN = ("The", "declaration", "switches", "between", "languages", "<<greek>>")
CODES = ("Prlogoc,", "Katlogoc", "Sqhmtwn,", "Per-lhyh", "A")
GREEK = ("Πρόλογος,", "Κατάλογος", "Σχημάτων,", "Περίληψη", "Α")


def line(texts: Sequence[str], top: float, font: str) -> list[Word]:
    return [Word(text, 72 + 60 * n, 122 + 60 * n, top, top + 10, 10, font=font) for n, text in enumerate(texts)]


def read(first: Sequence[Word], second: Sequence[Word]) -> list[str]:
    counts = Counter(word.text for word in second)
    found = with_other_scripts(first, counts, lambda: second)
    return [word.text for word in with_known_fonts(found, lambda: second)]


def test_a_font_of_greek_letters() -> None:
    """The word of the other font in which the second reader errs is kept."""
    second = [*line((*LATIN[:-1], "figreekfl"), 100, "CMR10"), *line(GREEK, 112, "grmn1000")]
    assert read([*line(LATIN, 100, "CMR10"), *line(CODES, 112, "grmn1000")], second) == [*LATIN, *GREEK]


def test_words_that_the_second_reader_parts_and_joins() -> None:
    """Its words stand where the first reader's did, in the order of the line."""
    first = [*line(LATIN, 100, "CMR10"), *line(CODES, 112, "grmn1000")]
    joined = Word("Πρόλογος,Κατάλογος", 72, 182, 112, 122, 10, font="grmn1000")
    parted = [Word("Σχημά", 192, 215, 112, 122, 10), Word("των,", 218, 242, 112, 122, 10)]
    second = [*line(LATIN, 100, "CMR10"), joined, *parted, *line(GREEK, 112, "grmn1000")[3:]]
    assert read(first, second) == [*LATIN, "Πρόλογος,Κατάλογος", "Σχημά", "των,", *GREEK[3:]]


def test_letters_of_formulas_say_nothing() -> None:
    """Single Greek letters stand in fonts of formulas, which both readers read in their own way."""
    first = [*line(LATIN, 100, "CMR10"), *line(("a", "b", "c", "d"), 112, "CMMI10")]
    second = [*line(LATIN, 100, "CMR10"), *line(("α", "β", "γ", "δ"), 112, "CMMI10")]
    assert read(first, second) == [*LATIN, "a", "b", "c", "d"]


def test_words_of_a_script_that_both_know() -> None:
    """Where both read Greek, the first reader's words stay, however the second one parts them."""
    first = [*line(LATIN, 100, "CMR10"), *line(("ΠρόλογοςΚατάλογος", "Σχημάτων"), 112, "Sans")]
    second = [*line(LATIN, 100, "CMR10"), *line(("Πρόλογος", "Κατάλογος", "Σχημάτων"), 112, "Sans")]
    assert read(first, second) == [*LATIN, "ΠρόλογοςΚατάλογος", "Σχημάτων"]


def unknown(texts: Sequence[str], *, unmapped: bool = True) -> list[Word]:
    return [replace(word, unmapped=unmapped) for word in line(texts, 112, "Times")]


def test_a_font_without_letters_has_those_of_the_second_reader() -> None:
    """Numbers of a table of contents in a font of their own are filled in, though they are no words of letters."""
    first = [*line(LATIN, 100, "CMR10"), *unknown(["\ufffd"] * 4)]
    second = [*line(LATIN, 100, "CMR10"), *unknown(("3.1", ".", ".", "12"), unmapped=False)]
    assert read(first, second) == [*LATIN, "3.1", ".", ".", "12"]


def test_bullets_and_letters_that_nobody_knows_stay() -> None:
    """A font of bullets shows one sign; a second reader that does not know a font either says so."""
    first = [*line(LATIN, 100, "CMR10"), *unknown(["\ufffd"] * 4)]
    assert read(first, [*line(LATIN, 100, "CMR10"), *unknown(["l"] * 4, unmapped=False)]) == [*LATIN, *["\ufffd"] * 4]
    assert read(first, [*line(LATIN, 100, "CMR10"), *unknown(("f", "g", "h", "i"))]) == [*LATIN, *["\ufffd"] * 4]


def test_single_words_that_lack_letters_are_filled() -> None:
    """A word of two fonts has the name of the one that is known."""
    first = [replace(Word("图", 72, 102, 112, 122, 10, font="SimSun"), unmapped=True), *line(LATIN, 100, "CMR10")]
    second = [Word("图", 72, 82, 112, 122, 10), Word("E.2", 85, 102, 112, 122, 10), *line(LATIN, 100, "CMR10")]
    assert read(first, second) == ["图", "E.2", *LATIN]

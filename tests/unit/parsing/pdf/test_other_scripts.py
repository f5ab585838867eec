"""A font whose codes look Latin is read as the second reader has it; all other fonts stay as they are."""

from collections import Counter
from collections.abc import Sequence

from sourcebook.parsing.pdf.other_scripts import with_other_scripts
from sourcebook.parsing.pdf.words import Word

LATIN = ("The", "declaration", "switches", "between", "languages", "<<greek>>")
CODES = ("Prlogoc,", "Katlogoc", "Sqhmtwn,", "Per-lhyh", "A")
GREEK = ("Πρόλογος,", "Κατάλογος", "Σχημάτων,", "Περίληψη", "Α")


def line(texts: Sequence[str], top: float, font: str) -> list[Word]:
    return [Word(text, 72 + 60 * n, 122 + 60 * n, top, top + 10, 10, font=font) for n, text in enumerate(texts)]


def read(first: Sequence[Word], second: Sequence[Word]) -> list[str]:
    counts = Counter(word.text for word in second)
    return [word.text for word in with_other_scripts(first, counts, lambda: second)]


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

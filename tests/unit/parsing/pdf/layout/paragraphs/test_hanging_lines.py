"""References whose second line hangs, words divided before an indent, and small words that are raised far."""

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, pdf

FULL = "Ashdown L (1997). From banks to bays: doubling the size of the boats and of the harbour of"


def parse(marks: list[Mark]) -> str:
    return parse_pdf(pdf([marks]), settings=ParsingSettings(ocr=False)).markdown


def test_references_of_two_lines() -> None:
    """A full line that ends within a sentence goes on in the next one, though this one is indented."""
    marks: list[Mark] = []
    for n in range(5):
        marks.append(Shown(72, 700 - 30 * n, f"{FULL} part {n}"))
        marks.append(Shown(90, 688 - 30 * n, f"the town, volume {n}, pages 12 to 40."))
    assert parse(marks).split("\n\n") == [
        *(f"{FULL} part {n} the town, volume {n}, pages 12 to 40." for n in range(4)),
        f"{FULL} part 4 the town, volume 4, pages 12 to 40.\n",
    ]


def test_an_indent_begins_a_paragraph_behind_the_end_of_a_sentence() -> None:
    """A paragraph of one full line is complete where a full stop ends it."""
    marks: list[Mark] = []
    for n in range(4):
        marks.append(Shown(90, 700 - 24 * n, f"{FULL} part {n}."))
        marks.append(Shown(72, 688 - 24 * n, "the town has a keeper, and the keeper has a light."))
    assert len(parse(marks).split("\n\n")) == 4


def test_a_divided_word_is_in_one_paragraph() -> None:
    """A word that is divided at the end of a line goes on in the next one, whatever its indent."""
    marks: list[Mark] = [Shown(72, 724 - 12 * n, f"{FULL} it") for n in range(3)]
    marks += [Shown(72, 688, f"{FULL} divi-"), Shown(96, 676, "ded words, which the harbour keeps.")]
    assert "divided words" in parse(marks)


def test_a_word_that_is_raised_far_does_not_part_its_paragraph() -> None:
    """The mark of a footnote is in its line, however small it is, and the divided word before that line goes on."""
    marks: list[Mark] = [
        Shown(72, 690, "Each of the boats comes home in the evening, which is to be the har-", size=11),
        Shown(72, 677, "bour, where the keepers live, as keepers of the light", size=11),
        Shown(320, 682.5, "1", size=5.5),
        Shown(330, 677, "that shines for them.", size=11),
    ]
    text = " ".join(parse(marks).split())
    assert text.startswith("Each of the boats")
    assert text.endswith("the harbour, where the keepers live, as keepers of the light 1 that shines for them.")


def test_a_small_text_below_a_line_is_no_part_of_it() -> None:
    """Small words are in a line only where they are beside its words."""
    marks: list[Mark] = [
        Shown(72, 690, "Each of the boats comes home in the evening, which is to be.", size=11),
        Shown(150, 682, "small words below", size=5.5),
    ]
    assert parse(marks).split("\n\n") == [
        "Each of the boats comes home in the evening, which is to be.",
        "small words below\n",
    ]


def test_lines_beside_a_very_large_letter_stay_apart() -> None:
    """Lines of text are no raised words, however large a letter or a label beside them is."""
    marks: list[Mark] = [
        Shown(76, 650, "a0", size=90),
        *(Shown(80, 700 - 12 * n, f"Line {n} of the town") for n in range(4)),
    ]
    text = " ".join(parse(marks).replace("a0", "").split())
    assert text == "Line 0 of the town Line 1 of the town Line 2 of the town Line 3 of the town"


def test_many_rows_share_a_narrow_gap() -> None:
    """White space that twelve rows share parts columns, also where it is narrower than that of a few rows."""
    marks: list[Mark] = []
    for n in range(14):
        wide, y = n % 2, 700 - 12 * n
        marks += [Shown(72, y, f"Harbour {n}"), Shown(160, y, f"{n + 10},{'000' if wide else '00'}")]
        marks += [Shown(202 - 7 * (1 - wide), y, f"{n + 20},500"), Shown(260, y, f"{n + 30}")]
    assert "| Harbour 3 | 13,000 | 23,500 | 33 |" in parse(marks)


def test_a_line_with_a_larger_box_goes_on_within_a_sentence() -> None:
    """A lowered letter, as in the logo of TeX, makes the box of its word larger; behind `and`, it is no title."""
    marks: list[Mark] = [
        *(Shown(72, 700 - 12 * n, FULL) for n in range(5)),
        Shown(72, 636, "1. Look whether the harbour has a light, a lamp and"),
        Shown(84, 624, "TEXLive.", size=13),
        Shown(72, 612, "2. If it has none, ask the keeper for one."),
    ]
    assert "a light, a lamp and TEXLive.\n" in parse(marks)

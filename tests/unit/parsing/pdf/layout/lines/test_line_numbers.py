"""Listings with numbered lines stay where they are, as one block of code."""

from collections.abc import Sequence

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, Stroke, pdf

CODE = ("declare", "   G : Grammar;", "begin", "   Open (G);", "", "   Close (G);", "end;")


def framed(top: float, lines: Sequence[str]) -> list[Mark]:
    """Return code in a frame, with the numbers of its lines in the margin."""
    bottom = top - 12 * len(lines) - 4
    box = [(72, top, 540, top), (72, bottom, 540, bottom), (72, bottom, 72, top), (540, bottom, 540, top)]
    marks: list[Mark] = [Stroke(*each) for each in box]
    for number, text in enumerate(lines, start=1):
        y, indent = top - 12 * number, len(text) - len(text.lstrip())
        marks.append(Shown(58, y, f"{number}", size=6))
        if text:
            marks.append(Shown(76 + 5.4 * indent, y, text.strip(), size=9, font="mono"))
    return marks


def test_numbered_listings_in_frames_stay_in_their_place() -> None:
    """The numbers beside the frames are no text around which the frames float."""
    marks = [
        Shown(72, 740, "The first use case is a little simple, and here it is."),
        *framed(720, CODE),
        Shown(72, 610, "The second use case is more complex, and its code is below."),
        *framed(590, CODE),
        Shown(72, 480, "There is no third use case, and so the text ends here."),
    ]
    text = parse_pdf(pdf([marks]), settings=ParsingSettings(ocr=False)).markdown
    places = [text.index(part) for part in ("first use", "Open (G)", "second use", "third use")]
    assert places == sorted(places)
    assert text.count("declare") == 2
    shown = "1   declare\n2      G : Grammar;\n3   begin\n4      Open (G);\n5\n6      Close (G);\n7   end;"
    assert text.count(f"```\n{shown}\n```") == 2


def test_numbers_beside_prose_are_no_code() -> None:
    """Only the numbers of lines of code are code."""
    marks = [
        mark
        for n in range(1, 7)
        for mark in (Shown(72, 700 - 14 * n, f"{n}"), Shown(90, 700 - 14 * n, f"Step number {n} of the instructions"))
    ]
    assert "```" not in parse_pdf(pdf([marks]), settings=ParsingSettings(ocr=False)).markdown

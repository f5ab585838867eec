"""Powers, indices and note marks of a PDF keep their meaning."""

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, pdf

UP, DOWN = 4.0, -3.0
SIZE = 11.0


def width(text: str, size: float) -> float:
    """Return the width of a text in monospaced letters."""
    return 0.6 * size * len(text)


def line(*parts: str, y: float = 700) -> list[Mark]:
    """Return a line in which the parts are in turn on the base line and raised, or lowered with a `_` before."""
    marks: list[Mark] = []
    x = 72.0
    for place, part in enumerate(parts):
        size = SIZE if place % 2 == 0 else 7.0
        text = part.removeprefix("_")
        shift = 0.0 if place % 2 == 0 else DOWN if part != text else UP
        marks.append(Shown(x, y + shift, text, size, font="mono"))
        x += width(text, size)
    return marks


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("a dose of 10", "6", " units"), "a dose of 10^6 units"),
        (("it is 4.2 x 10", "-3", " of it"), "it is 4.2 x 10^-3 of it"),
        (("an area of 12 m", "2", ", and more"), "an area of 12 m^2, and more"),
        (("at a speed of 3 m s", "-1", " or so"), "at a speed of 3 m s^-1 or so"),
        (("in the Act of 1815", "3", " he says"), "in the Act of 1815 3 he says"),
        (("the barnacle", "4", " grows here"), "the barnacle 4 grows here"),
        (("it grows on CO", "_2", ". It stays"), "it grows on CO2. It stays"),
        (("ions of SO", "_4", "", "2-", " and Na", "+", " meet"), "ions of SO4^2- and Na^+ meet"),
        (("on the 19", "th", " of May"), "on the 19th of May"),
        (("a price of $9", "99", " for it"), "a price of $9 99 for it"),
    ],
)
def test_raised_and_lowered_words(parts: tuple[str, ...], text: str) -> None:
    """A power is written with `^`, an index joins its formula, and a note mark stays apart."""
    below = line("and the line below it goes on with ten", "6", " words", y=687)
    page = [*line(*parts), *below]
    document = parse_pdf(pdf([page]), settings=ParsingSettings(ocr=False))
    assert " ".join(document.markdown.replace("```", "").replace("`", "").split()).startswith(text)

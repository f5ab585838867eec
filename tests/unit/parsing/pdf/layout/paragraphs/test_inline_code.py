"""Lines of a paragraph in a font of one width are no blocks of code."""

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf


def read(*lines: Shown) -> str:
    body = [
        Shown(72, 400 - 12 * n, "The text of the page goes on below in lines that are full and long.") for n in range(8)
    ]
    return parse_pdf(pdf([[*lines, *body]]), settings=ParsingSettings(ocr=False)).markdown


def test_an_address_within_a_sentence() -> None:
    """A line that is filled by an address, and the words behind it, go on in their sentence."""
    text = read(
        Shown(72, 700, "The library was inspired by the tutorial of the first author (see http:"),
        Shown(72, 688, "//www.example.org/resources/code/samples/Feedback.html)", font="mono", size=9),
        Shown(370, 688, "and"),
        Shown(72, 676, "by the second library, which does not seem to be there anymore."),
    )
    assert "```" not in text
    assert "Feedback.html) and by the second library" in text


def test_a_long_name_within_a_sentence() -> None:
    text = read(
        Shown(72, 700, "To turn this on for all of the users of a machine, set the variable called"),
        Shown(72, 688, "EXAMPLE_OF_A_VERY_LONG_NAME_OF_A_VARIABLE", font="mono"),
        Shown(72, 676, "before the program is started, and start it again."),
    )
    assert "called EXAMPLE_OF_A_VERY_LONG_NAME_OF_A_VARIABLE before" in " ".join(text.split())
    assert "```" not in text


def test_an_item_that_is_a_command() -> None:
    text = read(
        Shown(72, 700, "\u2022", font="unicode"),
        Shown(80, 700, "substring$", font="mono"),
        Shown(72, 680, "Text below."),
    )
    assert "- substring$" in text


def test_displayed_code_stays_code() -> None:
    """Behind a colon, or with white space around it, a line of code is code."""
    text = read(
        Shown(72, 700, "To turn this on for all of the users of a machine, give this command here:"),
        Shown(72, 688, "example --on", font="mono"),
        Shown(72, 676, "It is one of many, and it is described in the manual of the program now"),
        Shown(72, 656, "example --off", font="mono"),
        Shown(72, 636, "turns it off again."),
    )
    assert "```\nexample --on\n```" in text
    assert "```\nexample --off\n```" in text

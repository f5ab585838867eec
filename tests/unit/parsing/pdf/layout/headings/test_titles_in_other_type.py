"""Titles of sections in other type than their bold number, such as names of files and commands."""

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Font, Mark, Shown, pdf

TEXT = "The keeper of the light climbs the stairs every evening, and trims the lamp before the boats"


@pytest.mark.parametrize(
    ("number", "bold", "title", "font", "is_title"),
    [
        pytest.param("5.4", True, "harbour.cron.*", "mono", True, id="a file"),
        pytest.param("9.2.4", True, "debdiff", "plain", True, id="a command in a type that is not monospaced"),
        pytest.param("5.4", False, "harbour.cron.*", "mono", False, id="code behind a number"),
        pytest.param("12", True, "harbour = light", "mono", False, id="a line of code with its number"),
        pytest.param("5.4", True, f"{TEXT[:75]}", "plain", False, id="a numbered paragraph"),
        pytest.param("5.4", True, "a paragraph of few words.", "plain", False, id="a sentence"),
    ],
)
def test_a_bold_number_before_other_type(number: str, bold: bool, title: str, font: Font, is_title: bool) -> None:
    """A line of its own behind a bold number is a title in whatever type it is set, unless it is a sentence."""
    marks: list[Mark] = [Shown(72, 740 - 12 * n, TEXT) for n in range(6)]
    marks += [Shown(72, 640, number, bold=bold), Shown(106, 640, title, font=font)]
    marks += [Shown(72, 614 - 12 * n, TEXT) for n in range(6)]
    document = parse_pdf(pdf([marks]), settings=ParsingSettings(ocr=False))
    titles = [block.title for block in document.blocks if block.kind == "heading"]
    assert [one.replace("\\", "") for one in titles] == ([f"{number} {title}"] if is_title else [])

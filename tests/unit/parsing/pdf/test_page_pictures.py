"""Pictures on pages of a PDF that have text of their own."""

from collections.abc import Sequence

import pytest
from PIL import Image, ImageDraw

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model import media_types as media
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover
from tests.unit.parsing.pdf.pdf_writer import Drawn, Mark, Shown, pdf

TITLE = Shown(72, 740, "The notice board at the upper gates of the harbour", 14)
BELOW = Shown(72, 300, "The keeper reads the notice each night", 10)


def picture(text: str, y: float = 500, width: float = 420) -> Drawn:
    """Return a picture that shows a text."""
    image = Image.new("L", (420, 60), "white")
    ImageDraw.Draw(image).text((15, 15), text, fill="black", font_size=28)
    head = "/W 420 /H 60 /BPC 8 /CS /G /F /AHx"
    return Drawn(f"q {width} 0 0 {width / 7} 72 {y} cm BI {head} ID {image.tobytes().hex()}> EI Q")


def read(pages: Sequence[Sequence[Mark]], **settings: object) -> ParsedDocument:
    document = parse(pdf(pages), name="a", media_type=media.PDF, settings=ParsingSettings.model_validate(settings))
    assert_blocks_cover(document)
    return document


def test_a_page_that_is_a_picture_under_its_title() -> None:
    """It is read where it stands, between the texts above and below it."""
    document = read([[TITLE, picture("The gates open at seven"), BELOW]])
    assert document.markdown.split("\n\n")[1] == "*Text in a picture:* The gates open at seven"
    assert "left_out" not in document.metadata


@pytest.mark.parametrize(
    ("marks", "counted"),
    [
        ([picture("The gates open at seven")], 1),
        ([picture("one"), picture("two", y=600)], 2),
        ([picture("an upper half"), picture("a lower half", y=440)], 1),
        ([picture("a sign", width=30)], 0),
        ([picture("a ground"), Shown(80, 520, "The gates open at seven", 12)], 0),
    ],
)
def test_pictures_that_are_not_read_are_counted(marks: Sequence[Mark], counted: int) -> None:
    """Pieces are one picture, signs are none, and one under words has its text in them."""
    left_out = read([[TITLE, *marks, BELOW]], ocr=False).metadata.get("left_out", {})
    assert isinstance(left_out, dict)
    assert left_out.get("pictures", 0) == counted


def test_a_logo_on_each_page() -> None:
    """It is a part of the pages' form."""
    pages: list[list[Mark]] = [
        [Shown(72, 700, f"The keeper writes page {word}"), picture("LOGO")] for word in ("one", "two", "three")
    ]
    assert "left_out" not in read(pages, pictures="none").metadata

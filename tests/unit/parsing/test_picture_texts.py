"""Text in the pictures of documents."""

import base64
import io

import pytest
from docx import Document
from PIL import Image, ImageDraw
from pptx import Presentation
from pptx.util import Inches

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model import media_types as media
from sourcebook.model.document import Block, ParsedDocument
from sourcebook.parsing.parse import parse
from sourcebook.parsing.picture_texts import with_picture_texts
from sourcebook.parsing.registry import parser_identity
from sourcebook.parsing.text.picture_marks import marked_pictures, picture_mark
from tests.unit.parsing.covering import assert_blocks_cover

LONG = "The lock keeper counts the herons of each evening, and writes their number into a long book. " * 3


def drawn(*lines: str, size: tuple[int, int] = (420, 90)) -> bytes:
    image = Image.new("RGB", size, "white")
    for number, line in enumerate(lines):
        ImageDraw.Draw(image).text((15, 15 + 35 * number), line, fill="black", font_size=28)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


GATES, BOOK = drawn("The upper gates", "open at seven"), drawn("A long book")


def read(content: bytes, media_type: str, **settings: object) -> ParsedDocument:
    document = parse(content, name="a", media_type=media_type, settings=ParsingSettings.model_validate(settings))
    assert_blocks_cover(document)
    assert "\ue00a" not in document.markdown + (document.title or "")
    return document


def page(*pictures: bytes, text: str = "") -> bytes:
    images = "".join(f'<p><img src="data:image/png;base64,{base64.b64encode(each).decode()}"></p>' for each in pictures)
    return f"<h1>Lock</h1>{images}<p>{text}</p>".encode()


def test_a_slide_that_is_a_picture_is_read() -> None:
    """Beside other text a picture is counted, and a picture that is there twice is read once, and named by nothing."""
    presentation = Presentation()
    for number, picture in enumerate((GATES, GATES, BOOK)):
        slide = presentation.slides.add_slide(presentation.slide_layouts[5 if number else 6])
        slide.shapes.add_picture(io.BytesIO(picture), Inches(1), Inches(2))
    slide.shapes.title.text = "Herons"
    slide.shapes.add_textbox(0, 0, Inches(5), Inches(1)).text_frame.text = LONG
    file = io.BytesIO()
    presentation.save(file)
    document = read(file.getvalue(), media.PPTX)
    assert document.markdown.startswith("# Slide 1\n\n*Text in a picture:* The upper gates open at seven\n")
    assert document.markdown.count("upper gates") == 1
    assert "A long book" not in document.markdown
    assert document.metadata["left_out"] == {"pictures": 1}


def test_a_document_of_scans_is_read() -> None:
    """Pictures in paragraphs are paragraphs, in cells they are words of the cell."""
    written = Document()
    written.add_picture(io.BytesIO(GATES))
    table = written.add_table(1, 2)
    table.cell(0, 0).text = "Keeper"
    table.cell(0, 1).paragraphs[0].add_run().add_picture(io.BytesIO(BOOK))
    file = io.BytesIO()
    written.save(file)
    document = read(file.getvalue(), media.DOCX)
    assert [block.kind for block in document.blocks] == ["paragraph", "table"]
    assert "*Text in a picture:* The upper gates open at seven" in document.markdown
    assert "| Keeper | (text in a picture: A long book) |" in document.markdown
    assert document.language == "en"


@pytest.mark.parametrize(("choice", "read_one", "counted"), [("auto", False, 1), ("all", True, 0), ("none", False, 1)])
def test_the_setting_chooses(choice: str, read_one: bool, counted: int) -> None:
    """Beside text, all pictures are read on request; what is chosen is part of the parser's identity."""
    document = read(page(GATES, text=LONG), media.HTML, pictures=choice)
    assert ("upper gates" in document.markdown) == read_one
    assert document.metadata.get("left_out", {}) == ({"pictures": counted} if counted else {})
    identities = {parser_identity(media.HTML, ParsingSettings(pictures=each)) for each in ("auto", "all", "none")}
    assert len(identities) == 3


def test_nothing_is_read_without_ocr_and_it_is_said() -> None:
    """A document of pictures alone says how to read them."""
    document = read(b"<body>" + page(GATES).partition(b"</h1>")[2], media.HTML, ocr=False)
    assert document.markdown == ""
    assert "parsing.ocr" in (document.nothing_to_read or "")


def test_icons_and_photographs_cost_nothing() -> None:
    """An icon is no picture of text; a photograph is counted without being read; a drawing for printers is counted."""
    icon = drawn(size=(15, 15))
    noise = io.BytesIO()
    Image.effect_noise((300, 200), 120).save(noise, "PNG")
    document = read(page(icon, noise.getvalue(), b"\x01\x00\x09\x00" * 50), media.HTML)
    assert document.metadata["left_out"] == {"pictures": 2}


def test_marks_leave_with_their_blocks() -> None:
    """A block that was only a mark goes; a heading keeps its words, and loses the mark."""
    with marked_pictures() as pictures:
        mark = picture_mark(drawn(size=(300, 200)))
    assert picture_mark(GATES) == ""
    text = f"# Lock {mark}\n\n{mark}\n\n{LONG.strip()}"
    heading, alone, beside = 7 + len(mark), 9 + 2 * len(mark), len(text)
    blocks = (
        Block("heading", 0, heading, 1, f"Lock {mark}"),
        Block("paragraph", heading + 2, alone),
        Block("paragraph", alone + 2, beside),
    )
    document = with_picture_texts(ParsedDocument(text, blocks, f"Lock {mark}"), pictures.contents, ParsingSettings())
    assert document.markdown == f"# Lock\n\n{LONG.strip()}"
    assert [(block.kind, block.title) for block in document.blocks] == [("heading", "Lock"), ("paragraph", "")]
    assert document.title == "Lock"
    assert_blocks_cover(document)

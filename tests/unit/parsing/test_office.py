"""Word, PowerPoint and Excel files as docling reads them."""

from datetime import UTC, datetime
from io import BytesIO

import docx
import openpyxl  # type: ignore[import-untyped] # its stubs are a package of their own
import pptx
import pytest
from pptx.util import Inches

from sourcebook.errors import ParseError
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from sourcebook.parsing.types import ParsedDocument

from .covering import assert_blocks_cover, texts


def parse_named(name: str, content: bytes) -> ParsedDocument:
    document = parse(content, name=name, media_type=detect_media_type(name, content[:4096]))
    assert_blocks_cover(document)
    return document


def word_file() -> bytes:
    document = docx.Document()
    document.core_properties.author = "Ada"
    document.core_properties.created = datetime(2024, 5, 6, tzinfo=UTC)
    document.add_heading("Handbook", 0)
    document.add_paragraph("An introduction with snake_case and a < b.")
    document.add_heading("Rules", 1)
    document.add_paragraph("outer", style="List Bullet")
    document.add_paragraph("inner", style="List Bullet 2")
    document.add_paragraph("outer again", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ("name", "size", "a|b", "1"), strict=True):
        cell.text = text
    return saved(document)


def saved(document: object) -> bytes:
    buffer = BytesIO()
    document.save(buffer)  # type: ignore[attr-defined] # three libraries, one method
    return buffer.getvalue()


def test_word_keeps_headings_lists_and_tables() -> None:
    """A title is an H1; a nested list is one block; a table is GitHub Markdown."""
    document = parse_named("a.docx", word_file())
    assert document.title == "Handbook"
    assert [(block.kind, block.level, block.title) for block in document.blocks] == [
        ("heading", 1, "Handbook"),
        ("paragraph", 0, ""),
        ("heading", 2, "Rules"),
        ("list", 0, ""),
        ("table", 0, ""),
    ]
    assert texts(document)[1] == "An introduction with snake_case and a < b."
    assert texts(document)[4] == "| name | size |\n| --- | --- |\n| a\\|b | 1 |"
    assert document.metadata["author"] == "Ada"
    assert str(document.metadata["created"]).startswith("2024-05-06")
    assert document.page_count is None


def test_slides_are_pages() -> None:
    """Each block of a presentation knows its slide."""
    presentation = pptx.Presentation()
    for number in (1, 2):
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = f"Slide {number}"
        box = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(4), Inches(1))
        box.text_frame.text = f"Text of slide {number}"
    document = parse_named("a.pptx", saved(presentation))
    assert document.page_count == 2
    assert [(text, block.page) for text, block in zip(texts(document), document.blocks, strict=True)] == [
        ("# Slide 1", 1),
        ("Text of slide 1", 1),
        ("# Slide 2", 2),
        ("Text of slide 2", 2),
    ]


def test_sheets_are_pages_under_their_names() -> None:
    """The name of a sheet is a heading above its tables."""
    workbook = openpyxl.Workbook()
    for number, name in enumerate(("Prices", "Stock"), start=1):
        sheet = workbook.create_sheet(name)
        sheet.append(["article", "value"])
        sheet.append(["apple", number])
    workbook.remove(workbook["Sheet"])
    document = parse_named("a.xlsx", saved(workbook))
    headings = [(block.title, block.page) for block in document.blocks if block.kind == "heading"]
    assert headings == [("Prices", 1), ("Stock", 2)]
    assert [block.page for block in document.blocks if block.kind == "table"] == [1, 2]
    assert document.title is None
    assert document.page_count == 2


@pytest.mark.parametrize("length", [200, 5_000, -30])
def test_damaged_files_say_so(length: int) -> None:
    """A truncated archive gives a reason and a remedy, no trace."""
    with pytest.raises(ParseError, match="damaged or cut off; copy it again"):
        parse_named("a.docx", word_file()[:length])


def test_a_word_file_named_xlsx_says_so() -> None:
    """docling's refusal becomes a sentence."""
    with pytest.raises(ParseError, match="no readable"):
        parse_named("a.xlsx", word_file())


def test_unsupported_types_say_why() -> None:
    """What no parser reads is refused with its reason."""
    with pytest.raises(ParseError, match="archives are not opened"):
        parse(b"PK\x05\x06" + b"\x00" * 18, name="a.zip", media_type="application/zip")

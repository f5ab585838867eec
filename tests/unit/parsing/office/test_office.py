"""Word, PowerPoint and Excel files as docling reads them."""

from datetime import UTC, datetime

import docx
import openpyxl  # type: ignore[import-untyped] # its stubs are a package of their own
import pptx
import pytest
from pptx.util import Inches

from sourcebook.errors import ParseError
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import texts
from tests.unit.parsing.office.office_files import parse_named, saved, slides_file, word_file, workbook_file


def handbook() -> bytes:
    document = docx.Document()
    document.core_properties.author = "Ada"
    document.core_properties.keywords = "rules; handbook, work"
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


def test_word_keeps_headings_lists_and_tables() -> None:
    """A title is an H1; a nested list is one block; a table is GitHub Markdown."""
    document = parse_named("a.docx", handbook())
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
    assert document.metadata["keywords"] == ["rules", "handbook", "work"]
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
        parse_named("a.docx", handbook()[:length])


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx"])
def test_the_content_decides_not_the_name(name: str) -> None:
    """A workbook, a presentation and a document are read as what they are."""
    assert parse_named(name, word_file("text")).markdown == "text\n"
    assert parse_named(name, slides_file("title")).markdown == "# title\n"
    assert parse_named(name, workbook_file("cell")).markdown == "## Sheet\n\n| cell | b |\n| --- | --- |\n"


def test_what_a_library_or_template_writes_is_no_title_or_author() -> None:
    """The properties of every new file say nothing about this one."""
    document = parse_named("a.pptx", slides_file("Plans"))
    assert document.title == "Plans"
    assert "author" not in parse_named("a.docx", word_file()).metadata


def test_unsupported_types_say_why() -> None:
    """Files without a parser are refused with a reason."""
    with pytest.raises(ParseError, match="programs are not read"):
        parse(b"MZ\x90\x00", name="a.exe", media_type="application/x-executable")

"""The text layer of a PDF, in reading order, with its pages."""

import pytest

from sourcebook.errors import ParseError
from sourcebook.parsing.parse import parse
from sourcebook.parsing.types import ParsedDocument

from .covering import assert_blocks_cover, texts
from .pdf_writer import Shown, pdf


def parse_bytes(content: bytes) -> ParsedDocument:
    document = parse(content, name="a.pdf", media_type="application/pdf")
    assert_blocks_cover(document)
    return document


def column(x: float, words: str, *, lines: int = 8) -> list[Shown]:
    return [Shown(x, 700 - 12 * n, f"{words} column line number {n} of {lines}") for n in range(lines)]


def test_headings_paragraphs_and_pages() -> None:
    """Larger or bold lines are headings; a gap begins a paragraph; words divided at a line end are made whole."""
    first = [
        Shown(72, 740, "Annual report", size=20),
        Shown(72, 700, "The first paragraph has two lines, and its last word is di-"),
        Shown(72, 688, "vided at the end of the line."),
        Shown(72, 660, "A second paragraph follows."),
    ]
    second = [Shown(72, 740, "Outlook", bold=True), Shown(72, 715, "Text of the second page.")]
    document = parse_bytes(pdf([first, second], info="/Author (Ada) /CreationDate (D:20240506070809Z)"))
    assert [(text, block.page) for text, block in zip(texts(document), document.blocks, strict=True)] == [
        ("# Annual report", 1),
        ("The first paragraph has two lines, and its last word is divided at the end of the line.", 1),
        ("A second paragraph follows.", 1),
        ("## Outlook", 2),
        ("Text of the second page.", 2),
    ]
    assert document.title == "Annual report"
    assert document.page_count == 2
    assert document.language == "en"
    assert document.metadata == {"author": "Ada", "created": "2024-05-06T07:08:09"}


def test_columns_are_read_one_after_the_other() -> None:
    """A title above both columns comes first; rows across the gutter are not mixed."""
    page = [Shown(72, 740, "A title that spans both of the columns of this page, from the left to the right", size=12)]
    for left, right in zip(column(72, "left"), column(330, "right"), strict=True):
        page += [left, right]
    text = parse_bytes(pdf([page])).markdown
    order = [text.index(words) for words in ("A title", "left column line number 7", "right column line number 0")]
    assert order == sorted(order)


def test_table_rows_stay_together() -> None:
    """Short cells side by side are a row, not columns of prose."""
    page = [Shown(x, 700 - 14 * n, f"{name}{n}") for n in range(8) for x, name in ((72, "a"), (300, "b"), (500, "c"))]
    assert "a3 b3 c3" in parse_bytes(pdf([page])).markdown


def test_without_text_layer() -> None:
    """A scan says that it is one."""
    with pytest.raises(ParseError, match="has no text layer; OCR is not part of this version"):
        parse_bytes(pdf([[]]))


@pytest.mark.parametrize("length", [60, 400])
def test_damaged_files_say_so(length: int) -> None:
    """A truncated PDF gives a reason and a remedy."""
    content = pdf([[Shown(72, 700, "Some text on a page.")]])[:length]
    with pytest.raises(ParseError, match="damaged or cut off; copy it again"):
        parse_bytes(content)

"""PDF files that have a text layer."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from sourcebook.errors import ParseError
from sourcebook.parsing.headings import document_title, plain_title
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.pdf_lines import read_pages
from sourcebook.parsing.pdf_paragraphs import Paragraph, paragraphs
from sourcebook.parsing.pdf_properties import read_properties
from sourcebook.parsing.pdf_reading_order import reading_order
from sourcebook.parsing.types import Block, JsonValue, ParsedDocument

_FILE_ENDINGS = (".doc", ".docx", ".indd", ".tex", ".ppt", ".pptx")


def parse_pdf(content: bytes) -> ParsedDocument:
    """Parse the text layer page by page; blocks know their page.

    Raises:
        ParseError: The file is protected, damaged, or has no text layer.
    """
    properties = read_properties(content)
    try:
        found = paragraphs([reading_order(lines) for lines in read_pages(content)])
    except RuntimeError as error:
        raise ParseError("the PDF is damaged; open it in a viewer and save or print it to a new PDF") from error
    if not found:
        raise ParseError(
            "the PDF has no text layer; OCR is not part of this version, so run it through an OCR program first",
        )
    markdown, blocks = _write(found)
    return ParsedDocument(
        markdown=markdown,
        blocks=blocks,
        title=_title(properties.metadata, blocks),
        page_count=properties.page_count,
        language=detect_language(markdown, blocks),
        metadata={key: value for key, value in properties.metadata.items() if key != "title"},
    )


def _write(found: Sequence[Paragraph]) -> tuple[str, tuple[Block, ...]]:
    parts: list[str] = []
    blocks: list[Block] = []
    length = 0
    for paragraph, separator in _separated(found):
        marks = "#" * paragraph.level
        text = f"{marks} {paragraph.text}" if marks else paragraph.text
        blocks.append(
            Block(
                "heading" if marks else "paragraph",
                length,
                length + len(text),
                level=paragraph.level,
                title=plain_title(paragraph.text) if marks else "",
                page=paragraph.page,
            ),
        )
        parts.append(text + separator)
        length += len(text) + len(separator)
    return "".join(parts), tuple(blocks)


def _separated(found: Sequence[Paragraph]) -> Iterator[tuple[Paragraph, str]]:
    for paragraph, _following in pairwise(found):
        yield paragraph, "\n\n"
    yield found[-1], "\n"


def _title(metadata: Mapping[str, JsonValue], blocks: Sequence[Block]) -> str | None:
    """Return the title property unless it is a file name, else the first heading."""
    title = metadata.get("title")
    if isinstance(title, str) and " " in title and not title.lower().endswith(_FILE_ENDINGS):
        return title
    return document_title(blocks)

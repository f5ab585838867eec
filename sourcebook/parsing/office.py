"""Word, PowerPoint and Excel files."""

from typing import Literal

from sourcebook.parsing.docling_backends import read_with_docling
from sourcebook.parsing.headings import document_title
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.office_archive import read_core_properties
from sourcebook.parsing.types import ParsedDocument

OfficeFormat = Literal["docx", "pptx", "xlsx"]
_TEMPLATE_TITLES = frozenset({"powerpoint presentation", "presentation", "document", "untitled", "word document"})


def parse_office(content: bytes, *, name: str, office_format: OfficeFormat) -> ParsedDocument:
    """Parse a document, presentation or workbook; slides and sheets count as pages.

    Raises:
        ParseError: The file is damaged, too large, or not what its name says.
    """
    properties = read_core_properties(content, office_format=office_format)
    docling_document = read_with_docling(content, name=name, docling_format=office_format)
    from sourcebook.parsing.docling_markdown import write_markdown

    written = write_markdown(docling_document)
    metadata = {key: value for key, value in properties.items() if key != "title"}
    pages = len(docling_document.pages) or None
    own_title = None if office_format == "xlsx" else document_title(written.blocks)
    return ParsedDocument(
        markdown=written.markdown,
        blocks=written.blocks,
        title=_property_title(properties.get("title")) or own_title,
        page_count=None if office_format == "docx" else pages,
        language=detect_language(written.markdown, written.blocks),
        metadata=metadata,
    )


def _property_title(title: object) -> str | None:
    """Return the title property, unless it is what the program writes into every new file."""
    return title if isinstance(title, str) and title.lower() not in _TEMPLATE_TITLES else None

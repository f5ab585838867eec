"""Saved web pages."""

from sourcebook.errors import ParseError
from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.parsing.docling.backends import import_without_models, open_backend
from sourcebook.parsing.html.nesting import nesting
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.decode import clean, decode
from sourcebook.parsing.text.titles import LONGEST_TITLE, document_title

_DEEPEST = 400
_LONGEST_KEYWORDS = 2000


def parse_html(content: bytes, *, name: str) -> ParsedDocument:
    """Parse a page without its scripts and styles; its title is that of <title>.

    The language is what its text tells, or else what the page declares.

    Raises:
        ParseError: Elements are nested so deeply that reading them would take minutes.
    """
    if nesting(content) > _DEEPEST:
        raise ParseError(f"its HTML elements are nested more than {_DEEPEST} deep; save the page's text instead")
    import_without_models()
    from docling.backend.html_backend import HTMLDocumentBackend

    from sourcebook.parsing.docling.markdown_serializer import write_markdown

    written = write_markdown(open_backend(content, HTMLDocumentBackend, name=name, docling_format="html").convert())
    title, declared_language, metadata = _head(decode(content).text)
    return ParsedDocument(
        markdown=written.markdown,
        blocks=written.blocks,
        title=title or document_title(written.blocks),
        language=detect_language(written.markdown, written.blocks) or declared_language,
        metadata=metadata,
    )


def _head(text: str) -> tuple[str | None, str | None, dict[str, JsonValue]]:
    """Return title, language and what else the page says of itself."""
    from sourcebook.parsing.html.head import read_head
    from sourcebook.parsing.html.tree import parse_page

    tree = parse_page(text)
    if tree is None:
        return None, None, {}
    head = read_head(tree, base="")
    metadata = dict(head.metadata)
    for element in tree.iter("meta"):
        if (element.get("name") or "").lower() == "keywords":
            words = clean(element.get("content") or "")[:_LONGEST_KEYWORDS].split(",")
            metadata.setdefault("keywords", [word for part in words if (word := " ".join(part.split()))])
    if head.canonical:
        metadata["canonical"] = head.canonical
    title = " ".join(clean(head.titles[0]).split())[:LONGEST_TITLE] if head.titles else None
    return title or None, head.language, {name: value for name, value in metadata.items() if value}

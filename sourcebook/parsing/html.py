"""Saved web pages."""

from html.parser import HTMLParser

from sourcebook.errors import ParseError
from sourcebook.parsing.decode import clean, decode
from sourcebook.parsing.docling_backends import read_with_docling
from sourcebook.parsing.headings import LONGEST_TITLE, document_title
from sourcebook.parsing.html_nesting import nesting
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.types import JsonValue, ParsedDocument

_HEAD_BYTES = 262_144
_DEEPEST = 400
_META = {"author": "author", "description": "description", "article:published_time": "published", "date": "published"}


def parse_html(content: bytes, *, name: str) -> ParsedDocument:
    """Parse a page without its scripts, styles and navigation; its title is that of <title>.

    Raises:
        ParseError: Elements are nested so deeply that reading them would take minutes.
    """
    if nesting(content) > _DEEPEST:
        raise ParseError(f"its HTML elements are nested more than {_DEEPEST} deep; save the page's text instead")
    head = _Head()
    head.feed(decode(content[:_HEAD_BYTES]).text)
    docling_document = read_with_docling(content, name=name, docling_format="html")
    from sourcebook.parsing.docling_markdown import write_markdown

    written = write_markdown(docling_document)
    return ParsedDocument(
        markdown=written.markdown,
        blocks=written.blocks,
        title=head.title or document_title(written.blocks),
        language=detect_language(written.markdown, written.blocks),
        metadata=head.metadata,
    )


class _Head(HTMLParser):
    """Collects <title> and <meta> up to <body>."""

    def __init__(self) -> None:
        super().__init__()
        self.metadata: dict[str, JsonValue] = {}
        self._title: list[str] = []
        self._in_title = False
        self._in_body = False

    @property
    def title(self) -> str | None:
        return " ".join(clean("".join(self._title)).split())[:LONGEST_TITLE] or None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"body", "svg"}:
            self._in_body = True
        if self._in_body:
            return
        if tag == "title":
            self._in_title = not self._title
        elif tag == "meta":
            values = dict(attrs)
            name = _META.get((values.get("name") or values.get("property") or "").lower())
            content = " ".join(clean(values.get("content") or "").split())
            if name and content:
                self.metadata.setdefault(name, content[:2000])

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title.append(data)

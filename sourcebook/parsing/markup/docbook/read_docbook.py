"""DocBook 4 and 5 as Markdown, by way of HTML; other files are never included."""

import re
from typing import Any

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import DOCBOOK
from sourcebook.parsing.html.cleaner import readable_body, write_everything
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.markup.docbook.information import declared_language, is_information, metadata_of
from sourcebook.parsing.markup.docbook.names import SECTIONS
from sourcebook.parsing.markup.docbook.renaming import Renaming
from sourcebook.parsing.markup.xml_tree import elements, first_of, local_name, text_root, words_of
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.fenced import parse_code
from sourcebook.parsing.text.titles import cut_title, document_title

_HEAD_BYTES = 65_536
"""Bytes at the start of a file in which a root element says what it is."""
_MARK = re.compile(
    rb"<!DOCTYPE\s+[\w:.-]+\s+PUBLIC\s+[\"'][^\"']{0,200}DocBook[^\"']{0,200}[\"']"
    rb"|<[\w:.-]+\s[^<>]{0,4000}\bxmlns(?::\w+)?\s*=\s*[\"']http://docbook\.org/ns/docbook[\"']",
    re.IGNORECASE,
)
_FIRST_ELEMENT = re.compile(rb"<[A-Za-z_]")


def parse_docbook(content: bytes) -> ParsedDocument:
    """Parse a document: sections with their ids as anchors, lists, tables, code, notes and footnotes.

    Entities are shown as they are written, except the names of characters. An XInclude is shown, not read.

    Raises:
        ParseError: the file is damaged, or holds entities that grow.
    """
    root = text_root(content)
    metadata, language = metadata_of(root), declared_language(root)
    title = _title(root)
    Renaming(root).run()
    body = readable_body(etree.tostring(root, method="html", encoding="unicode"))
    if body is None:
        raise ParseError("it holds no text; check its file name", FailureClass.EMPTY)
    written = write_everything(body, base_url="")
    blocks = written.blocks()
    return ParsedDocument(
        markdown=written.markdown,
        blocks=blocks,
        title=cut_title(clean(title)) or document_title(blocks),
        language=language or detect_language(written.markdown, blocks),
        metadata=metadata,
    )


def _title(root: Any) -> str:
    if local_name(root) not in SECTIONS:
        return ""
    information = [child for child in elements(root) if is_information(local_name(child))]
    titles = [words_of(first_of(part, "title")) for part in (root, *information)]
    return next(filter(None, titles), "")


def parse_xml(content: bytes, *, name: str, media_type: str) -> ParsedDocument:
    """Parse an XML file: DocBook as text, anything else as code.

    Raises:
        ParseError: the file is DocBook and damaged.
    """
    if media_type == DOCBOOK or is_docbook(content):
        return parse_docbook(content)
    return parse_code(content, name=name, media_type=media_type)


def is_docbook(content: bytes) -> bool:
    """Return whether the document type or the namespace of the root element names DocBook."""
    head = content[:_HEAD_BYTES].replace(b"\0", b"")
    root = _FIRST_ELEMENT.search(head)
    end = head.find(b">", root.start()) + 1 if root else 0
    return _MARK.search(head, 0, end or len(head)) is not None

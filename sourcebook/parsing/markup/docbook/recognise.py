"""XML files that are DocBook, among those that are data or code."""

import re

from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import DOCBOOK
from sourcebook.parsing.markup.docbook.read_docbook import parse_docbook
from sourcebook.parsing.text.fenced import parse_code

_HEAD_BYTES = 65_536
"""Bytes at the start of a file in which a root element says what it is."""
_MARK = re.compile(
    rb"<!DOCTYPE\s+[\w:.-]+\s+PUBLIC\s+[\"'][^\"']{0,200}DocBook[^\"']{0,200}[\"']"
    rb"|<[\w:.-]+\s[^<>]{0,4000}\bxmlns(?::\w+)?\s*=\s*[\"']http://docbook\.org/ns/docbook[\"']",
    re.IGNORECASE,
)
_FIRST_ELEMENT = re.compile(rb"<[A-Za-z_]")


def parse_xml(content: bytes, *, name: str, media_type: str) -> ParsedDocument:
    """Parse an XML file: DocBook as text, anything else as code.

    Raises:
        ParseError: The file is DocBook and damaged.
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

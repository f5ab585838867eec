"""Reading of a chat as the product reads it."""

import json

from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover


def read(name: str, content: object) -> ParsedDocument:
    """Return the document of a text, or of a value as JSON."""
    text = content if isinstance(content, str) else json.dumps(content, indent=1)
    encoded = text.encode("utf-8", "surrogatepass")
    document = parse(encoded, name=name, media_type=detect_media_type(name, encoded[:4096]))
    if not document.markdown.startswith("```"):
        assert_blocks_cover(document)
    return document


def lines(document: ParsedDocument) -> list[str]:
    """Return the lines of a document that are not empty."""
    return [line for line in document.markdown.split("\n") if line.strip()]

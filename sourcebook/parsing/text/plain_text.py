"""Plain text files: paragraphs between blank lines, without any markup."""

import re
from collections.abc import Iterator

from sourcebook.model.document import Block, ParsedDocument
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.decode import decode
from sourcebook.parsing.text.spans import trimmed, with_lines

_BLANK_LINES = re.compile(r"\n[ \t\f\v]*(?:\n[ \t\f\v]*)+")


def parse_plain_text(content: bytes) -> ParsedDocument:
    """Parse text whose only structure is its paragraphs."""
    decoded = decode(content)
    blocks = tuple(with_lines(decoded.text, paragraphs(decoded.text)))
    return ParsedDocument(
        markdown=decoded.text,
        blocks=blocks,
        language=detect_language(decoded.text, blocks),
        metadata={"encoding": decoded.encoding},
    )


def paragraphs(text: str) -> Iterator[Block]:
    """Yield a paragraph for each run of lines between blank lines."""
    start = 0
    for gap in _BLANK_LINES.finditer(text):
        yield from _paragraph(text, start, gap.start())
        start = gap.end()
    yield from _paragraph(text, start, len(text))


def _paragraph(text: str, start: int, end: int) -> Iterator[Block]:
    start, end = trimmed(text, start, end)
    if start < end:
        yield Block("paragraph", start, end)

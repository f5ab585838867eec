"""Markdown files: the author's text stays as it is, and each block knows its offsets in it."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from sourcebook.model.document import Block, BlockKind, JsonValue, ParsedDocument
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.decode import decode
from sourcebook.parsing.text.documentation.reading import plain_markdown
from sourcebook.parsing.text.front_matter import read_front_matter
from sourcebook.parsing.text.markdown_pictures import with_picture_marks
from sourcebook.parsing.text.plain_blocks import plain_blocks
from sourcebook.parsing.text.spans import cover, trimmed
from sourcebook.parsing.text.titles import document_title, plain_title

_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
    "blockquote_open": "quote",
}
_LINE_END = re.compile("\n")
_MOST_NAMED = 100
"""Files that are named as not included."""
_SECTION = 1_000_000
"""Characters parsed at once, which bounds memory: markdown-it keeps about 400 bytes per line while it parses."""
_LANDMARK = re.compile(
    r"^[ ]{0,3}(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})|^(?P<heading>\#{1,6}[ \t])|^(?P<blank>[ \t]*\n)",
    re.MULTILINE,
)


def parse_markdown(content: bytes) -> ParsedDocument:
    """Parse CommonMark with tables, and the marks of documentation tools; front matter becomes metadata."""
    decoded = decode(content)
    text = decoded.text
    front_matter = read_front_matter(text)
    if "data:image/" in text:
        text = text[: front_matter.end] + with_picture_marks(text[front_matter.end :])
    plain = plain_markdown(text, front_matter.end)
    text = plain.text
    blocks = tuple(_anchored(markdown_blocks(text, start=front_matter.end), plain.anchors))
    noted: dict[str, JsonValue] = {"front_matter_error": front_matter.error} if front_matter.error else {}
    if plain.not_included:
        noted["not_included"] = [*plain.not_included[:_MOST_NAMED]]
    return ParsedDocument(
        markdown=text,
        blocks=blocks,
        title=front_matter.title or document_title(blocks, text),
        language=front_matter.language or detect_language(text, blocks),
        metadata={**front_matter.metadata, **noted, "encoding": decoded.encoding},
    )


def _anchored(blocks: Iterable[Block], anchors: Sequence[tuple[int, str]]) -> Iterator[Block]:
    """Yield the blocks; a heading that was given an id has it as its anchor."""
    places = [place for place, _ in anchors]
    for block in blocks:
        number = bisect_left(places, block.start) if block.level else len(places)
        if number < len(places) and places[number] < block.end:
            block = replace(block, anchor=anchors[number][1])
        yield block


def markdown_blocks(text: str, *, start: int = 0) -> Iterator[Block]:
    """Yield the top-level blocks of the Markdown `text[start:]`, with offsets into `text`."""
    for begin, end in _sections(text, start):
        yield from cover(text, _section_blocks(text, begin, end), start=begin, end=end)


def _sections(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield spans that cover `text[start:]`, cut before a heading or else at a blank line.

    Fenced code is never cut. Text without headings and blank lines stays one span.
    """
    begin, last_blank = start, 0
    fence = ""
    if len(text) - start > _SECTION:
        for landmark in _LANDMARK.finditer(text, start):
            mark = landmark["fence"]
            if mark is not None:
                if not fence:
                    fence = mark
                elif mark[0] == fence[0] and len(mark) >= len(fence):
                    fence = ""
            elif fence:
                continue
            elif landmark["heading"] is not None:
                if landmark.start() - begin >= _SECTION // 2:
                    yield begin, landmark.start()
                    begin, last_blank = landmark.start(), 0
            else:
                last_blank = landmark.end()
                if last_blank - begin >= _SECTION:
                    yield begin, last_blank
                    begin, last_blank = last_blank, 0
    if begin < len(text):
        yield begin, len(text)


def _section_blocks(text: str, begin: int, end: int) -> Iterator[Block]:
    section = text[begin:end]
    plain = plain_blocks(section)
    if plain is None:
        yield from _parsed_blocks(section, begin)
        return
    for block in plain:
        start, after = trimmed(section, block.start, block.end)
        title = plain_title(block.title) if block.level else ""
        yield Block(block.kind, begin + start, begin + after, level=block.level, title=title)


def _parsed_blocks(section: str, begin: int) -> Iterator[Block]:
    """Yield the blocks of a section as markdown-it reads them."""
    line_starts = [0, *(match.end() for match in _LINE_END.finditer(section)), len(section)]
    tokens = _parser().parse(section)
    for position, token in enumerate(tokens):
        if token.level or token.map is None or token.nesting < 0 or token.type == "inline":
            continue
        first, after = token.map
        kind = _KINDS.get(token.type, "paragraph")
        span_start, span_end = trimmed(section, line_starts[first], line_starts[min(after, len(line_starts) - 1)])
        if kind == "code" and not token.markup:
            span_start = line_starts[first]  # the indent makes it code
        if span_start < span_end:
            level, title = _heading(token, tokens[position + 1]) if kind == "heading" else (0, "")
            yield Block(kind, begin + span_start, begin + span_end, level=level, title=title)


def _heading(opening: Token, inline: Token) -> tuple[int, str]:
    return int(opening.tag[1:]), plain_title(inline.content)


@cache
def _parser() -> MarkdownIt:
    """Return a parser of block structure only: inline content is a third of the work, and only headings need it."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable("inline")
    return parser

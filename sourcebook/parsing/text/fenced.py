"""Code and data as Markdown: one fence around the text as written, with blocks cut at its structure."""

from collections.abc import Callable, Iterable, Iterator

from sourcebook.model.document import Block, BlockKind, ParsedDocument
from sourcebook.model.media_types import CODE_LANGUAGES, extension_of
from sourcebook.parsing.text.code_cuts import code_cuts
from sourcebook.parsing.text.data_cuts import Cut, json_cuts, line_cuts, toml_cuts, yaml_cuts
from sourcebook.parsing.text.decode import decode
from sourcebook.parsing.text.markdown_writing import fence_for
from sourcebook.parsing.text.spans import trimmed


def parse_json(content: bytes) -> ParsedDocument:
    """Parse JSON."""
    return _fenced(content, "json", "data", json_cuts)


def parse_json_lines(content: bytes) -> ParsedDocument:
    """Parse JSON Lines."""
    return _fenced(content, "json", "data", line_cuts)


def parse_yaml(content: bytes) -> ParsedDocument:
    """Parse YAML."""
    return _fenced(content, "yaml", "data", yaml_cuts)


def parse_toml(content: bytes) -> ParsedDocument:
    """Parse TOML."""
    return _fenced(content, "toml", "data", toml_cuts)


def parse_code(content: bytes, *, name: str, media_type: str) -> ParsedDocument:
    """Parse source code in the language of `media_type`, or else of the extension of `name`."""
    language = media_type.removeprefix("text/x-")
    if language not in CODE_LANGUAGES:
        language = extension_of(name)
    return _fenced(content, language, "code", lambda text: code_cuts(text, language=language))


def _fenced(content: bytes, language: str, kind: BlockKind, cuts: Callable[[str], Iterable[Cut]]) -> ParsedDocument:
    """Wrap a file's text in a fence with the name of its language; `cuts` returns where its blocks begin."""
    decoded = decode(content)
    text = decoded.text
    if not text.strip():
        return ParsedDocument(markdown="", blocks=(), metadata={"encoding": decoded.encoding})
    fence = fence_for(text)
    opening = f"{fence}{language}\n"
    ending = fence if text.endswith("\n") else f"\n{fence}"
    return ParsedDocument(
        markdown=f"{opening}{text}{ending}\n",
        blocks=tuple(_blocks(text, cuts(text), kind, offset=len(opening))),
        metadata={"encoding": decoded.encoding},
    )


def _blocks(text: str, cuts: Iterable[Cut], kind: BlockKind, *, offset: int) -> Iterator[Block]:
    start, title = 0, ""
    counted, line = 0, 1
    for position, next_title in [*cuts, (len(text), "")]:
        if position > start:
            begin, end = trimmed(text, start, position)
            while begin > start and text[begin - 1] in " \t":
                begin -= 1
            if begin < end:
                line += text.count("\n", counted, begin)
                counted = begin
                yield Block(kind, offset + begin, offset + end, title=title, anchor=f"L{line}")
            start = position
        title = next_title

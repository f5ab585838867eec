"""Code and data as Markdown: one fence around the text as written, with blocks cut at its structure.

Letters that a program wrote as numbers (`Gr&#252;n`) are those letters, which people look for.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from sourcebook.model.document import Block, BlockKind, ParsedDocument
from sourcebook.model.media_types import CODE_LANGUAGES, extension_of
from sourcebook.parsing.text.code_cuts import code_cuts
from sourcebook.parsing.text.data_cuts import Cut, json_cuts, line_cuts, toml_cuts, yaml_cuts
from sourcebook.parsing.text.decode import decode
from sourcebook.parsing.text.markdown_writing import fence_for
from sourcebook.parsing.text.spans import trimmed

_ESCAPES = re.compile(
    r"\\u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})|\\u([\da-fA-F]{4})|\\(/)|\\.", re.DOTALL
)
_QUOTED = re.compile(r'"(?>(?:[^"\\\n]++|\\.)*)"?', re.DOTALL)
_REFERENCES = re.compile(r"&#(?:x([\da-fA-F]{1,6})|(\d{1,7}));")


def parse_json(content: bytes) -> ParsedDocument:
    """Parse JSON."""
    return _fenced(content, "json", "data", json_cuts)


def parse_json_lines(content: bytes) -> ParsedDocument:
    """Parse JSON Lines."""
    return _fenced(content, "json", "data", line_cuts)


def parse_yaml(content: bytes) -> ParsedDocument:
    """Parse YAML."""
    return _fenced(content, "yaml", "data", yaml_cuts, _unescaped_in_quotes)


def parse_toml(content: bytes) -> ParsedDocument:
    """Parse TOML."""
    return _fenced(content, "toml", "data", toml_cuts, _unescaped_in_quotes)


def parse_code(content: bytes, *, name: str, media_type: str) -> ParsedDocument:
    """Parse source code in the language of `media_type`, or else of the extension of `name`."""
    language = media_type.removeprefix("text/x-")
    if language not in CODE_LANGUAGES:
        language = extension_of(name)
    readable = _of_references if language == "xml" else _unescaped if extension_of(name) == "properties" else str
    return _fenced(content, language, "code", lambda text: code_cuts(text, language=language), readable)


def _unescaped(text: str) -> str:
    """Return data with the characters that escapes stand for; signs that end a text or a line stay escaped."""
    return _ESCAPES.sub(_of_escape, text) if "\\" in text else text


def _unescaped_in_quotes(text: str) -> str:
    """Return data with the characters of escapes in `"…"`: elsewhere a backslash is itself, as in an expression."""
    return _QUOTED.sub(lambda found: _unescaped(found[0]), text)


def _of_escape(found: re.Match[str]) -> str:
    high, low, single, slash = found.groups()
    if high:
        return chr(0x10000 + (int(high[1:], 16) - 0x800 << 10) + int(low[1:], 16) - 0xC00)
    return slash or (_shown(int(single, 16), found[0], '"\\') if single else found[0])


def _of_references(text: str) -> str:
    """Return XML with the characters that numbers stand for, but those of its own marks."""
    return _REFERENCES.sub(_of_reference, text)


def _of_reference(found: re.Match[str]) -> str:
    return _shown(int(found[1], 16) if found[1] else int(found[2]), found[0], "<>&\"'")


def _shown(code: int, written: str, marks: str) -> str:
    character = chr(code) if code <= 0x10FFFF else ""
    return character if character.isprintable() and character and character not in marks else written


def _fenced(
    content: bytes,
    language: str,
    kind: BlockKind,
    cuts: Callable[[str], Iterable[Cut]],
    readable: Callable[[str], str] = _unescaped,
) -> ParsedDocument:
    """Wrap a file's text in a fence with the name of its language; `cuts` returns where its blocks begin."""
    decoded = decode(content)
    text = readable(decoded.text)
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

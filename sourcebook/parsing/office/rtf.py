"""Rich text (.rtf) of word processors: striprtf reads the words, and marks set before tell what they belong to."""

import re
from collections.abc import Iterator
from typing import Final

from striprtf.striprtf import rtf_to_text

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.joined_blocks import JoinedBlocks
from sourcebook.parsing.text.markdown_writing import markdown_table
from sourcebook.parsing.text.titles import document_title, is_title

_HEADING, _CELL, _ROW, _NOTE, _NOTE_END, _ROW_START = (
    "\ue000", "\ue010", "\ue011", "\ue012", "\ue013", "\ue014"
)  # fmt: skip
"""Marks, from Unicode's private use area: the heading levels 1 to 9 are U+E000 to U+E008."""
_PRIVATE: Final = re.compile("[\ue000-\ue014]")
_CONTROL: Final = re.compile(r"\\\\|\\(?:(outlinelevel)(\d)(?!\d) ?|(cell|row|trowd)(?![a-z]) ?)")
"""Words that get a mark; the first alternative steps over a backslash of the text."""
_FOOTNOTE: Final = re.compile(r"\{(?:\\\*)?\\footnote(?![a-z])")
_BRACE: Final = re.compile(r"\\[\\{}]|[{}]")
_PICTURE: Final = re.compile(r"(?:[0-9a-fA-F]{2}\s*){256,}")
"""Data of pictures, which striprtf would go over letter by letter: .3 s a megabyte."""
_BINARY: Final = re.compile(r"\\\\|\\bin(?:(?![a-z])(\d{0,9})|[a-z]+-?\d*) ?")
"""Binary data, trays of a printer (`\\binsxn`), and backslashes of the text.

striprtf takes every `\\bin` beside a picture for binary data, in the text too, and then loses the rest of the document.
"""
_BACKSLASH: Final = "\\'5c"
"""A backslash of the text, written as its code."""
_PROPERTY: Final = re.compile(r"\{\\(title|author|subject|keywords)(?![a-z])((?:[^{}\\]|\\[^{}])*)\}")
_ITEM: Final = re.compile(r"\s*(?:([•·▪◦‣–-])|(\d{1,3}|[a-z])([.)]))\t\s*")
_CODE_PAGE: Final = re.compile(r"\\ansicpg(\d{3,5})")
_INFO_BYTES: Final = 20_000
"""Characters at the start that hold the properties."""


def parse_rtf(content: bytes) -> ParsedDocument:
    """Parse rich text: headings, lists, tables and footnotes; links as text. Pictures and headers are left out.

    Raises:
        ParseError: It is no rich text.
    """
    written = _decoded(content)
    if not written.lstrip().startswith("{\\rtf"):
        raise ParseError("it is no rich text; open it in a word processor and save it again", FailureClass.CORRUPT)
    text = _text(_marked(written))
    joined = JoinedBlocks()
    _write(joined, text)
    markdown, blocks = joined.markdown(), tuple(joined.blocks)
    properties = _properties(written)
    title = properties.pop("title", None)
    return ParsedDocument(
        markdown=markdown,
        blocks=blocks,
        title=title if isinstance(title, str) and is_title(title) else document_title(blocks, markdown),
        language=detect_language(markdown, blocks),
        metadata=properties,
    )


def _text(source: str) -> str:
    """Return the text of a source; it writes a character beyond U+FFFF as two surrogates."""
    text: str = rtf_to_text(source, errors="replace")  # type: ignore[no-untyped-call] # it has no types
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _decoded(content: bytes) -> str:
    """Return the source without binary data; bytes above 127, which few programs write, are in its code page."""
    source = content.decode("latin-1")
    kept, reached = [], 0
    for found in _BINARY.finditer(source):
        if found.start() >= reached:
            is_text = found[0] == "\\\\"
            kept += [source[reached : found.start()], _BACKSLASH if is_text else "{}"]  # words need an end
            reached = found.end() + int(found[1] or 0)
    source = "".join([*kept, source[reached:]])
    page = _CODE_PAGE.search(source[:1000])
    try:
        return source.encode("latin-1").decode(f"cp{page[1]}" if page else "cp1252", errors="replace")
    except LookupError:
        return source


def _marked(source: str) -> str:
    """Return the source without pictures, and with marks in its text."""
    source = _PICTURE.sub("", _PRIVATE.sub("", source))
    source = _with_note_ends(source)

    def mark(found: re.Match[str]) -> str:
        if not (found[1] or found[3]):
            return found[0]
        if found[1]:
            return f"{found[0].rstrip()} {chr(ord(_HEADING) + int(found[2]))}" if found[2] != "9" else found[0]
        return {"cell": _CELL, "row": _ROW, "trowd": f"\\trowd {_ROW_START}"}[found[3]]

    return _CONTROL.sub(mark, source)


def _with_note_ends(source: str) -> str:
    parts, reached = [], 0
    for found in _FOOTNOTE.finditer(source):
        if found.start() < reached:
            continue
        depth = 0
        for brace in _BRACE.finditer(source, found.start()):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if not depth:
                note = source[found.end() : brace.start()]
                parts += [source[reached : found.start()], "{", _NOTE, note, _NOTE_END, "}"]
                reached = brace.end()
                break
        else:
            break
    return "".join([*parts, source[reached:]])


def _write(joined: JoinedBlocks, text: str) -> None:
    notes: list[str] = []

    def place(found: re.Match[str]) -> str:
        words = " ".join(_PRIVATE.sub("", found[1]).split())
        if words:
            notes.append(f"[^{len(notes) + 1}]: {words}")
        return f"[^{len(notes)}]" if words else ""

    text = re.sub(f"{_NOTE}([^{_NOTE_END}]*){_NOTE_END}", place, text)
    rows: list[list[str]] = []
    items: list[str] = []
    for kind, line in _lines(text):
        if kind != "row" and rows:
            joined.add(markdown_table(rows), "table")
            rows = []
        item = _ITEM.match(line) if kind == "line" else None
        if not item and items:
            joined.add("\n".join(items), "list")
            items = []
        if kind == "row":
            rows.append([" ".join(cell.split()) for cell in line.split(_CELL)[:-1]])
        elif item:
            mark = f"{item[2]}{item[3]}" if item[2] and item[2].isdecimal() else "-"
            items.append(f"{mark} {clean(' '.join(line[item.end() :].split()))}")
        elif kind == "line":
            joined.add(clean(" ".join(line.split())), "paragraph")
        else:
            joined.add_heading(clean(line), min(int(kind) + 1, 6))
    if rows:
        joined.add(markdown_table(rows), "table")
    if items:
        joined.add("\n".join(items), "list")
    for note in notes:
        joined.add(clean(note), "paragraph")


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a text, each with its kind: `row`, `line`, or the level of a heading, from 0."""
    for line in _rows_on_lines(text).split("\n"):
        if _CELL in line:
            yield "row", line
        elif (bare := _PRIVATE.sub("", line)).strip():
            level = next((character for character in line if "\ue000" <= character <= "\ue008"), None)
            yield ("line" if level is None else str(ord(level) - ord(_HEADING))), bare


def _rows_on_lines(text: str) -> str:
    """Return a text with each row of a table on one line: paragraphs within a cell become spaces."""
    lines: list[str] = []
    for chunk in text.split(_ROW):
        before, start, row = chunk.partition(_ROW_START)
        before, row = (before, row) if start else ("", chunk)
        *cells, rest = row.split(_CELL)
        if cells and not start:  # a row without its definition: it begins with the line of its first cell
            before, _, cells[0] = cells[0].rpartition("\n")
        written = "".join(" ".join(_PRIVATE.sub("", cell).split()) + _CELL for cell in cells)
        lines += [before, written, rest]
    return "\n".join(lines)


def _properties(source: str) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    start = source.find("{\\info", 0, _INFO_BYTES)
    for each in _PROPERTY.finditer(source[start : start + _INFO_BYTES]) if start >= 0 else ():
        text = " ".join(clean(_text(f"{{\\rtf1\\ansi {each[2]}}}")).split())
        if text and each[1] not in found:
            found[each[1]] = text
    if isinstance(words := found.get("keywords"), str):
        found["keywords"] = [word.strip() for word in re.split("[;,]", words) if word.strip()]
    return found

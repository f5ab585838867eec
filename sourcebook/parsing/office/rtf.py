"""Rich text (.rtf) of word processors: its text, cut at the marks that `rich_text` sets."""

import re
from collections.abc import Iterator
from typing import Final

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.office.rich_text import (
    CELL,
    HEADING,
    MARKS,
    NOTE,
    NOTE_END,
    REMARK,
    ROW,
    ROW_START,
    read_rich_text,
)
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.joined_blocks import JoinedBlocks
from sourcebook.parsing.text.left_out import left_out_of
from sourcebook.parsing.text.markdown_writing import markdown_table
from sourcebook.parsing.text.picture_marks import count_pictures
from sourcebook.parsing.text.titles import document_title, is_title

_PICTURE: Final = re.compile(r"(?:[0-9a-fA-F]{2}\s*){256,}")
"""Data of pictures."""
_RASTER: Final = re.compile(r"(?<![0-9a-fA-F])(?:89504e47|ffd8ff)(?:[0-9a-fA-F]{2}\s*){256}", re.IGNORECASE)
"""Start of a picture; drawings beside them are the same pictures for older programs."""
_BINARY: Final = re.compile(r"\\\\|\\bin(?:(?![a-z])(\d{0,9})|[a-z]+-?\d*) ?")
"""Binary data, trays of a printer (`\\binsxn`), and backslashes of the text."""
_BACKSLASH: Final = "\\'5c"
"""A backslash of the text, written as its code."""
_PROPERTY: Final = re.compile(r"\{\\(title|author|subject|keywords)(?![a-z])((?:[^{}\\]|\\[^{}])*)\}")
_ITEM: Final = re.compile(r"\s*(?:([•·▪◦‣–-])|(\d{1,3}|[a-z])([.)]))\t\s*")
_CODE_PAGE: Final = re.compile(r"\\ansicpg(\d{3,5})")
_INFO_BYTES: Final = 20_000
"""Characters at the start that hold the properties."""


def parse_rtf(content: bytes) -> ParsedDocument:
    """Parse rich text: headings, lists, tables, boxes, footnotes, remarks; links as text.

    Pictures are left out; headers, footers and hidden words too. The metadata count them.

    Raises:
        ParseError: it is no rich text.
    """
    written = _without_binary_data(content.decode("latin-1"))
    if not written.lstrip().startswith("{\\rtf"):
        raise ParseError("it is no rich text; open it in a word processor and save it again", FailureClass.CORRUPT)
    count_pictures(len(_RASTER.findall(written)))
    read = read_rich_text(_PICTURE.sub("", written))
    joined = JoinedBlocks()
    _write(joined, read.text)
    markdown, blocks = joined.markdown(), tuple(joined.blocks)
    properties = _properties(written)
    title = properties.pop("title", None)
    return ParsedDocument(
        markdown=markdown,
        blocks=blocks,
        title=title if isinstance(title, str) and is_title(title) else document_title(blocks, markdown),
        language=detect_language(markdown, blocks),
        metadata=properties | left_out_of(read.left_out, kept=len(markdown)).metadata(),
    )


def _without_binary_data(source: str) -> str:
    kept, reached = [], 0
    for found in _BINARY.finditer(source):
        if found.start() >= reached:
            is_text = found[0] == "\\\\"
            kept += [source[reached : found.start()], _BACKSLASH if is_text else "{}"]  # words need an end
            reached = found.end() + int(found[1] or 0)
    return "".join([*kept, source[reached:]])


def _write(joined: JoinedBlocks, text: str) -> None:
    notes: list[str] = []

    def place(found: re.Match[str]) -> str:
        words = " ".join(MARKS.sub("", found[1]).split())
        if words:
            notes.append(f"[^{len(notes) + 1}]: {words}")
        return f"[^{len(notes)}]" if words else ""

    text = re.sub(f"{NOTE}([^{NOTE_END}]*){NOTE_END}", place, text)
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
            rows.append([" ".join(cell.split()) for cell in line.split(CELL)[:-1]])
        elif item:
            mark = f"{item[2]}{item[3]}" if item[2] and item[2].isdecimal() else "-"
            items.append(f"{mark} {clean(' '.join(line[item.end() :].split()))}")
        elif kind == "remark":
            joined.add(f"> {clean(' '.join(line.split()))}", "quote")
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
    """Yield the lines of a text, each with its kind: `row`, `remark`, `line`, or the level of a heading, from 0."""
    for line in _rows_on_lines(text).split("\n"):
        if CELL in line:
            yield "row", line
        elif (bare := MARKS.sub("", line)).strip():
            if line.startswith(REMARK):
                yield "remark", bare
                continue
            level = next((character for character in line if "\ue000" <= character <= "\ue008"), None)
            yield ("line" if level is None else str(ord(level) - ord(HEADING))), bare


def _rows_on_lines(text: str) -> str:
    """Return a text with each row of a table on one line: paragraphs within a cell become spaces."""
    lines: list[str] = []
    for chunk in text.split(ROW):
        before, start, row = chunk.partition(ROW_START)
        before, row = (before, row) if start else ("", chunk)
        *cells, rest = row.split(CELL)
        if cells and not start:  # a row without its definition: it begins with the line of its first cell
            before, _, cells[0] = cells[0].rpartition("\n")
        written = "".join(" ".join(MARKS.sub("", cell).split()) + CELL for cell in cells)
        lines += [before, written, rest]
    return "\n".join(lines)


def _properties(source: str) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    named = _CODE_PAGE.search(source[:1000])
    page = f"cp{named[1]}" if named else "cp1252"
    start = source.find("{\\info", 0, _INFO_BYTES)
    for each in _PROPERTY.finditer(source[start : start + _INFO_BYTES]) if start >= 0 else ():
        shown = read_rich_text(f"{{\\rtf1 {each[2]}}}", page=page).text
        text = " ".join(clean(shown).split())
        if text and each[1] not in found:
            found[each[1]] = text
    if isinstance(words := found.get("keywords"), str):
        found["keywords"] = [word.strip() for word in re.split("[;,]", words) if word.strip()]
    return found

"""Org outlines as Markdown: headings, lists, tables, code and quotes; other files are never included."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import dedent

from sourcebook.model.document import BlockKind, ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.markup.org.inline import markdown
from sourcebook.parsing.markup.org.keywords import Heading, heading_of, keyword_of, metadata_of, read_keywords
from sourcebook.parsing.markup.org.lists import ITEM, list_items, list_length
from sourcebook.parsing.markup.org.macros import with_macros
from sourcebook.parsing.text.decode import decode
from sourcebook.parsing.text.joined_blocks import JoinedBlocks
from sourcebook.parsing.text.markdown_writing import code_fence, markdown_table
from sourcebook.parsing.text.titles import document_title, plain_title
from sourcebook.parsing.text.word_counts import word_counts

_DEEPEST = 20
"""Levels of nested lists and blocks that are converted."""
_BEGIN = re.compile(r"[ \t]*#\+begin_(\S{1,100})(?:[ \t](.*))?", re.IGNORECASE)
_END = re.compile(r"[ \t]*#\+end_(\S{1,100})[ \t]*", re.IGNORECASE)
_DRAWER = re.compile(r"[ \t]*:[\w-]{1,100}:[ \t]*")
_DRAWER_END = re.compile(r"[ \t]*:end:[ \t]*", re.IGNORECASE)
_CUSTOM_ID = re.compile(r"[ \t]*:custom_id:[ \t]+(\S{1,300})[ \t]*", re.IGNORECASE)
_FIXED = re.compile(r"[ \t]*:(?:[ ](.*))?")
_COMMENT = re.compile(r"[ \t]*#(?:[ \t].*)?")
_HIDDEN = re.compile(r"(?:[A-Z]{3,20} )?COMMENT(?: |$)")
"""Heading of a section that is a comment, also behind a keyword such as TODO."""
_RULE = re.compile(r"[ \t]*-{5,}[ \t]*")
_NOTE = re.compile(r"\[fn:([\w-]{1,100})\][ \t]*")
_ESCAPED = re.compile(r"^([ \t]*),(?=,*(?:\*|#\+))", re.MULTILINE)
_LABELS = frozenset({"note", "tip", "important", "warning", "caution", "attention", "info", "danger", "hint"})
_Piece = tuple[BlockKind, str]
ROW = re.compile(r"[ \t]*(?:\|.*|\+-[-+]*\+[ \t]*)")
"""Line of a table."""
_RULE_OF_TABLE = re.compile(r"[|+]-[-+|]*")
_WIDTH = re.compile(r"<[lrc]?\d{0,4}>|")
_GROUP = frozenset({"", "<", ">", "<>"})


def parse_org(content: bytes) -> ParsedDocument:
    """Parse an outline; `#+TITLE`, `#+AUTHOR`, `#+DATE`, `#+FILETAGS` and the tags of headings become metadata.

    Below a title, the headings are one level deeper. Drawers, properties, comments and settings are left out, sections
    that are comments are counted, and a property CUSTOM_ID is the anchor of its heading. `#+INCLUDE` is shown as a line
    and never followed.
    """
    decoded = decode(content)
    lines = decoded.text.expandtabs(8).split("\n")
    keywords = read_keywords(lines)
    lines = [*with_macros(lines, keywords.values)]
    joined = JoinedBlocks()
    joined.add_heading(keywords.title, 1)
    headings: list[Heading] = []
    hidden, level = [""], 0
    for heading, body in _sections(lines):
        level = 0 if heading is None or heading.level <= level else level
        if heading is not None and (level or _HIDDEN.match(heading.text)):
            level = level or heading.level
            hidden += [heading.text, *body]
            continue
        if heading is not None:
            headings.append(heading)
            before = len(joined.blocks)
            joined.add_heading(heading.text, min(heading.level + bool(keywords.title), 6))
            anchor = next((found[1] for line in body if (found := _CUSTOM_ID.fullmatch(line))), None)
            joined.blocks[before:] = [replace(block, anchor=anchor) for block in joined.blocks[before:]]
        for kind, text in _Blocks(body, depth=0).pieces():
            joined.add(text, kind)
    text, blocks = joined.markdown(), tuple(joined.blocks)
    return ParsedDocument(
        markdown=text,
        blocks=blocks,
        title=plain_title(keywords.title) or document_title(blocks),
        language=keywords.language or detect_language(text, blocks),
        metadata=with_left_out(
            {**metadata_of(keywords, headings), "encoding": decoded.encoding},
            {"hidden_words": word_counts("\n".join(hidden)).total()},
        ),
    )


def _sections(lines: Sequence[str]) -> Iterator[tuple[Heading | None, Sequence[str]]]:
    """Yield each heading with the lines below it; the first one is None. A line with stars ends every block."""
    heading, start = None, 0
    for number, line in enumerate(lines):
        found = heading_of(line) if line.startswith("*") else None
        if found is not None:
            yield heading, lines[start:number]
            heading, start = found, number + 1
    yield heading, lines[start:]


class _Blocks:
    """Converter of lines, block by block; a nested block has a converter of its own."""

    def __init__(self, lines: Sequence[str], *, depth: int) -> None:
        self._lines = lines
        self._depth = depth
        self._at = 0
        # The last end of each kind of block: without it, a text of thousands of beginnings takes quadratic time.
        self._ends = {found[1].lower(): number for number, line in enumerate(lines) if (found := _END.fullmatch(line))}
        self._drawer_end = max((number for number, line in enumerate(lines) if _DRAWER_END.fullmatch(line)), default=-1)

    def pieces(self) -> Iterator[_Piece]:
        """Yield the kind and the Markdown of each block."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip() or _COMMENT.fullmatch(line):
                self._at += 1
            elif (begin := _BEGIN.fullmatch(line)) and self._ends.get(begin[1].lower(), -1) > self._at:
                yield from self._enclosed(begin[1].lower(), (begin[2] or "").strip())
            elif keyword := keyword_of(line):
                self._at += 1
                yield from self._keyword(*keyword)
            elif self._drawer_end > self._at and _DRAWER.fullmatch(line) and not _DRAWER_END.fullmatch(line):
                self._skip_drawer()
            else:
                yield self._block(line)

    def _keyword(self, name: str, value: str) -> Iterator[_Piece]:
        if name == "caption" and value:
            yield "paragraph", f"**{markdown(value)}**"
        elif name == "include":
            yield "paragraph", f"`#+INCLUDE: {value}`"

    def _skip_drawer(self) -> None:
        while not _DRAWER_END.fullmatch(self._lines[self._at]):
            self._at += 1
        self._at += 1

    def _block(self, line: str) -> _Piece:
        if ROW.fullmatch(line):
            return "table", org_table(self._while(ROW))
        if _FIXED.fullmatch(line):
            return "code", code_fence("\n".join(_FIXED.sub(r"\1", each) for each in self._while(_FIXED)))
        if _RULE.fullmatch(line):
            self._at += 1
            return "paragraph", "***"
        if ITEM.fullmatch(line) and self._depth < _DEEPEST:
            length = list_length(self._lines, self._at)
            items = self._lines[self._at : self._at + length]
            self._at += length
            return "list", self._list(items)
        return "paragraph", self._paragraph()

    def _while(self, pattern: re.Pattern[str]) -> list[str]:
        start = self._at
        while self._at < len(self._lines) and pattern.fullmatch(self._lines[self._at]):
            self._at += 1
        return list(self._lines[start : self._at])

    def _enclosed(self, name: str, arguments: str) -> Iterator[_Piece]:
        """Consume a block between `#+begin_NAME` and `#+end_NAME`."""
        start = self._at + 1
        while not ((end := _END.fullmatch(self._lines[self._at])) and end[1].lower() == name):
            self._at += 1
        inside = self._lines[start : self._at]
        self._at += 1
        first, _, _ = arguments.partition(" ")
        if name in {"src", "example", "export"}:
            code = _ESCAPED.sub(r"\1", dedent("\n".join(inside)))
            yield "code", code_fence(code, "" if name == "example" else first)
        elif name == "verse":
            yield "quote", _quoted("  \n".join(markdown(line.strip()) for line in inside))
        elif name != "comment":
            yield from self._nested(name, inside)

    def _nested(self, name: str, inside: Sequence[str]) -> Iterator[_Piece]:
        if self._depth >= _DEEPEST:
            yield "paragraph", markdown("\n".join(line.strip() for line in inside))
            return
        pieces = list(_Blocks(inside, depth=self._depth + 1).pieces())
        if name == "quote" or name in _LABELS:
            label = [f"**{name.capitalize()}:**"] if name in _LABELS else []
            yield "quote", _quoted("\n\n".join([*label, *(text for _, text in pieces if text)]))
        else:
            yield from pieces

    def _paragraph(self) -> str:
        """Consume the lines up to a blank one or the start of another block."""
        lines = [self._lines[self._at].strip()]
        self._at += 1
        while self._at < len(self._lines) and not self._begins(self._lines[self._at]):
            if not _COMMENT.fullmatch(line := self._lines[self._at]):
                lines.append(line.strip())
            self._at += 1
        lines = [f"{line[:-2].rstrip()}  " if line.endswith("\\\\") else line for line in lines]
        note = _NOTE.match(lines[0])
        if note:
            lines[0] = f"[{note[1]}] {lines[0][note.end() :]}"
        return "\n".join(map(markdown, lines))

    def _begins(self, line: str) -> bool:
        if not line.strip():
            return True
        begin = _BEGIN.fullmatch(line)
        if begin is not None:
            return self._ends.get(begin[1].lower(), -1) > self._at
        if ITEM.fullmatch(line):
            return self._depth < _DEEPEST
        is_drawer = self._drawer_end > self._at and _DRAWER.fullmatch(line) is not None
        is_block = any(pattern.fullmatch(line) for pattern in (ROW, _FIXED, _RULE))
        return is_drawer or is_block or keyword_of(line) is not None or _NOTE.match(line) is not None

    def _list(self, lines: Sequence[str]) -> str:
        """Return a list as Markdown, with an empty line between items that have one in between."""
        written: list[str] = []
        is_loose = False
        for item in list_items(lines):
            pieces = [text for _, text in _Blocks(item.lines, depth=self._depth + 1).pieces() if text]
            if item.term:
                pieces[:1] = [f"**{markdown(item.term)}**: {pieces[0]}" if pieces else f"**{markdown(item.term)}**"]
            is_loose = is_loose or any(not line.strip() for line in item.lines[1:-1])
            text = ("\n\n" if is_loose else "\n").join(pieces)
            margin = " " * len(item.marker)
            shifted = "\n".join(f"{margin}{line}" if line else "" for line in text.split("\n"))
            written.append(f"{item.marker}{shifted[len(margin) :]}")
        return "\n".join(written)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n")) if text.strip() else ""


def org_table(lines: Sequence[str]) -> str:
    """Return a table as Markdown; rules, widths and groups of columns are no rows."""
    rows: list[list[str]] = []
    for line in map(str.strip, lines):
        if _RULE_OF_TABLE.fullmatch(line):
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        widths = all(map(_WIDTH.fullmatch, cells)) and any(cells)
        groups = cells[0] == "/" and _GROUP.issuperset(cells[1:])
        if not widths and not groups and any(cells):
            rows.append([markdown(cell).replace("\\vert", "|") for cell in cells])
    return markdown_table(rows)

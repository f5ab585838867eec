"""Tables and code as GitHub Markdown."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sourcebook.model.document import Block, BlockKind, Box
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.titles import plain_title

LONGEST_REPEATED = 200
"""Characters up to which the text of a merged cell is repeated at every position it covers."""
_HEADING = re.compile(r"(#{1,6}) ")
_LIKE_HEADING = re.compile(r"^(?=#{1,6}(?:[ \t]|$))", re.MULTILINE)
_ITEM_LIKE_HEADING = re.compile(r"^([ \t]*(?:[-*+]|\d+[.)])[ \t]+)(?=#{1,6}(?:[ \t]|$))", re.MULTILINE)
_MOST_FILLED = 8
"""Cells of the filled table per cell of the rows, above which short rows are not filled."""
_SMALL = 10_000
"""Cells up to which short rows are always filled."""
_SOFT_HYPHEN = "\u00ad"
"""Place where a program may divide a word."""
_BACKTICKS = re.compile("`{3,}")
_NEWLINES = re.compile(r"\s*\n\s*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A block that is still to be written."""

    kind: BlockKind
    text: str
    """Markdown of the block."""
    page: int | None = None
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class WrittenDocument:
    """Markdown and the blocks in it."""

    markdown: str
    blocks: tuple[Block, ...]


def write_pieces(pieces: Iterable[Piece]) -> WrittenDocument:
    """Join the pieces that are not blank by blank lines, and return them with their offsets."""
    texts: list[str] = []
    blocks: list[Block] = []
    length = 0
    for piece in pieces:
        text = _without_false_heading(piece.kind, clean(piece.text).replace(_SOFT_HYPHEN, "").strip())
        if not text:
            continue
        heading = _HEADING.match(text) if piece.kind == "heading" else None
        level, title = (len(heading[1]), plain_title(text[heading.end() :])) if heading else (0, "")
        blocks.append(
            Block(piece.kind, length, length + len(text), level=level, title=title, page=piece.page, box=piece.box)
        )
        texts.append(text)
        length += len(text) + 2
    markdown = "\n\n".join(texts)
    return WrittenDocument(f"{markdown}\n" if markdown else "", tuple(blocks))


def _without_false_heading(kind: BlockKind, text: str) -> str:
    """Return the Markdown of a block, with an escape before the number sign with which a paragraph or item begins."""
    match kind:
        case "paragraph":
            return _LIKE_HEADING.sub(r"\\", text)
        case "list":
            return _ITEM_LIKE_HEADING.sub(r"\1\\", text)
        case _:
            return text


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Return the table whose header is the first row; bars are escaped, newlines become spaces, nothing is padded.

    Short rows are filled with empty cells, unless that multiplies the table: GitHub allows short rows.
    """
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    ragged = len(rows) * width > _MOST_FILLED * sum(map(len, rows)) + _SMALL
    lines = [_line(row, 0 if ragged and number else width) for number, row in enumerate(rows)]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def _line(row: Sequence[str], width: int) -> str:
    line = " | ".join([_cell(cell) for cell in row] + [""] * (width - len(row)))
    return f"| {line} |"


def _cell(text: str) -> str:
    if "\n" in text:
        text = _NEWLINES.sub(" ", text)
    return text.strip().replace("|", "\\|")


def code_fence(code: str, language: str = "") -> str:
    """Return code between fences longer than any fence in it, or "" for white space only."""
    if not code.strip():
        return ""
    fence = fence_for(code)
    return f"{fence}{' '.join(language.split())}\n{code}\n{fence}"


def fence_for(code: str) -> str:
    """Return the backticks of a fence: one more than the longest run of backticks in the code, at least three."""
    return "`" * (max(map(len, _BACKTICKS.findall(code)), default=2) + 1)

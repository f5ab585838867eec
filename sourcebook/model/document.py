"""A parsed document: Markdown, the blocks in it, their rows in the database, and the identity of both."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

BlockKind = Literal["heading", "paragraph", "list", "table", "code", "quote", "data", "speech"]

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]
"""A value that JSON can hold."""
Box = tuple[float, float, float, float]
"""Left, top, right and bottom edge, in points from the page's upper left corner."""


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level part of a document: `markdown[start:end]`.

    Blocks are in reading order, do not overlap, and leave out only white space.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    """1 to 6 for a heading, 0 otherwise."""
    title: str = ""
    """Text of a heading without its Markdown."""
    page: int | None = None
    """Number of the page on which the block begins, counted from 1; None where the format has no pages."""
    anchor: str | None = None
    """A heading's `id` on its web page, empty where it has none; None where GitHub's rule for anchors holds. A
    block of code, data or plain text has the line of the file on which it begins: `L10`."""
    start_seconds: float | None = None
    """Start of a speech block in its recording, in seconds."""
    end_seconds: float | None = None
    """End of a speech block in its recording, in seconds."""
    box: Box | None = None
    """Part of `page` that the block covers; None where the format has no pages."""

    def __reduce__(self) -> tuple[type["Block"], tuple[object, ...]]:
        """Return the arguments for a copy in another process; without this method, one takes three times as long."""
        return Block, (
            self.kind,
            self.start,
            self.end,
            self.level,
            self.title,
            self.page,
            self.anchor,
            self.start_seconds,
            self.end_seconds,
            self.box,
        )


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside a file, such as an attachment of a message, or a record of an export."""

    name: str
    media_type: str
    size: int
    """Size in bytes."""
    sha256: bytes
    content: bytes | None = None
    """The bytes of a record; None for a file, whose bytes stay in the outer file."""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """The readable content of one item, independent of its location and name."""

    markdown: str
    blocks: tuple[Block, ...]
    title: str | None = None
    """Title in the content (first H1, <title>, document properties), or None."""
    page_count: int | None = None
    language: str | None = None
    """ISO 639-1 code, or None where the detection is not sure enough."""
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()
    """Attachments in their order; each becomes a document of its own where its media type is read."""
    nothing_to_read: str | None = None
    """Reason why an intact file gives no text, such as OCR that is off; None where it is simply empty."""


_WITHOUT_BOX = 9
"""Most columns of a row without a box."""


def block_rows(blocks: Iterable[Block]) -> list[list[Any]]:
    """Return blocks as rows of their fields; anchor, times and box are left out at the end of a row where None."""
    return [
        [block.kind, block.start, block.end, block.level, block.title, block.page, *_optional(block)]
        for block in blocks
    ]


def blocks_of(rows: Iterable[Sequence[Any]]) -> tuple[Block, ...]:
    """Return the blocks of rows."""
    return tuple(_block(row) for row in rows)


def _block(row: Sequence[Any]) -> Block:
    if len(row) <= _WITHOUT_BOX:
        return Block(*row)
    *rest, box = row
    return Block(*rest, *[(box[0], box[1], box[2], box[3])])


def _optional(block: Block) -> list[Any]:
    if block.box is not None:
        return [block.anchor, block.start_seconds, block.end_seconds, list(block.box)]
    if block.start_seconds is not None:
        return [block.anchor, block.start_seconds, block.end_seconds]
    return [] if block.anchor is None else [block.anchor]


def content_hash(markdown: str, blocks: Iterable[Block], title: str | None) -> bytes:
    """Return the sha256 over Markdown, blocks and title: the identity of a crawled page and of a document."""
    digest = hashlib.sha256(markdown.encode())
    digest.update(b"\0" + json.dumps(block_rows(blocks), ensure_ascii=False).encode())
    digest.update(b"\0" + (title or "").encode())
    return digest.digest()

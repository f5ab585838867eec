"""What every parser returns: Markdown, and the blocks it is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

BlockKind = Literal["heading", "paragraph", "list", "table", "code", "quote", "data", "speech"]

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]


Box = tuple[float, float, float, float]
"""Left, top, right, bottom; in points, counted from the page's upper left corner."""


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level piece of a document: `markdown[start:end]`.

    Blocks are in reading order, do not overlap, and leave out only white space between them.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    """1 to 6 for a heading, 0 otherwise."""
    title: str = ""
    """A heading's text without its Markdown."""
    page: int | None = None
    """The page the block begins on, counted from 1, where the format has pages."""
    anchor: str | None = None
    """A heading's `id` on its web page, empty where it has none; None where GitHub's rule for anchors holds."""
    start_seconds: float | None = None
    """Of speech: when in the recording it begins."""
    end_seconds: float | None = None
    box: Box | None = None
    """Where on its page the block stands, where the format has pages: of a block that runs on, the part on `page`."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file within a file, such as one that came with a message; its bytes stay in there."""

    name: str
    media_type: str
    size: int
    """Bytes."""
    sha256: bytes


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """One item's readable content, independent of where it lies and what it is called."""

    markdown: str
    blocks: tuple[Block, ...]
    title: str | None = None
    """The title the content itself gives (first H1, <title>, document properties); None where it gives none."""
    page_count: int | None = None
    language: str | None = None
    """ISO 639-1 code, None where it is not known well enough."""
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()
    """In their order; each becomes a document of its own where its type is read."""
    nothing_to_read: str | None = None
    """Why there is no text in it although nothing is wrong; None: it simply holds none."""

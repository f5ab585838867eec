"""Texts of several parts joined to one document, with the blocks of each at its place."""

from collections.abc import Iterable
from dataclasses import replace

from sourcebook.model.document import Block, BlockKind
from sourcebook.parsing.text.markdown import markdown_blocks
from sourcebook.parsing.text.titles import plain_title

_SEPARATOR = "\n\n"


class JoinedBlocks:
    """Markdown that grows part by part; each part has its own blocks, so that none changes how the next one reads."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._texts: list[str] = []
        self._length = 0

    def add(self, text: str, kind: BlockKind) -> None:
        """Add a part that is one block, without the white space around it."""
        if text := text.strip():
            self._add(text, [Block(kind, self._length, self._length + len(text))])

    def add_heading(self, text: str, level: int) -> None:
        """Add a heading of level 1 to 6 from its Markdown without number signs; a blank text adds nothing."""
        line = " ".join(text.split())
        if line:
            written = f"{'#' * level} {line}"
            self.add_blocks(written, [Block("heading", 0, len(written), level=level, title=plain_title(line))])

    def add_blocks(self, text: str, blocks: Iterable[Block]) -> None:
        """Add a part with the blocks in it; a part of white space only adds nothing."""
        if text.strip():
            start = self._length
            self._add(text, [replace(block, start=start + block.start, end=start + block.end) for block in blocks])

    def add_markdown(self, text: str) -> None:
        """Add a part in Markdown."""
        text = text.strip("\n").rstrip()
        self.add_blocks(text, markdown_blocks(text))

    def _add(self, text: str, blocks: Iterable[Block]) -> None:
        self.blocks += blocks
        self._texts.append(text)
        self._length += len(text) + len(_SEPARATOR)

    def markdown(self) -> str:
        """Return the parts, separated by blank lines."""
        text = _SEPARATOR.join(self._texts)
        return f"{text}\n" if text else ""

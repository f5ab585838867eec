"""Parsed documents with placeholders in the place of personal data and secrets, as a collection may store them."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from sourcebook.model.document import Block, ParsedDocument
from sourcebook.redaction.documents import DocumentRedaction
from sourcebook.redaction.finds import Find
from sourcebook.redaction.redactor import RedactionMemory, Redactor


def redacted_document(document: ParsedDocument, redactor: Redactor) -> ParsedDocument:
    """Return a parsed document with placeholders in its text, blocks, title and metadata.

    A find that reaches over several blocks becomes a part of the first of them. Names of attachments stay: requests
    name documents by them.

    Args:
        document: the document as its parser made it.
        redactor: what is replaced.
    """
    memory = RedactionMemory()
    redaction = DocumentRedaction(redactor, redactor.redact(document.markdown, memory), memory)
    return replace(
        document,
        markdown=redaction.redacted.text,
        blocks=_moved(document.blocks, redaction),
        title=document.title and redaction.words(document.title),
        metadata=redaction.values(dict(document.metadata)),
        nothing_to_read=document.nothing_to_read and redaction.words(document.nothing_to_read),
    )


def _moved(blocks: Sequence[Block], redaction: DocumentRedaction) -> tuple[Block, ...]:
    """Return blocks at their places in the redacted text, without those that a find has swallowed whole."""
    places = _Places(redaction.redacted.finds)
    moved: list[Block] = []
    last = 0
    for block in blocks:
        start, end = max(places.start(block.start), last), places.end(block.end)
        if start >= end:
            continue
        last = end
        title = block.title and redaction.words(block.title)
        is_same = title == block.title and (not block.anchor or redaction.words(block.anchor) == block.anchor)
        # Without an anchor of its own, a heading has the one that is made of its title.
        moved.append(replace(block, start=start, end=end, title=title, anchor=block.anchor if is_same else None))
    return tuple(moved)


class _Places:
    """Places in a redacted text by places in the original text; finds are in reading order, without overlaps."""

    def __init__(self, finds: Sequence[Find]) -> None:
        self._finds = finds
        self._starts = [find.start for find in finds]
        self._shifts = [0]
        for find in finds:
            self._shifts.append(self._shifts[-1] + len(find.placeholder) - (find.end - find.start))

    def start(self, offset: int) -> int:
        """Return the place of a beginning; within a find, the start of its placeholder."""
        return self._place(offset, at_end=False)

    def end(self, offset: int) -> int:
        """Return the place of an end; within a find, the end of its placeholder."""
        return self._place(offset, at_end=True)

    def _place(self, offset: int, *, at_end: bool) -> int:
        before = bisect_right(self._starts, offset - 1 if at_end else offset)
        if before == 0:
            return offset
        find = self._finds[before - 1]
        if offset >= find.end:
            return offset + self._shifts[before]
        return find.end + self._shifts[before] if at_end else find.start + self._shifts[before - 1]

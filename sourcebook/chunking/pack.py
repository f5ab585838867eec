"""Packing of whole blocks and of speech into passages, and cutting of blocks that are too long."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sourcebook.chunking.chunk import Chunk
from sourcebook.chunking.cut_points import best_cut, piece_end
from sourcebook.chunking.repeated_context import RepeatedContexts
from sourcebook.chunking.tokenizer import TokenIndex
from sourcebook.model.document import Block
from sourcebook.parsing.transcript import ends_sentence

Span = tuple[int, int]


def pack(
    text: str, blocks: Sequence[Block], index: TokenIndex, repeated: RepeatedContexts, *, budget: int, first: int
) -> Iterator[Span]:
    """Yield spans that cover the blocks in order, each of at most `budget` tokens with its repeated context.

    A heading stays with the beginning of the next block, and a lead-in with its list, table or code block, even where
    the block is cut for it. Headings at the end stay with the end of the block before.

    Args:
        text: the Markdown of the document.
        blocks: the blocks of one group of sections.
        index: the tokens of the document.
        repeated: the repeated contexts of the document.
        budget: maximum tokens of a span.
        first: maximum tokens of the first span.
    """
    return _Packer(text, index, repeated, budget, first, blocks[0].start).run(blocks)


class _Packer:
    def __init__(
        self, text: str, index: TokenIndex, repeated: RepeatedContexts, budget: int, first: int, begin: int
    ) -> None:
        self._text = text
        self._index = index
        self._repeated = repeated
        self._budget = budget
        self._first = first
        self._begin = begin

    def run(self, blocks: Sequence[Block]) -> Iterator[Span]:
        blocks, content_end = _with_headings_at_the_end(blocks)
        start = attached = blocks[0].start
        before: Block | None = None
        for block in blocks:
            attached = max(start, self._attached(before, block, attached))
            if not self._fits(start, block.end):
                if start < attached:
                    yield start, attached
                    start = attached
                if block.kind == "heading" and start < block.start and not self._fits(start, block.end):
                    yield start, block.start  # the headings alone fill a passage
                    start = attached = block.start
            begin = block.start
            while not self._fits(start, block.end):
                cut = self._cut(block, start, begin, content_end if block is blocks[-1] else block.end)
                if start < begin < cut and before is not None and before.kind != "heading":
                    cut = begin if piece_end(self._text, block.kind, begin, cut) > cut else cut
                yield start, cut
                start = begin = attached = cut
            before = block
        yield start, blocks[-1].end

    def _fits(self, start: int, end: int) -> bool:
        return self._index.size(start, end) <= self._room(start)

    def _room(self, start: int) -> int:
        budget = self._first if start == self._begin else self._budget
        return max(1, budget - self._repeated.tokens(start))

    def _attached(self, before: Block | None, block: Block, above: int) -> int:
        """Return the start of the text that must stay in the same chunk as the block.

        Args:
            before: the block before, None for the first one.
            block: the block.
            above: the result for the block before.
        """
        if before is None or before.kind == "heading":
            return above
        introduction = self._repeated.lead_in(before, block)
        if introduction is None or (block.kind == "code" and self._only_alone(introduction, block)):
            return block.start
        return above if introduction == before.start else introduction

    def _only_alone(self, introduction: int, block: Block) -> bool:
        return self._fits(block.start, block.end) and not self._fits(introduction, block.end)

    def _cut(self, block: Block, start: int, begin: int, content_end: int) -> int:
        """Return the cut point of a block.

        Args:
            block: the block, too long for the passage.
            start: the start of the passage, with the text attached to the block.
            begin: the start of the block's remaining text.
            content_end: the end of the block without the headings that end the document.
        """
        room = self._room(start)
        most = self._index.reach(start, room)
        limit = self._index.reach(start, _target(self._index.size(start, block.end), room))
        if limit <= begin:
            limit = most
        if max(start, begin) + 1 < content_end <= limit and self._fits(content_end, block.end):
            limit = most = content_end - 1  # some content stays with the headings at the end
        after = begin if begin < limit else start
        return best_cut(self._text, block.kind, after, limit, most)


def _target(size: int, room: int) -> int:
    """Return the tokens of the next passage; the last two passages share the rest about evenly."""
    return room if size > 2 * room else min(room, size * 3 // 5 + 1)


def _with_headings_at_the_end(blocks: Sequence[Block]) -> tuple[Sequence[Block], int]:
    """Return the blocks with the headings at the end joined to the last one, and the end of that block's content."""
    count = len(blocks)
    while count > 1 and blocks[count - 1].kind == "heading":
        count -= 1
    content = blocks[count - 1]
    if count == len(blocks) or content.kind == "heading":
        return blocks, blocks[-1].end
    return [*blocks[: count - 1], replace(content, end=blocks[-1].end)], content.end


def pack_speech(text: str, blocks: Sequence[Block], index: TokenIndex, *, budget: int) -> Iterator[Span]:
    """Yield spans of at most `budget` tokens that cover the segments in order.

    A span ends at the longest pause among the segment boundaries that fill it at least by half. Only a segment that is
    too long for one span is cut inside, at a sentence or a word.
    """
    start, first, end = blocks[0].start, 0, blocks[-1].end
    while (rest := index.size(start, end)) > budget:
        # The last two spans share the rest about evenly.
        room = budget if rest > 2 * budget else min(budget, rest * 3 // 5 + 1)
        following = _next(text, blocks, first, start, index, room)
        if following is None and room < budget:
            following = _next(text, blocks, first, start, index, budget)
        if following is None:
            cut = best_cut(text, "speech", start, index.reach(start, room))
        else:
            first, cut = following, blocks[following].start
        yield start, cut
        start = cut
    yield start, end


def nearest_segment(starts: Sequence[int], start: int, end: int, position: int) -> int | None:
    """Return the segment start within a span that is nearest to a position; None within a single segment."""
    inside = starts[bisect_right(starts, start) : bisect_left(starts, end)]
    return min(inside, key=lambda found: abs(found - position), default=None)


def with_times(chunks: Sequence[Chunk], blocks: Sequence[Block]) -> list[Chunk]:
    """Return passages with their times, in seconds: each ends when the next one begins, the last with its segment."""
    begin = [block.start for block in blocks]
    starts = [_seconds_at(chunk.start_char, blocks[bisect_right(begin, chunk.start_char) - 1]) for chunk in chunks]
    ends = [*starts[1:], _times(blocks[-1])[1]]
    return [
        replace(chunk, start_seconds=start, end_seconds=end)
        for chunk, start, end in zip(chunks, starts, ends, strict=True)
    ]


def _next(text: str, blocks: Sequence[Block], first: int, start: int, index: TokenIndex, room: int) -> int | None:
    """Return the first segment of the next span; None where the rest of segment `first` does not fit this span.

    Where no boundary fills the span by half, the last one that fits is taken. Pauses count in tenths of a second; among
    equal pauses the end of a sentence wins, then the later boundary.
    """
    best, best_rank = None, (-1.0, False)
    for number in range(first + 1, len(blocks)):
        before, after = blocks[number - 1], blocks[number]
        if before.kind == "heading":  # of a chapter, which stays with what is said in it
            continue
        size = index.size(start, before.end)
        if size > room:
            break
        half_full = 2 * size >= room
        pause = max(0.0, round(_times(after)[0] - _times(before)[1], 1))
        rank = (pause, ends_sentence(text, before.end)) if half_full else (-1.0, False)
        if rank >= best_rank:
            best, best_rank = number, rank
    return best


def _seconds_at(position: int, block: Block) -> float:
    start, end = _times(block)
    return start + (end - start) * ((position - block.start) / (block.end - block.start))


def _times(block: Block) -> tuple[float, float]:
    return block.start_seconds or 0.0, block.end_seconds or 0.0

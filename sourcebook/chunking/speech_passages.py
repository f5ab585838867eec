"""Passages of speech: cut at segment boundaries, preferably at pauses, with their times."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sourcebook.chunking.chunk import Chunk
from sourcebook.chunking.cut_points import best_cut
from sourcebook.chunking.pack import Span
from sourcebook.chunking.token_index import TokenIndex
from sourcebook.model.document import Block
from sourcebook.parsing.transcript import ends_sentence


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

"""Fill passages with whole blocks, and cut the blocks that are too long for one."""

from collections.abc import Iterable, Iterator

from sourcebook.chunking.cut import best_cut
from sourcebook.chunking.token_index import TokenIndex
from sourcebook.parsing.types import Block

Span = tuple[int, int]


def pack(text: str, blocks: Iterable[Block], index: TokenIndex, *, budget: int) -> Iterator[Span]:
    """Yield spans of at most `budget` tokens that cover the blocks in order.

    A heading stays with the beginning of what follows it, even where that block is cut for it.
    """
    start = end = -1
    content = False  # whether anything but headings lies in the open span
    for block in blocks:
        if start >= 0 and index.size(start, block.end) > budget and (content or block.kind == "heading"):
            yield start, end
            start = -1
        if start < 0:
            start, content = block.start, False
        begin = block.start
        while index.size(start, block.end) > budget:
            limit = index.reach(start, _target(index.size(start, block.end), budget))
            cut = best_cut(text, block.kind, begin if begin < limit else start, limit)
            yield start, cut
            start = begin = cut
        end = block.end
        content = content or block.kind != "heading"
    if start >= 0:
        yield start, end


def _target(size: int, budget: int) -> int:
    """Cut the last two passages about evenly: a full one and a crumb would read badly."""
    return budget if size > 2 * budget else min(budget, size * 3 // 5 + 1)

"""Blocks as the database keeps them."""

from collections.abc import Iterable, Sequence
from typing import Any

from sourcebook.parsing.types import Block


def block_rows(blocks: Iterable[Block]) -> list[list[Any]]:
    """Return blocks as compact rows; the anchor is there only where a page gave it, times only of speech."""
    return [
        [block.kind, block.start, block.end, block.level, block.title, block.page, *_optional(block)]
        for block in blocks
    ]


def blocks_of(rows: Iterable[Sequence[Any]]) -> tuple[Block, ...]:
    """Return the blocks that rows keep."""
    return tuple(Block(*row) for row in rows)


def _optional(block: Block) -> list[Any]:
    if block.start_seconds is not None:
        return [block.anchor, block.start_seconds, block.end_seconds]
    return [] if block.anchor is None else [block.anchor]

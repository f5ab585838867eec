"""Blocks as compact rows, the form in which the database stores them."""

from collections.abc import Iterable, Sequence
from typing import Any

from sourcebook.model.document import Block

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

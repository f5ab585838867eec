"""Names of the definitions of code, or keys of data, that enclose a passage."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from sourcebook.chunking.sections import Heading
from sourcebook.model.document import Block

_NAMED = frozenset({"code", "data"})
_BELOW_HEADINGS = 7
"""Heading level of names: below the six levels of Markdown."""


class Definitions:
    """Titles of code and data as headings: a method `Parser.read` has the headings `Parser` and `read`."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks if any(block.title and block.kind in _NAMED for block in blocks) else ()
        self._starts = [block.start for block in self._blocks]

    def around(self, start: int, end: int) -> tuple[Heading, ...]:
        """Return the names that enclose a whole span, outermost first.

        The name of the definition that the span begins with is placed at its start: the text itself contains it.
        """
        number = max(0, bisect_right(self._starts, start) - 1)
        shared: Sequence[str] | None = None
        for block in self._blocks[number:]:
            if block.start >= end:
                break
            shared = _shared(shared, _names(block))
            if not shared:
                return ()
        if shared is None:
            return ()
        first = self._blocks[number]
        inner = len(_names(first)) - 1
        return tuple(
            Heading(name, _BELOW_HEADINGS, first.start if depth == inner else first.start - 1, first.end)
            for depth, name in enumerate(shared)
        )


def longest_names(blocks: Iterable[Block]) -> tuple[Heading, ...]:
    """Return the names of the block with the longest title, as headings at position 0."""
    longest = max((block for block in blocks if block.kind in _NAMED), key=lambda block: len(block.title), default=None)
    return tuple(Heading(name, _BELOW_HEADINGS, 0, 0) for name in _names(longest)) if longest else ()


def _names(block: Block) -> Sequence[str]:
    if not block.title or block.kind not in _NAMED:
        return ()
    return block.title.split(".") if block.kind == "code" else (block.title,)


def _shared(before: Sequence[str] | None, names: Sequence[str]) -> Sequence[str]:
    if before is None:
        return names
    count = 0
    while count < min(len(before), len(names)) and before[count] == names[count]:
        count += 1
    return before[:count]

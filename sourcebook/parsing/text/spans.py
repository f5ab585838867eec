"""Spans of blocks, which together leave out only white space."""

from collections.abc import Iterable, Iterator

from sourcebook.model.document import Block


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span `text[start:end]` without the white space at both of its ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def cover(text: str, blocks: Iterable[Block], *, start: int, end: int) -> Iterator[Block]:
    """Yield the blocks of `text[start:end]`, and a paragraph for each gap that holds more than white space."""
    reached = start
    for block in blocks:
        yield from _gap(text, reached, block.start)
        yield block
        reached = block.end
    yield from _gap(text, reached, end)


def with_lines(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks of a file's own text with the line of each as its anchor."""
    start, line = 0, 1
    for block in blocks:
        line += text.count("\n", start, block.start)
        start = block.start
        yield Block(block.kind, start, block.end, title=block.title, anchor=f"L{line}")


def _gap(text: str, start: int, end: int) -> Iterator[Block]:
    start, end = trimmed(text, start, end)
    if start < end:
        yield Block(kind="paragraph", start=start, end=end)

"""Parts of a passage with places of their own."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sourcebook.chunking.sections import Definitions, Group, Lines, Section
from sourcebook.model.document import Block
from sourcebook.model.passage_part import PassagePart


def passage_parts(
    touched: Group, start: int, end: int, *, repeated: int, definitions: Definitions, lines: Lines
) -> tuple[PassagePart, ...]:
    """Return the parts of a passage in reading order; nothing where it has one part alone.

    Args:
        touched: the sections that the passage overlaps.
        start: position of its first character in the document.
        end: position after its last character.
        repeated: characters of its repeated context, which belong to the first part.
        definitions: names of the definitions and keys of the document.
        lines: lines of the document, where it is a text file.
    """
    parts: list[PassagePart] = []
    spans: list[tuple[int, int]] = []
    for section in touched:
        for block in _within(section.blocks, start, end):
            place = max(start, block.start)
            part = _part(
                section, block, place, min(end, block.end), repeated + place - start if parts else 0, definitions
            )
            begin, stop = place, min(end, block.end)
            if not parts or part != replace(parts[-1], start=part.start):
                parts.append(part)
            else:
                begin = spans.pop()[0]
            spans.append((begin, stop))
    if len(parts) < 2:
        return ()
    return tuple(
        replace(part, anchor=lines.anchor(*span) or part.anchor) for part, span in zip(parts, spans, strict=True)
    )


def _within(blocks: Sequence[Block], start: int, end: int) -> Iterator[Block]:
    first = max(0, bisect_right(blocks, start, key=lambda block: block.end))
    for block in blocks[first:]:
        if block.start >= end:
            break
        yield block


def _part(section: Section, block: Block, start: int, end: int, place: int, definitions: Definitions) -> PassagePart:
    names = definitions.around(start, end)
    return PassagePart(
        place,
        tuple(heading.title for heading in (*section.path, *names) if heading.title),
        section.anchor,
        block.page,
        block.start_seconds,
        block.end_seconds,
    )

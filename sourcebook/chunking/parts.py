"""Parts of passages: a new one begins with each section, page and segment of speech that a passage takes in."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sourcebook.chunking.definitions import Definitions
from sourcebook.chunking.groups import Group
from sourcebook.chunking.sections import Section
from sourcebook.model.document import Block
from sourcebook.model.passage_part import PassagePart


def passage_parts(
    touched: Group, start: int, end: int, *, repeated: int, definitions: Definitions
) -> tuple[PassagePart, ...]:
    """Return the parts of a passage in reading order; nothing where it has one part alone.

    Args:
        touched: the sections that the passage overlaps.
        start: position of its first character in the document.
        end: position after its last character.
        repeated: characters of its repeated context, which belong to the first part.
        definitions: names of the definitions and keys of the document.
    """
    parts: list[PassagePart] = []
    for section in touched:
        for block in _within(section.blocks, start, end):
            place = max(start, block.start)
            part = _part(
                section, block, place, min(end, block.end), repeated + place - start if parts else 0, definitions
            )
            if not parts or part != replace(parts[-1], start=part.start):
                parts.append(part)
    return tuple(parts) if len(parts) > 1 else ()


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

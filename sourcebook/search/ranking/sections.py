"""Sections of a passage, and the headings that they begin with."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from sourcebook.model.passage_part import PassagePart

Section = tuple[int, int, list[PassagePart]]
"""Start and end in the text, in characters, and the parts with the same headings."""


def sections_of(parts: Sequence[PassagePart], length: int) -> Iterator[Section]:
    """Yield the sections of a passage.

    Args:
        parts: its parts in reading order.
        length: characters of its text.
    """
    found = [list(members) for _, members in groupby(parts, key=lambda part: (part.heading_path, part.anchor))]
    ends = [members[0].start for members in found[1:]]
    for members, end in zip(found, [*ends, length], strict=True):
        yield members[0].start, end, members


def heading_end(text: str, section: Section) -> int:
    """Return the end of the line with the section's own heading; its start where it continues another passage."""
    begin, stop, members = section
    title = members[0].heading_path[-1] if members[0].heading_path else ""
    line_end = text.find("\n", begin, stop)
    end = line_end if line_end >= 0 else stop
    return end if title and _letters(title) in _letters(text[begin:end]) else begin


def _letters(text: str) -> str:
    """Return the letters and digits: a title has none of the signs that emphasise or escape its words in Markdown."""
    return "".join(filter(str.isalnum, text))

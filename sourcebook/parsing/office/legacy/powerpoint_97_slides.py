"""Slides of PowerPoint 97 to 2003: the number of the slide of each block, which anydoc does not tell."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from sourcebook.model.document import Block
from sourcebook.parsing.office.legacy.word_pieces import letters_of, word_streams

_DOCUMENT, _LIST, _PLACE = 1000, 4080, 1011
"""Kinds of records: the document, its list of slides, and the number of a slide's record in the list."""
_WIDE, _NARROW = 4000, 4008
"""Texts of 16 and of 8 bits a character."""
_MOST_EDITS: Final = 10_000
_DEEPEST: Final = 20


def with_slides(content: bytes, markdown: str, blocks: Sequence[Block]) -> tuple[tuple[Block, ...], int | None]:
    """Return the blocks with the numbers of their slides, and the number of slides; None where they are not known.

    A block is on the slide before it, or on the next one with its words; the title of a slide begins one.
    """
    try:
        slides = [letters_of(text) for text in _slides(content)]
    except (struct.error, LookupError, StopIteration):  # of a damaged file
        slides = []
    numbered: list[Block] = []
    at, has_title = 0, False
    for block in blocks if slides else ():
        words = letters_of(markdown[block.start : block.end])
        begins = block.kind == "heading" and has_title
        if block.kind != "quote" and (begins or words not in slides[at]):
            following = next((each for each in range(at + 1, len(slides)) if words in slides[each]), at)
            has_title = has_title and following == at
            at = following
        has_title = has_title or block.kind == "heading"
        numbered.append(replace(block, page=at + 1))
    return (tuple(numbered), len(slides)) if slides else (tuple(blocks), None)


def _slides(content: bytes) -> list[str]:
    """Return the texts of each slide, in their order."""
    user, stream = word_streams(content, "Current User", "PowerPoint Document")
    places = _places(stream, struct.unpack_from("<I", user, 16)[0])
    document = next(at for at in places.values() if struct.unpack_from("<H", stream, at + 2)[0] == _DOCUMENT)
    found: list[str] = []
    for kind, instance, start, end in _records(stream, document + 8, document + 8 + _size(stream, document)):
        for each, _, begin, stop in _records(stream, start, end) if kind == _LIST and instance == 0 else ():
            if each == _PLACE:
                at = places[struct.unpack_from("<I", stream, begin)[0]]
                found.append(" ".join(_texts(stream, at + 8, at + 8 + _size(stream, at))))
            elif found:
                found[-1] += f" {_text(stream, each, begin, stop)}"
    return found


def _places(stream: bytes, edit: int) -> dict[int, int]:
    """Return the places of the records by their numbers, as the last edit that wrote each says."""
    places: dict[int, int] = {}
    for _ in range(_MOST_EDITS):
        before, directory = struct.unpack_from("<8xII", stream, edit + 8)
        at, end = directory + 8, directory + 8 + _size(stream, directory)
        while at + 4 <= end:
            (entry,) = struct.unpack_from("<I", stream, at)
            first, count = entry & 0xFFFFF, entry >> 20
            for number, place in enumerate(struct.unpack_from(f"<{count}I", stream, at + 4)):
                places.setdefault(first + number, place)
            at += 4 + 4 * count
        if not before:
            break
        edit = before
    return places


def _size(stream: bytes, at: int) -> int:
    return int(struct.unpack_from("<I", stream, at + 4)[0])


def _records(stream: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield kind, instance, beginning and end of the content of each record."""
    while at + 8 <= min(end, len(stream)):
        version, kind, size = struct.unpack_from("<HHI", stream, at)
        yield kind, version >> 4, at + 8, min(at + 8 + size, end)
        at += 8 + size


def _texts(stream: bytes, at: int, end: int, depth: int = 0) -> Iterator[str]:
    for kind, _, begin, stop in _records(stream, at, end):
        if kind in {_WIDE, _NARROW}:
            yield _text(stream, kind, begin, stop)
        elif stream[begin - 8] & 15 == 15 and depth < _DEEPEST:
            yield from _texts(stream, begin, stop, depth + 1)


def _text(stream: bytes, kind: int, begin: int, stop: int) -> str:
    if kind not in {_WIDE, _NARROW}:
        return ""
    return stream[begin:stop].decode("utf-16-le" if kind == _WIDE else "latin-1", "replace")

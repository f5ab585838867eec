"""Pictures on pages that have text: each is marked where it stands, so that its text is read or it is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from math import sqrt

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import Block, Box
from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.ocr.recognise import MOST_PIXELS
from sourcebook.parsing.pdf.words import Word
from sourcebook.parsing.text.picture_marks import (
    FEW_CHARACTERS,
    MOST_PIXELS_BESIDE,
    PIXELS_A_CHARACTER,
    are_marked,
    picture_mark,
)

_LEAST_SIDE = 0.05
"""Shorter side of a picture with readable words, as a share of the page's shorter side; smaller ones are signs."""
_LEAST_AREA = 0.01
"""Share of the page that such a picture covers."""
_MOST_PICTURES = 200
"""Pictures of a page above which it is a drawing made of pieces."""
_FEW_LETTERS = 10
"""Letters of the page's own text over a picture from which that has its words in them, or is a ground."""
_PIXELS_A_POINT = 2.1
"""Resolution in which pictures are read: 150 pixels per inch."""
_REPEATED = 3
"""Pages with a picture at one place from which it is a part of their form, such as a logo."""
_TOUCH = 0.005
"""Distance of two pieces of one picture, as a share of the page's longer side."""


def bare_pictures(words: Sequence[Word], page: DecodedPage) -> tuple[Box, ...]:
    """Return the boxes of the pictures of a page, pieces together, that none of its own words are over."""
    if not page.pictures or len(page.pictures) > _MOST_PICTURES:
        return ()
    shorter = min(page.width, page.height)
    boxes = [
        (left, top, right, bottom)
        for left, top, right, bottom in _together(page)
        if min(right - left, bottom - top) >= _LEAST_SIDE * shorter
        and (right - left) * (bottom - top) >= _LEAST_AREA * page.width * page.height
    ]
    return tuple(box for box in boxes if _letters_over(box, words) < _FEW_LETTERS)


def _together(page: DecodedPage) -> list[Box]:
    near = _TOUCH * max(page.width, page.height)
    found: list[Box] = []
    for left, top, right, bottom in page.pictures:
        box = max(left, 0.0), max(top, 0.0), min(right, page.width), min(bottom, page.height)
        while touching := next((one for one in found if _touch(one, box, near)), None):
            found.remove(touching)
            box = (
                min(box[0], touching[0]),
                min(box[1], touching[1]),
                max(box[2], touching[2]),
                max(box[3], touching[3]),
            )
        found.append(box)
    return found


def _touch(one: Box, other: Box, near: float) -> bool:
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across > -near and down > -near


def _letters_over(box: Box, words: Sequence[Word]) -> int:
    left, top, right, bottom = box
    return sum(len(one.text) for one in words if left < one.centre < right and top < one.middle < bottom)


def with_picture_marks(
    markdown: str,
    blocks: Sequence[Block],
    pictures: Mapping[int, Sequence[Box]],
    content: bytes,
    settings: ParsingSettings,
) -> tuple[str, tuple[Block, ...]]:
    """Return a document's Markdown and blocks with a mark for each picture of its pages, below what is above it.

    Args:
        markdown: the document's text.
        blocks: its blocks, with boxes in points.
        pictures: boxes of the pictures by the number of their page.
        content: the whole file.
        settings: `ocr` and `pictures` say which pictures are read.
    """
    marks = list(_marks(markdown, blocks, pictures, content, settings)) if are_marked() else []
    if not marks:
        return markdown, tuple(blocks)
    pieces: list[str] = []
    result: list[Block] = []
    length = end = 0
    for index, block in enumerate([*blocks, None]):
        for page, box, mark in marks:
            if index == _place(blocks, page, box):
                gap = "\n\n" if length else ""
                result.append(Block("paragraph", length + len(gap), length + len(gap) + len(mark), page=page, box=box))
                pieces += (gap, mark)
                length += len(gap) + len(mark)
        if block is None:
            break
        gap = markdown[end : block.start] or ("\n\n" if length else "")
        text = markdown[block.start : block.end]
        start = length + len(gap)
        result.append(replace(block, start=start, end=start + len(text)))
        pieces += (gap, text)
        length, end = length + len(gap) + len(text), block.end
    return "".join((*pieces, markdown[end:])), tuple(result)


def _place(blocks: Sequence[Block], page: int, box: Box) -> int:
    """Return the index of the block that a picture stands before."""
    place = 0
    for index, block in enumerate(blocks):
        number = block.page or 0
        above = block.box is not None and block.box[1] < box[1]
        if number < page or (number == page and above):
            place = index + 1
    return place


def _marks(
    markdown: str,
    blocks: Sequence[Block],
    pictures: Mapping[int, Sequence[Box]],
    content: bytes,
    settings: ParsingSettings,
) -> Iterator[tuple[int, Box, str]]:
    """Yield page, box and mark of each picture; those that would not be read in any case are not rendered."""
    places = Counter(tuple(round(edge) for edge in box) for boxes in pictures.values() for box in boxes)
    single = [
        (page, box)
        for page, boxes in pictures.items()
        for box in boxes
        if places[tuple(round(edge) for edge in box)] < _REPEATED
    ]
    if not single:
        return
    letters = Counter[int]()
    for block in blocks:
        letters[block.page or 0] += block.end - block.start
    beside, alone = len(markdown) * PIXELS_A_CHARACTER, MOST_PIXELS_BESIDE
    for page, box in single:
        pixels = round(_scale(box) ** 2 * (box[2] - box[0]) * (box[3] - box[1]))
        is_alone = letters[page] < FEW_CHARACTERS * len(pictures[page]) and pixels <= alone
        wanted = settings.pictures == "all" or is_alone or pixels <= beside
        if not settings.ocr or settings.pictures == "none" or not wanted:
            yield page, box, picture_mark(None)
            continue
        alone, beside = (alone - pixels, beside) if is_alone else (alone, beside - pixels)
        yield page, box, picture_mark(_rendered(content, page, box))


def _scale(box: Box) -> float:
    """Return the pixels per point in which a picture is read."""
    return min(_PIXELS_A_POINT, sqrt(MOST_PIXELS / max(1.0, (box[2] - box[0]) * (box[3] - box[1]))))


def _rendered(content: bytes, number: int, box: Box) -> bytes | None:
    """Return a part of a page as PNG, as a viewer shows it; None where it is too damaged."""
    from pypdfium2 import PdfDocument, PdfiumError  # type: ignore[import-untyped] # has no stubs

    with suppress(PdfiumError, ValueError, IndexError), PdfDocument(content) as document:
        scale = _scale(box)
        shown = document[number - 1].render(scale=scale).to_pil().convert("RGB")
        file = BytesIO()
        shown.crop(tuple(round(edge * scale) for edge in box)).save(file, "PNG", compress_level=1)
        return file.getvalue()
    return None

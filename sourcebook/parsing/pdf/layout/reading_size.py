"""Pages whose text is far smaller or larger than print, in the size for which the layout's distances hold."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from sourcebook.model.document import Block, Box
from sourcebook.parsing.pdf.layout.page_parts import Field, Line, Page, Remark, Rule

_PRINT = (4.0, 30.0)
"""Usual font sizes of documents in which the layout's distances, given in points, hold."""
_USUAL = 10.0
"""Font size to which the text of other documents is brought, in points."""


Placed = TypeVar("Placed", Rule, Field, Remark)


class _Sized(Protocol):
    text: str
    size: float


def reading_unit(parts: Sequence[_Sized]) -> float:
    """Return the points that stand for one of a document in print: 1, but for text far smaller or larger."""
    sizes = sorted((part.size, len(part.text)) for part in parts)
    half = sum(letters for _, letters in sizes) / 2
    for size, letters in sizes:
        half -= letters
        if half <= 0:
            return 1.0 if _PRINT[0] <= size <= _PRINT[1] else max(size, 1e-3) / _USUAL
    return 1.0


def at_reading_size(pages: Sequence[Page]) -> tuple[list[Page], float]:
    """Return the pages with the size of print, and the points that stand for one of it."""
    unit = reading_unit([line for page in pages for line in page.lines])
    return (list(pages), unit) if unit == 1 else ([_scaled(page, 1 / unit) for page in pages], unit)


def in_points(blocks: Sequence[Block], unit: float) -> tuple[Block, ...]:
    """Return the blocks of such pages with boxes in points."""
    if unit == 1:
        return tuple(blocks)
    return tuple(replace(block, box=_times(block.box, unit)) if block.box else block for block in blocks)


def _times(box: Box, unit: float) -> Box:
    left, top, right, bottom = box
    return left * unit, top * unit, right * unit, bottom * unit


def _scaled(page: Page, factor: float) -> Page:
    def line(one: Line) -> Line:
        left, right, top, bottom = (edge * factor for edge in (one.left, one.right, one.top, one.bottom))
        return replace(one, left=left, right=right, top=top, bottom=bottom, size=one.size * factor)

    def placed(one: Placed) -> Placed:
        left, top, right, bottom = _times((one.left, one.top, one.right, one.bottom), factor)
        return replace(one, left=left, top=top, right=right, bottom=bottom)

    return replace(
        page,
        width=page.width * factor,
        height=page.height * factor,
        lines=tuple(map(line, page.lines)),
        rules=tuple(map(placed, page.rules)),
        fields=tuple(map(placed, page.fields)),
        remarks=tuple(map(placed, page.remarks)),
    )

"""Choice between the text layer of a page and the OCR of its picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sourcebook.model.document import JsonValue
from sourcebook.parsing.pdf.layout.page_parts import Page
from sourcebook.parsing.pdf.text_pages import TextPage

_LEAST_RECOGNISED = 0.5
"""Letters read by OCR per letter of a damaged text layer, below which OCR does not know the script."""


@dataclass(frozen=True, slots=True)
class ReadablePages:
    """The pages that can be read, in order."""

    pages: Sequence[Page]
    by_text: frozenset[int]
    """Numbers of the pages whose text layer was taken."""
    metadata: Mapping[str, JsonValue]
    """Numbers of recognised pages with their confidence (0 to 1), of pages that lack letters, and of unread pages."""


def readable_pages(
    content: bytes, found: Sequence[TextPage], *, ocr: bool, languages: tuple[str, ...] = ()
) -> ReadablePages:
    """Return each page with its text layer, or with the OCR of its picture where that finds more.

    Args:
        content: the whole file.
        found: the pages of the file.
        ocr: whether OCR reads pages without a usable text layer.
        languages: tesseract's names of languages whose letters RapidOCR does not know.
    """
    chosen = {one.page.number: one.page for one in found if one.layer in ("usable", "damaged")}
    by_number = {one.page.number: one.page for one in found}
    damaged = {one.page.number for one in found if one.layer == "damaged"}
    wanting = [one.page.number for one in found if one.layer not in ("usable", "blank")]
    confidence: dict[str, JsonValue] = {}
    unread_lines: dict[str, JsonValue] = {}
    recognised: list[int] = []
    if ocr and wanting:
        from sourcebook.parsing.pdf.ocr.rendered_pages import recognise_pages

        for one in recognise_pages(content, wanting, languages):
            number = one.page.number
            own = chosen.get(number)
            if own is not None and _letters(one.page) < _LEAST_RECOGNISED * _letters(own):
                continue
            chosen[number] = _with_marks(one.page, by_number[number])
            damaged.discard(number)
            recognised.append(number)
            if one.recognised.confidence is not None:
                confidence[str(number)] = round(one.recognised.confidence, 3)
            if one.recognised.unread:
                unread_lines[str(number)] = one.recognised.unread
    unread = [number for number in wanting if number not in chosen]
    for number, page in by_number.items():  # somebody filled in a scan, or commented on it
        if number not in chosen and (page.fields or page.remarks):
            chosen[number] = replace(page, lines=())
    facts: dict[str, JsonValue] = {
        "recognised_pages": [*recognised],
        "recognition_confidence": confidence,
        "damaged_pages": [*sorted(damaged)],
        "unread_pages": [*unread],
        "unread_lines": unread_lines,
    }
    return ReadablePages(
        pages=[chosen[one.page.number] for one in found if one.page.number in chosen],
        by_text=frozenset(chosen).difference(recognised),
        metadata={name: fact for name, fact in facts.items() if fact},
    )


def _with_marks(page: Page, own: Page) -> Page:
    """Return a recognised page with its fields and comments, without the lines that show what is in the fields."""
    if not (own.fields or own.remarks):
        return page
    lines = [
        line
        for line in page.lines
        if not any(one.left <= line.centre <= one.right and one.top <= line.middle <= one.bottom for one in own.fields)
    ]
    return replace(page, lines=tuple(lines), fields=own.fields, remarks=own.remarks)


def _letters(page: Page) -> int:
    return sum(len(line.text) for line in page.lines)

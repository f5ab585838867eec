"""Group the lines of a PDF into paragraphs and headings."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sourcebook.parsing.pdf_lines import Line

_LIST_MARK = re.compile(r"(?:[•‣◦▪■●∞·–—*-]|\(?\d{1,3}[.)]|[a-z][.)])\s")
_SENTENCE_END = re.compile(r"""[.!?:;。！？]["'”’)\]]*$""")
_LONGEST_HEADING = 160
_DEEPEST_LEVEL = 4
_NEAREST_LINES = 40


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that belong together; level 1 to 6 for a heading, 0 otherwise."""

    lines: tuple[Line, ...]
    page: int
    level: int = 0

    @property
    def text(self) -> str:
        """The lines joined by spaces, words that were divided at a line's end made whole."""
        if all(line.monospaced for line in self.lines):
            return "\n".join(line.text for line in self.lines)
        text = self.lines[0].text
        for line in self.lines[1:]:
            divided = len(text) > 1 and text[-1] in "-\u00ad" and text[-2].isalpha() and line.text[:1].islower()
            text = text[:-1] + line.text if divided else f"{text} {line.text}"
        return text


def paragraphs(pages: Iterable[Sequence[Line]]) -> list[Paragraph]:
    """Return the paragraphs of all pages, with headings told by size and weight."""
    found = [paragraph for number, lines in enumerate(pages, start=1) for paragraph in _page(lines, number)]
    return _with_levels(found)


def _page(lines: Sequence[Line], number: int) -> Iterator[Paragraph]:
    current: list[Line] = []
    for line in lines:
        if current and _begins_paragraph(current, line):
            yield Paragraph(tuple(current), number)
            current = []
        current.append(line)
    if current:
        yield Paragraph(tuple(current), number)


def _begins_paragraph(current: Sequence[Line], line: Line) -> bool:
    last = current[-1]
    gap = line.top - last.bottom
    size = min(last.size, line.size)
    if gap > 0.85 * size or gap < -2 * size:  # white space, or a jump to the next column
        return True
    if abs(last.size - line.size) > 0.25 * max(last.size, line.size) or last.bold != line.bold:
        return True
    if _LIST_MARK.match(line.text):
        return True
    nearest = current[-_NEAREST_LINES:]
    ends_short = last.right < max(other.right for other in nearest) - 0.15 * max(other.width for other in nearest)
    return ends_short and _SENTENCE_END.search(last.text) is not None


def _with_levels(found: Sequence[Paragraph]) -> list[Paragraph]:
    letters = Counter[int]()
    for paragraph in found:
        for line in paragraph.lines:
            letters[round(line.size)] += len(line.text)
    if not letters:
        return []
    body = letters.most_common(1)[0][0]
    sizes = {round(paragraph.lines[0].size) for paragraph in found if _is_heading(paragraph, body)}
    larger = sorted((size for size in sizes if size > 1.15 * body), reverse=True)
    levels = {size: min(rank, _DEEPEST_LEVEL) for rank, size in enumerate(larger, start=1)}
    lowest = min(len(larger) + 1, _DEEPEST_LEVEL)
    return [
        Paragraph(paragraph.lines, paragraph.page, levels.get(round(paragraph.lines[0].size), lowest))
        if _is_heading(paragraph, body)
        else paragraph
        for paragraph in found
    ]


def _is_heading(paragraph: Paragraph, body: float) -> bool:
    if len(paragraph.lines) > 3 or sum(len(line.text) for line in paragraph.lines) > _LONGEST_HEADING:
        return False
    text = paragraph.text
    if not any(letter.isalpha() for letter in text) or ". . ." in text or _LIST_MARK.match(text[:2]):
        return False
    first = paragraph.lines[0]
    if first.monospaced:
        return False
    larger = round(first.size) > 1.15 * body
    bold = first.bold and round(first.size) >= 0.95 * body
    return (larger or bold) and not re.search(r"[.,;]$", text)

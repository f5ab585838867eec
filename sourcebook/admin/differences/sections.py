"""Sections of a document as they are compared: with their paragraphs, rows and lines, and the place of each."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Final

from sourcebook.chunking.sections import Lines, Section, sections
from sourcebook.contract.differences import Side
from sourcebook.model.document import Block
from sourcebook.model.passage_part import PassagePart
from sourcebook.model.place import address_of

_BY_LINE: Final = frozenset({"list", "table", "code", "data", "speech"})
"""Kinds of blocks whose lines are compared one by one."""
_RULE: Final = re.compile(r"[\s|:+=-]*")
"""A line of a table without content."""
_NUMBERING: Final = re.compile(
    r"^(?:(?:§+|article|artikel|art\.|section|abschnitt|clause|chapter|kapitel|schedule|annex|anlage|artículo|статья)\s*)?"
    r"(?:\d+(?:\.\d+)*|[ivxlc]+(?=[.)])|[a-z](?=[.)]))?[.):]?\s*[-–—:]?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Unit:
    """A paragraph, a row or a line."""

    text: str
    side: Side

    @property
    def key(self) -> str:
        """The text without regard to line ends and runs of spaces."""
        return " ".join(self.text.split())


@dataclass(frozen=True, slots=True)
class ComparedSection:
    """A section with its units, without its heading."""

    side: Side
    units: tuple[Unit, ...]

    @property
    def title(self) -> str:
        """Its heading; empty before the first one."""
        return self.side.heading_path[-1] if self.side.heading_path else ""

    @property
    def name(self) -> str:
        """Its heading without the number before it: an inserted section numbers the following ones again."""
        title = " ".join(self.title.split()).casefold()
        return _NUMBERING.sub("", title, count=1) or title

    @property
    def body(self) -> str:
        """Everything below the heading."""
        return "\n".join(unit.key for unit in self.units)


@dataclass(frozen=True)
class ReadDocument:
    """A document's text with its blocks, and how what leaves it is shown."""

    text: str
    blocks: Sequence[Block]
    address: str
    shown: Callable[[int, int], tuple[str, int, int]]
    """Text of a span as it is shown, and its start and end in the whole text as that is shown."""
    words: Callable[[str], str]
    """A heading as it is shown."""

    @cached_property
    def lines(self) -> Lines:
        """The lines of a text file, as anchors."""
        return Lines(self.text, self.blocks)

    def sections(self) -> list[ComparedSection]:
        """Return the sections in reading order; definitions are those of code."""
        if any(block.kind == "heading" for block in self.blocks) or not any(block.title for block in self.blocks):
            return [self._section(each) for each in sections(self.blocks)]
        named = groupby(self.blocks, key=lambda block: block.title)
        return [self._made(tuple(title.split(".")) if title else (), None, list(held)) for title, held in named]

    def _section(self, section: Section) -> ComparedSection:
        path = tuple(heading.title for heading in section.path)
        return self._made(path, section.anchor, section.blocks)

    def _made(self, path: tuple[str, ...], anchor: str | None, blocks: Sequence[Block]) -> ComparedSection:
        headings = tuple(map(self.words, path))
        own = anchor if headings == path else None  # a redacted heading has made it
        content = [block for block in blocks if block.kind != "heading"]
        units = [unit for block in content for unit in self._units(block, headings, own)]
        first, last = blocks[0], blocks[-1]
        side = self._side(headings, own, first, first.start, last.end, end_seconds=last.end_seconds)
        return ComparedSection(side, tuple(units))

    def _units(self, block: Block, headings: tuple[str, ...], anchor: str | None) -> Iterator[Unit]:
        spans = [(block.start, block.end)]
        if block.kind in _BY_LINE:
            spans = list(_lines(self.text, block.start, block.end))
        for start, end in spans:
            text = self.shown(start, end)[0]
            if text.strip() and not (block.kind == "table" and _RULE.fullmatch(text)):
                yield Unit(text.strip(), self._side(headings, anchor, block, start, end, end_seconds=block.end_seconds))

    def _side(
        self, path: tuple[str, ...], anchor: str | None, block: Block, start: int, end: int, end_seconds: float | None
    ) -> Side:
        anchor = self.lines.anchor(start, end) or anchor
        place = PassagePart(0, path, anchor, block.page, block.start_seconds, end_seconds)
        address = address_of(self.address, place)
        _, begin, stop = self.shown(start, end)
        return Side(path, anchor, block.page, block.start_seconds, end_seconds, begin, stop, address)


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for line in text[start:end].splitlines(keepends=True):
        if line.strip():
            yield start, start + len(line.rstrip())
        start += len(line)

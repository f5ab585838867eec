"""The sections of a document with their headings and anchors, the names and lines of code in them, their groups."""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import takewhile
from typing import TypeVar

from sourcebook.chunking.tokenizer import TokenIndex
from sourcebook.model.document import Block
from sourcebook.model.place import first_line, line_anchor

_DEEPEST_ANCHOR = 3
"""Level of the deepest headings whose anchors passages name."""
_KEPT_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
"""Unicode categories of the characters that GitHub keeps in anchors."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with its span in the text, in characters."""

    title: str
    level: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the blocks up to the next one; before the first heading, blocks alone."""

    path: tuple[Heading, ...]
    """The enclosing headings, outermost first, and the heading of the section last."""
    anchor: str | None
    """Anchor of the nearest heading above that has one, its own included; None before the first one."""
    blocks: tuple[Block, ...]

    @property
    def start(self) -> int:
        """Position of the first character."""
        return self.blocks[0].start

    @property
    def end(self) -> int:
        """Position after the last character."""
        return self.blocks[-1].end

    @property
    def has_heading(self) -> bool:
        """Whether the section begins with a heading."""
        return self.blocks[0].kind == "heading"

    @property
    def has_content(self) -> bool:
        """Whether the section has a block besides its heading."""
        return len(self.blocks) > 1 or not self.has_heading


def sections(blocks: Sequence[Block]) -> Iterator[Section]:
    """Yield the sections of a document in reading order."""
    slugger = Slugger()
    path: list[Heading] = []
    anchor: str | None = None
    members: list[Block] = []
    for block in blocks:
        if block.kind == "heading":
            if members:
                yield Section(tuple(path), anchor, tuple(members))
            while path and path[-1].level >= block.level:
                path.pop()
            path.append(Heading(block.title, block.level, block.start, block.end))
            anchor = _own_anchor(block, slugger) or anchor
            members = []
        members.append(block)
    if members:
        yield Section(tuple(path), anchor, tuple(members))


def _own_anchor(heading: Block, slugger: "Slugger") -> str:
    """Return the anchor that passages name for a heading, "" where it has none or is too deep."""
    if heading.anchor is not None:
        return heading.anchor
    anchor = slugger.unique(heading.title)  # deeper headings take part in the numbering
    return anchor if heading.level <= _DEEPEST_ANCHOR else ""


def slug(heading: str) -> str:
    """Return the anchor of a heading before it is made unique: lower case, no punctuation, spaces as hyphens.

    Source: the package github-slugger. Letters, marks, digits, connector punctuation (_), hyphens and spaces stay.
    """
    lowered = heading.lower()
    if lowered.isascii() and lowered.replace(" ", "").isalnum():
        return lowered.replace(" ", "-")
    kept = (letter for letter in lowered if letter in "- " or unicodedata.category(letter) in _KEPT_CATEGORIES)
    return "".join(kept).replace(" ", "-")


class Slugger:
    """Unique anchors of the headings of one document, as github.com makes them: `foo`, `foo-1`, `foo-2`."""

    def __init__(self) -> None:
        self._occurrences: dict[str, int] = {}

    def unique(self, heading: str) -> str:
        """Return the anchor of the next heading in reading order."""
        plain = candidate = slug(heading)
        while candidate in self._occurrences:
            self._occurrences[plain] += 1
            candidate = f"{plain}-{self._occurrences[plain]}"
        self._occurrences[candidate] = 0
        return candidate


Group = Sequence[Section]
_Item = TypeVar("_Item")
_NAMED = frozenset({"code", "data"})
_BELOW_HEADINGS = 7
"""Heading level of names: below the six levels of Markdown."""


class Definitions:
    """Titles of code and data as headings: a method `Parser.read` has the headings `Parser` and `read`."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks if any(block.title and block.kind in _NAMED for block in blocks) else ()
        self._starts = [block.start for block in self._blocks]

    def around(self, start: int, end: int) -> tuple[Heading, ...]:
        """Return the names that enclose a whole span, outermost first.

        The name of the definition that the span begins with is placed at its start: the text itself contains it.
        """
        number = max(0, bisect_right(self._starts, start) - 1)
        shared: tuple[str, ...] | None = None
        for block in self._blocks[number:]:
            if block.start >= end:
                break
            shared = _names(block) if shared is None else _shared(shared, _names(block))
            if not shared:
                return ()
        if shared is None:
            return ()
        first = self._blocks[number]
        inner = len(_names(first)) - 1
        return tuple(
            Heading(name, _BELOW_HEADINGS, first.start if depth == inner else first.start - 1, first.end)
            for depth, name in enumerate(shared)
        )


class Lines:
    """Lines of a text file as anchors: a passage from the tenth to the last of 42 lines has `L10-L42`."""

    def __init__(self, text: str, blocks: Sequence[Block]) -> None:
        self._text = text
        has_lines = first_line(blocks[0].anchor) is not None and all(block.kind != "heading" for block in blocks)
        self._blocks = blocks if has_lines else ()
        self._starts = [block.start for block in self._blocks]

    def anchor(self, start: int, end: int) -> str | None:
        """Return the anchor of a span of the text; None where the document is not a text file as it is."""
        return line_anchor(self._line(start), self._line(end - 1)) if self._blocks else None

    def _line(self, position: int) -> int:
        block = self._blocks[max(0, bisect_right(self._starts, position) - 1)]
        return (first_line(block.anchor) or 1) + self._text.count("\n", block.start, position)


def longest_names(blocks: Iterable[Block]) -> tuple[Heading, ...]:
    """Return the names of the block with the longest title, as headings at position 0."""
    longest = max((block for block in blocks if block.kind in _NAMED), key=lambda block: len(block.title), default=None)
    return tuple(Heading(name, _BELOW_HEADINGS, 0, 0) for name in _names(longest)) if longest else ()


def _names(block: Block) -> tuple[str, ...]:
    if not block.title or block.kind not in _NAMED:
        return ()
    return tuple(block.title.split(".")) if block.kind == "code" else (block.title,)


def _shared(path: tuple[_Item, ...], other: tuple[_Item, ...]) -> tuple[_Item, ...]:
    """Return the items that two paths begin with."""
    return tuple(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(path, other, strict=False)))


_TINY = 4
"""Divisor of the budget: a section below a quarter of it is joined with others."""


def groups(sections: Iterable[Section], index: TokenIndex, *, budget: int) -> Iterator[Group]:
    """Yield the sections that are packed together.

    - A heading without content joins the next section; where such headings fill half a passage, the section before.
    - Headings at the end of the document join the section before.
    - A slide with content joins no other slide: a passage names one page.
    - A tiny section joins the siblings or children that follow, as long as they fit one passage together.
    """
    whole: list[Section] = []  # yielded once another section with content follows
    whole_says = False
    for group in _joined(sections, index, budget):
        says = group[0].has_content or group[-1].has_content
        if whole_says and says:
            yield whole
            whole = []
        whole.extend(group)
        whole_says = whole_says or says
    if whole:
        yield whole


def common_path(group: Group) -> tuple[Heading, ...]:
    """Return the headings that enclose all content of a group."""
    paths = [section.path for section in group if section.has_content] or [section.path for section in group]
    return reduce(_shared, paths)


def _joined(sections: Iterable[Section], index: TokenIndex, budget: int) -> Iterator[Group]:
    group: list[Section] = []
    for section in sections:
        if group and not _joins(group, section, index, budget):
            yield group
            group = []
        group.append(section)
    if group:
        yield group


def _joins(group: Group, following: Section, index: TokenIndex, budget: int) -> bool:
    first = group[0]
    if _is_another_slide(group[-1], following) and any(section.has_content for section in group):
        return False
    if not group[-1].has_content:
        return index.size(first.start, group[-1].end) * 2 < budget
    return (
        first.has_heading
        and following.path[: len(first.path) - 1] == first.path[:-1]
        and index.size(first.start, group[-1].end) * _TINY < budget
        and index.size(first.start, following.end) <= budget
    )


def _is_another_slide(section: Section, following: Section) -> bool:
    """Return whether the next section begins another page with a heading of the first level, as each slide does."""
    page = following.blocks[0].page
    return following.blocks[0].level == 1 and page is not None and page != section.blocks[-1].page

"""The sections of a document, with the headings and anchors of each."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sourcebook.model.document import Block

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

"""A document's blocks under their headings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sourcebook.chunking.slug import Slugger
from sourcebook.model.document import Block

_DEEPEST_ANCHOR = 3


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading above a passage, and where in the text it stands."""

    title: str
    level: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the blocks up to the next one; before the first heading, blocks alone."""

    path: tuple[Heading, ...]
    """The enclosing headings, outermost first, the section's own last."""
    anchor: str | None
    blocks: tuple[Block, ...]

    @property
    def start(self) -> int:
        """Where the section begins."""
        return self.blocks[0].start

    @property
    def end(self) -> int:
        """Where the section ends."""
        return self.blocks[-1].end

    @property
    def has_heading(self) -> bool:
        """Whether the section begins with a heading."""
        return self.blocks[0].kind == "heading"

    @property
    def has_content(self) -> bool:
        """Whether anything but a heading stands in the section."""
        return len(self.blocks) > 1 or not self.has_heading


def sections(blocks: Sequence[Block]) -> Iterator[Section]:
    """Yield the sections of a document in reading order."""
    slugger = Slugger()
    path: list[Heading] = []
    anchors: list[tuple[int, str]] = []
    members: list[Block] = []
    for block in blocks:
        if block.kind == "heading":
            if members:
                yield _section(path, anchors, members)
            while path and path[-1].level >= block.level:
                path.pop()
            while anchors and anchors[-1][0] >= block.level:
                anchors.pop()
            path.append(Heading(block.title, block.level, block.start, block.end))
            if block.anchor is None:
                anchor = slugger.unique(block.title)  # deeper headings count too: they take their number
                anchor = anchor if block.level <= _DEEPEST_ANCHOR else ""
            else:
                anchor = block.anchor
            if anchor:
                anchors.append((block.level, anchor))
            members = []
        members.append(block)
    if members:
        yield _section(path, anchors, members)


def _section(path: list[Heading], anchors: list[tuple[int, str]], members: list[Block]) -> Section:
    return Section(tuple(path), anchors[-1][1] if anchors else None, tuple(members))

"""The differences between two documents, section by section."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from sourcebook.contract.documents import Item
from sourcebook.contract.fields import DocumentName, Name, Request
from sourcebook.contract.search import Unredacted
from sourcebook.model.place import line_words, time_span
from sourcebook.model.plain_values import PlainValues

PieceKind = Literal["same", "removed", "added"]
ChangeKind = Literal["changed", "added", "removed", "moved"]
SectionKind = Literal["changed", "added", "removed", "moved", "renamed"]


@dataclass(frozen=True, slots=True)
class DiffRequest(Request):
    """Two documents to compare."""

    first: Annotated[str | int, DocumentName("The earlier version: its id, its URI or the end of its path.")]
    second: Annotated[str | int, DocumentName("The later version, named likewise.")]
    collection: Annotated[str | None, Name("Collection of both, where several have them.")] = None
    unredacted: Unredacted = False


@dataclass(frozen=True, slots=True)
class Side:
    """Where a section or a change stands in one of the documents."""

    heading_path: tuple[str, ...]
    """Titles of the headings above it, outermost first, its own last."""
    anchor: str | None
    """Anchor of the nearest heading above, or in text files the lines, `L10-L12`."""
    page: int | None
    """Counted from 1, where the format has pages."""
    start_seconds: float | None
    end_seconds: float | None
    start_char: int
    """Start in the text of the document, in characters."""
    end_char: int
    address: str
    """Address that leads to the place."""

    @property
    def words(self) -> str:
        """Page, lines or times in words; empty without any."""
        page = f"page {self.page}" if self.page is not None else ""
        return page or line_words(self.anchor) or time_span(self.start_seconds, self.end_seconds) or ""


@dataclass(frozen=True, slots=True)
class Piece:
    """Successive words that both documents have, or one of them."""

    kind: PieceKind
    text: str


@dataclass(frozen=True, slots=True)
class ChangedNumber:
    """A number in place of another one."""

    before: str
    """Empty where the number is new."""
    after: str
    """Empty where the number is gone."""


@dataclass(frozen=True, slots=True)
class Change:
    """A paragraph, a row or a line that differs."""

    kind: ChangeKind
    before: Side | None
    """None where it is added."""
    after: Side | None
    """None where it is removed."""
    pieces: tuple[Piece, ...]
    numbers: tuple[ChangedNumber, ...] = ()
    """Numbers, dates and amounts that changed."""


@dataclass(frozen=True, slots=True)
class SectionDifference:
    """A section that differs."""

    kind: SectionKind
    """`moved` and `renamed` where nothing else of it changed."""
    before: Side | None
    """None where it is added."""
    after: Side | None
    """None where it is removed."""
    is_moved: bool
    """Whether it stands at another place among the sections that both documents have."""
    changes: tuple[Change, ...]

    @property
    def title(self) -> str:
        """Headings of the section, in the later document where that has it; empty before the first one."""
        side = self.after or self.before
        return " › ".join(side.heading_path) if side else ""


@dataclass(frozen=True, slots=True)
class ChangedField:
    """A value of the metadata, or the title, that differs; None where a document lacks it."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class DocumentDifferences(PlainValues):
    """Differences from one document to another."""

    first: Item
    second: Item
    sections: tuple[SectionDifference, ...]
    """Sections that differ, in the order of the second document; removed ones where they stood."""
    unchanged: int
    """Number of sections that are the same in both."""
    fields: tuple[ChangedField, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences about what was not compared."""

    @property
    def numbers(self) -> tuple[ChangedNumber, ...]:
        """All numbers that changed, in their order."""
        return tuple(number for section in self.sections for change in section.changes for number in change.numbers)

    def __str__(self) -> str:
        """Return the differences as text, for `print`: removed words as `[-old-]`, added ones as `{+new+}`."""
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text."""
        for each in self.fields:
            yield f"{each.name}: {_shown(each.before)} → {_shown(each.after)}"
        for section in self.sections:
            yield from ("", f"{section.title or 'Beginning'} ({', '.join(self.said(section))})")
            for change in section.changes:
                yield f"  {_places(change)}{marked(change)}"
        if not self.sections and not self.fields:
            yield "Nothing differs."
        for note in self.notes:
            yield f"Note: {note}."

    @staticmethod
    def said(section: SectionDifference) -> list[str]:
        """Return what happened to a section, in words."""
        said: list[str] = [section.kind]
        if section.is_moved and section.kind != "moved":
            said.append("moved")
        before, after = section.before, section.after
        if before and after and before.heading_path != after.heading_path:
            said.append(f"was {' › '.join(before.heading_path) or 'the beginning'}")
        return said


def marked(change: Change) -> str:
    """Return a change on one line, its words marked."""
    if change.kind == "moved":
        return f"moved: {''.join(piece.text for piece in change.pieces)}"
    signs = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    return " ".join(signs[piece.kind].format(" ".join(piece.text.split())) for piece in change.pieces)


def _places(change: Change) -> str:
    places = dict.fromkeys(side.words for side in (change.before, change.after) if side is not None and side.words)
    return f"{' → '.join(places)}: " if places else ""


def _shown(value: Any) -> str:
    return "nothing" if value is None else str(value)

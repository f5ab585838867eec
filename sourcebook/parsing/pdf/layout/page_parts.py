"""Pages before their structure is known; lengths in points from the page's upper left corner."""

from dataclasses import dataclass
from typing import Literal

from sourcebook.parsing.pdf.layout.measures import Rectangle


@dataclass(slots=True)  # frozen ones take six times as long to make, and a page has thousands
class Line(Rectangle):
    """One run of text, never changed."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    size: float
    """Font size, also of text rotated by 90 degrees."""
    bold: bool = False
    italic: bool = False
    monospaced: bool = False
    turned: bool = False
    """Whether the text runs upwards or downwards."""
    order: int = 0
    """Place of its first word in the order of the page's content, counted from 0; 0 for all lines read by OCR."""

    @property
    def letter_width(self) -> float:
        """Mean width of a letter."""
        return self.width / max(1, len(self.text))


@dataclass(frozen=True, slots=True)
class Rule(Rectangle):
    """A drawn line, thinner than it is long."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Field(Rectangle):
    """A field of a form, or a text that somebody put on the page, such as a stamp."""

    left: float
    top: float
    right: float
    bottom: float
    kind: Literal["text", "tick", "note"]
    """`tick` is a check box or radio button; a `note` has no label."""
    value: str = ""
    """Text, empty in an empty field; of a tick, the value that it stands for."""
    name: str = ""
    """Name for where the page shows no label."""
    group: str = ""
    """Full name in the file, which ticks of one question share."""
    on: bool = False
    """Whether a tick is set."""


@dataclass(frozen=True, slots=True)
class Remark(Rectangle):
    """A comment, at the place that it is about."""

    left: float
    top: float
    right: float
    bottom: float
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """One page, with its number counted from 1."""

    number: int
    width: float
    height: float
    lines: tuple[Line, ...]
    rules: tuple[Rule, ...] = ()
    fields: tuple[Field, ...] = ()
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """An entry of the file's outline."""

    title: str
    level: int
    """Nesting level; 1 is the outermost."""
    page: int | None = None

"""The text of a passage that is embedded, and its parts: where its headings, its page or its time change."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


def embedding_text(prefix: str, text: str, previous: str = "") -> str:
    """Return the text to embed: the prefix, the end of the text before, the text, with empty lines in between."""
    return "\n\n".join(part for part in (prefix, previous, text) if part)


@dataclass(frozen=True, slots=True)
class PassagePart:
    """A part of a passage with the place that a citation of it names; it ends where the next one begins."""

    start: int
    """Start in the text of the passage, in characters."""
    heading_path: tuple[str, ...] = ()
    """Titles of the headings above the part, outermost first, its own heading last."""
    anchor: str | None = None
    page: int | None = None
    """Counted from 1, where the format has pages."""
    start_seconds: float | None = None
    """Start in the recording, in seconds; None for other documents."""
    end_seconds: float | None = None


def part_rows(parts: Iterable[PassagePart]) -> list[list[Any]]:
    """Return parts as rows of their fields, in which the database stores them; None at the end of a row is left out."""
    return [_without_nothing(part) for part in parts]


def parts_of(rows: Iterable[Sequence[Any]]) -> tuple[PassagePart, ...]:
    """Return the parts of rows."""
    return tuple(PassagePart(start, tuple(path), *others) for start, path, *others in rows)


def _without_nothing(part: PassagePart) -> list[Any]:
    row = [part.start, list(part.heading_path), part.anchor, part.page, part.start_seconds, part.end_seconds]
    while row[-1] is None:
        row.pop()
    return row

"""Finds in a text, without overlaps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sourcebook.redaction.categories import KNOWN_CATEGORIES


@dataclass(frozen=True, slots=True)
class Find:
    """A span of a text that identifies or opens something."""

    category: str
    """A category of redaction, or the label of a pattern of one's own in lower case."""
    start: int
    """Start in the original text, in characters."""
    end: int
    placeholder: str
    """Text in its place, such as `[EMAIL_1]`."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text with placeholders, and what they stand for."""

    text: str
    finds: tuple[Find, ...]
    """Finds in reading order, without overlaps; their spans are those of the original text."""

    def place(self, offset: int) -> int:
        """Return the place in the redacted text of a place in the original text.

        A place within a find is the start of its placeholder.
        """
        shift = 0
        for find in self.finds:
            if offset < find.end:
                return min(offset, find.start) + shift
            shift += len(find.placeholder) - (find.end - find.start)
        return offset + shift

    def end_place(self, offset: int) -> int:
        """Return the place in the redacted text where a span ends; within a find, the end of its placeholder."""
        shift = 0
        for find in self.finds:
            if offset <= find.start:
                break
            shift += len(find.placeholder) - (find.end - find.start)
            if offset < find.end:
                return find.end + shift
        return offset + shift


@dataclass(frozen=True, slots=True)
class Span:
    """A find before its placeholder is known."""

    start: int
    end: int
    category: str
    label: str
    """Label of the placeholder to come, or the placeholder itself where it is known."""


_RANKS = {category: rank for rank, category in enumerate(KNOWN_CATEGORIES)}


def _rank(span: Span) -> tuple[int, bool]:
    """Return the place of a span among those it overlaps: by category; a placeholder that is known before a new one."""
    return _RANKS.get(span.category, -1), not span.label.startswith("[")


def without_overlaps(spans: Iterable[Span]) -> list[Span]:
    """Return spans in reading order; those that overlap become one, named by the category that stands first.

    Nothing of a find is left over: the part that only one of two overlapping finds covers goes, too.
    """
    merged: list[Span] = []
    for span in sorted(spans, key=lambda each: (each.start, -each.end)):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            named = min(last, span, key=_rank)
            merged[-1] = Span(last.start, max(last.end, span.end), named.category, named.label)
        else:
            merged.append(span)
    return merged


def clipped(finds: Sequence[Find], start: int, end: int) -> list[Span]:
    """Return the parts of a document's finds that lie in its part from `start` to `end`, counted from `start`."""
    return [
        Span(max(find.start, start) - start, min(find.end, end) - start, find.category, find.placeholder)
        for find in finds
        if find.start < end and start < find.end
    ]

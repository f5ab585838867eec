"""Passages around a result, and their text without repetitions."""

from collections.abc import Iterable
from dataclasses import dataclass

MOST_NEIGHBOURS = 20
"""Passages before and after a result, each, at most."""


@dataclass(frozen=True, slots=True)
class Part:
    """A passage of a window."""

    ordinal: int
    """Place within the document, counted from 0."""
    text: str
    is_hit: bool
    """Whether the search found it; the other parts are neighbours."""
    page: int | None
    """Counted from 1, where the format has pages."""
    start_char: int
    end_char: int
    """Character span of the passage in the document's Markdown, without repeated context."""
    start_seconds: float | None = None
    end_seconds: float | None = None
    anchor: str | None = None
    """As that of a result."""


def merged_text(parts: Iterable[Part]) -> str:
    """Return the parts of a window as one text, without the text that they repeat of each other.

    A passage may repeat the end of the passage before it (the setting `chunking.overlap`) and, above its own text, the
    header of its table or the lead-in of its list. White space between passages is not stored: one character of it
    becomes a line break, several become an empty line.
    """
    merged = ""
    end = 0
    for part in parts:
        context, own = _split(part)
        repeated = max(0, end - part.start_char)
        if context.strip() in merged:
            context = ""
        if not merged:
            merged = part.text
        elif context or not repeated:
            merged += _between(end, part.start_char) + context + own[repeated:]
        else:
            merged += own[repeated:]
        end = max(end, part.end_char)
    return merged


def _split(part: Part) -> tuple[str, str]:
    """Return the repeated context of a passage, and its own text: `markdown[start_char:end_char]`."""
    length = part.end_char - part.start_char
    return part.text[:-length], part.text[-length:]


def _between(end: int, start: int) -> str:
    return "" if start == end else "\n" if start == end + 1 else "\n\n"

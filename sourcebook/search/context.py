"""Context of a result: the passages before and after it within its document."""

from collections.abc import Iterable, Sequence
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


@dataclass(frozen=True, slots=True)
class Place:
    """Position of a hit in its document."""

    generation_id: int
    document_id: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class Window:
    """Adjacent passages of a document that one result shows."""

    generation_id: int
    document_id: int
    first: int
    """Ordinal of the first passage."""
    last: int
    """Ordinal of the last passage; the document may end before it."""
    hits: tuple[int, ...]
    """Ranks of its hits within the page, counted from 0, best first."""


def windows(hits: Sequence[Place], neighbours: int) -> list[Window]:
    """Return the window around each hit; hits whose neighbourhoods touch or overlap share a window.

    Args:
        hits: of one page, best first.
        neighbours: number of passages before and after each hit.

    Returns:
        Windows in the order of their best hits.
    """
    by_document: dict[tuple[int, int], list[int]] = {}
    for rank, hit in enumerate(hits):
        by_document.setdefault((hit.generation_id, hit.document_id), []).append(rank)
    found: list[Window] = []
    for (generation, document), ranks in by_document.items():
        run: list[int] = []
        for rank in sorted(ranks, key=lambda rank: hits[rank].ordinal):
            if run and hits[rank].ordinal - hits[run[-1]].ordinal > 2 * neighbours + 1:
                found.append(_window(generation, document, run, hits, neighbours))
                run = []
            run.append(rank)
        found.append(_window(generation, document, run, hits, neighbours))
    return sorted(found, key=lambda window: window.hits[0])


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


def _window(generation: int, document: int, ranks: Sequence[int], hits: Sequence[Place], neighbours: int) -> Window:
    first = max(0, hits[ranks[0]].ordinal - neighbours)
    last = hits[ranks[-1]].ordinal + neighbours
    return Window(generation, document, first, last, tuple(sorted(ranks)))


def _split(part: Part) -> tuple[str, str]:
    """Return the repeated context of a passage, and its own text: `markdown[start_char:end_char]`."""
    length = part.end_char - part.start_char
    return part.text[:-length], part.text[-length:]


def _between(end: int, start: int) -> str:
    return "" if start == end else "\n" if start == end + 1 else "\n\n"

"""A hit with what stands around it: the passages before and after within the document."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_NEIGHBOURS = 20


@dataclass(frozen=True, slots=True)
class Part:
    """A passage within its surroundings."""

    ordinal: int
    """Place within the document, counted from 0."""
    text: str
    is_hit: bool
    """Whether the search found it; the others are its neighbours."""
    page: int | None
    """Counted from 1, where the format has pages."""
    start_char: int
    end_char: int
    """Where in the document's Markdown the passage stands, without the header or lead-in that it repeats."""
    start_seconds: float | None = None
    end_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a hit stands."""

    generation_id: int
    document_id: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class Window:
    """Passages of a document that are shown together."""

    generation_id: int
    document_id: int
    first: int
    """Ordinal of the first passage; there may be none before it."""
    last: int
    """Ordinal of the last passage; the document may end before it."""
    hits: tuple[int, ...]
    """Which of the hits lie in it: their ranks within the page, counted from 0, best first."""


def windows(hits: Sequence[Place], neighbours: int) -> list[Window]:
    """Return what to show around each hit; hits whose neighbourhoods touch or overlap share a window.

    Args:
        hits: of one page, best first.
        neighbours: how many passages before and after each.

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
    """Return parts that follow each other as one text: what a later one repeats of those before stands once.

    A passage may repeat the end of the one before (the setting `chunking.overlap`), and above its own text the
    header of its table or the lead-in of its list. White space between passages is not stored: a line break stands for
    one character of it, an empty line for more.
    """
    merged = ""
    end = 0
    for part in parts:
        lead, own = _split(part)
        repeated = max(0, end - part.start_char)
        if lead.strip() in merged:
            lead = ""
        if not merged:
            merged = part.text
        elif lead or not repeated:
            merged += _between(end, part.start_char) + lead + own[repeated:]
        else:
            merged += own[repeated:]
        end = max(end, part.end_char)
    return merged


def _window(generation: int, document: int, ranks: Sequence[int], hits: Sequence[Place], neighbours: int) -> Window:
    first = max(0, hits[ranks[0]].ordinal - neighbours)
    last = hits[ranks[-1]].ordinal + neighbours
    return Window(generation, document, first, last, tuple(sorted(ranks)))


def _split(part: Part) -> tuple[str, str]:
    """Return what a passage repeats from further up, and its own text: `markdown[start_char:end_char]`."""
    length = part.end_char - part.start_char
    return part.text[:-length], part.text[-length:]


def _between(end: int, start: int) -> str:
    return "" if start == end else "\n" if start == end + 1 else "\n\n"

"""Context of a result: the passages before and after it within its document."""

from collections.abc import Sequence
from dataclasses import dataclass


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


def _window(generation: int, document: int, ranks: Sequence[int], hits: Sequence[Place], neighbours: int) -> Window:
    first = max(0, hits[ranks[0]].ordinal - neighbours)
    last = hits[ranks[-1]].ordinal + neighbours
    return Window(generation, document, first, last, tuple(sorted(ranks)))

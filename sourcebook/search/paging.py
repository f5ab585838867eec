"""Pages that neither repeat nor skip: the order of all candidates does not depend on which page is asked for.

A fused score depends on how deep the legs look: a passage that is second in one leg and 150th in the other stands
higher once 200 entries of each are fused than when 100 were; and an index that is asked for more finds what it missed
before. Were the depth chosen by the page, later pages would be cut from another order than earlier ones. So candidates
are ranked depth after depth: first what the legs bring when they are asked for `FIRST_DEPTH` entries, in the order of
that fusion; behind them, what they bring beyond these when asked for four times as many; and so on. A deeper search
adds candidates behind, and changes nothing before.

What this rests on: a leg that is asked twice for the same number of entries gives the same ones, and one that gives
fewer has no more. Pages of one query, with the same settings, over an index that does not change, are then slices of
one list. Where a document is published or removed between two pages, each is cut from the list of its moment: a passage
near their border may come twice or not at all. Who must have one list asks for it as one page.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from sourcebook.search.candidate import Candidate

FIRST_DEPTH = 100
"""Entries of each leg that an ordinary search looks at."""
DEEPEST = 10_000
"""No search looks further: what stands behind is not ranked."""
_STEP = 4

Item = TypeVar("Item", covariant=True)


class Fused(Protocol):
    """What fusion returns for one passage."""

    @property
    def chunk_id(self) -> int:
        """The passage."""

    @property
    def score(self) -> float:
        """The higher, the better."""


def deeper(reach: int = 1, *, first: int = FIRST_DEPTH, deepest: int = DEEPEST) -> Iterator[tuple[int, ...]]:
    """Yield the depths to look at, each time one more: (100,), (100, 400), ...

    Take the first of them that bring enough: more results than `offset + limit`, which also tells whether there is a
    next page, and as many candidates as are reranked; or where every leg gives fewer entries than it was asked for. How
    deep that is cannot be told before: the legs may bring the same passages or others, and a hundred passages may be
    ten documents.

    Args:
        reach: begin with the depths that are sure to bring so many candidates, where there are so many. It costs or
            spares time, and changes no order.
        first: the first depth. Another one gives another order.
        deepest: the last depth, whatever is wanted.
    """
    depths: tuple[int, ...] = (min(first, deepest),)
    while True:
        if depths[-1] >= min(reach, deepest):
            yield depths
        if depths[-1] >= deepest:
            return
        depths = (*depths, min(depths[-1] * _STEP, deepest))


def rank(fuse: Callable[[int], Iterable[Fused]], depths: Sequence[int]) -> list[Candidate]:
    """Return all candidates in their final order: those of a depth stand before what only a deeper look brings.

    Args:
        fuse: asks each leg for so many entries and returns their fusion, best first, ties in a fixed order. The
            beginning of a deeper leg will not do: it may hold what a search that looks less deep does not find.
        depths: from `deeper`.

    Returns:
        Candidates, each once. Scores never rise: one that a deeper look brings has at most the score before it.
    """
    candidates: list[Candidate] = []
    known: set[int] = set()
    for depth in depths:
        for fused in fuse(depth):
            if fused.chunk_id not in known:
                known.add(fused.chunk_id)
                score = min(fused.score, candidates[-1].score) if candidates else fused.score
                candidates.append(Candidate(fused.chunk_id, score, depth))
    return candidates


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """A slice of what was found."""

    items: tuple[Item, ...]
    offset: int
    next_offset: int | None
    """Where the next page begins; None where this is the last one."""


def page_of(ranked: Sequence[Item], offset: int, limit: int) -> Page[Item]:
    """Return the page that begins behind `offset` items and has at most `limit`."""
    end = offset + limit
    return Page(tuple(ranked[offset:end]), offset, end if end < len(ranked) else None)


def empty_page_note(offset: int, found: int, what: str = "passages") -> str:
    """Say why a page is empty that begins behind the last of what was found."""
    return f"the page begins behind {offset:,} {what}, and the search found {found:,}: the last page is an earlier one"


def cut_off_note(what: str = "passages", *, deepest: int = DEEPEST) -> str:
    """Say that more may match than was ranked."""
    return f"each leg ranks its first {deepest:,} entries; {what} behind them are not listed: narrow the search"

"""Layouts of the HNSW indexes of a generation: one index, or several parts of the entries with an index each."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

_NAME = re.compile(r"search_entry_\d+_vector(?:_(?P<bits>bits_)?(?P<part>\d+)of(?P<parts>\d+))?")
BREADTH = 200
"""`hnsw.ef_search` of every connection, which suffices for a graph of up to BREADTH_FOR entries."""
BREADTH_FOR = 120_000
"""Entries of a graph from which a walk must be wider to find as many of the nearest."""
_BREADTH_STEP, MOST_BREADTH = 50, 1000
"""Steps of the breadth, and the largest `hnsw.ef_search` that pgvector takes."""
MOST_PARTS = 64
"""Parts at most; a search walks each of them."""


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """Parts of the entries by a hash of their chunk ids, each with an HNSW index of its own.

    Names of the indexes tell the layout, so that nothing can say otherwise than what is there.
    """

    parts: int = 1
    """A power of two, 1 to MOST_PARTS."""
    bits: bool = False
    """Whether the graphs hold a bit for each dimension in place of the vectors, which order what was found."""

    def breadth(self, entries: int) -> int:
        """Return `hnsw.ef_search` for the walk of one part of a generation with this many entries.

        It grows with the square root of the entries of a part: as they double, a walk of the same breadth misses more
        of the nearest. It does not fall with the number of parts: each of the nearest is in one part, and must be found
        there.
        """
        share = entries / self.parts
        if share <= BREADTH_FOR:
            return BREADTH
        steps = math.ceil(BREADTH * math.sqrt(share / BREADTH_FOR) / _BREADTH_STEP)
        return min(steps * _BREADTH_STEP, MOST_BREADTH)

    def name(self, generation: int, part: int) -> str:
        """Return the name of the index of a part, which is counted from 0."""
        if self == GraphLayout():
            return f"search_entry_{generation}_vector"
        return f"search_entry_{generation}_vector_{'bits_' if self.bits else ''}{part + 1}of{self.parts}"

    @classmethod
    def whole(cls, names: Iterable[str]) -> list[Self]:
        """Return the layouts of which every index is among these names, the one of most parts first."""
        found: dict[Self, set[int]] = {}
        for name in names:
            if match := _NAME.fullmatch(name):
                layout = cls(int(match["parts"] or 1), match["bits"] is not None)
                found.setdefault(layout, set()).add(int(match["part"] or 1))
        complete = [layout for layout, parts in found.items() if parts == set(range(1, layout.parts + 1))]
        return sorted(complete, key=lambda layout: (-layout.parts, layout.bits))


def parts_for(entries: int, parts_from: int) -> int:
    """Return the number of parts: 1 below `parts_from` entries, 2 from there on, 4 from twice as many, and so on."""
    parts = 1
    while entries >= parts * parts_from and parts < MOST_PARTS:
        parts *= 2
    return parts

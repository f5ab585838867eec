"""Layouts of the HNSW indexes of a generation: one index, or several parts of the entries with an index each."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

_NAME = re.compile(r"search_entry_\d+_vector(?:_(?P<bits>bits_)?(?P<part>\d+)of(?P<parts>\d+))?")
_BREADTH = 200
"""`hnsw.ef_search` of every connection, which suffices for a graph of 100,000 entries and more."""
_BREADTH_OF_PARTS = 800
"""Sum over all parts: of two with half a million entries each, walks of 200 find too few of the nearest."""
_LEAST_BREADTH = 64
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

    @property
    def breadth(self) -> int:
        """`hnsw.ef_search` of the walk of one part: of many parts, each holds few of the nearest."""
        return _BREADTH if self.parts == 1 else max(_BREADTH_OF_PARTS // self.parts, _LEAST_BREADTH)

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

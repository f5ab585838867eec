"""Passages that say what another one says already: the same words, or nearly."""

from typing import Final, Literal

from sourcebook.context.passages import ContextPassage

_ALIKE: Final = 0.8
"""Share of the shingles of two texts that both have, from which they are near-duplicates."""
_WITHIN: Final = 0.95
"""Share of the shingles of the shorter text that the longer one has, from which it says nothing new."""
_FEWEST: Final = 5
"""Shingles of a text that is compared; shorter ones are compared as they are."""


class Duplicates:
    """The passages that a context has, and whether a further one repeats one of them."""

    def __init__(self) -> None:
        """Begin without a passage."""
        self._exact: dict[str, ContextPassage] = {}
        self._sketches: dict[int, list[int]] = {}
        self._held: list[ContextPassage] = []

    def find(self, passage: ContextPassage) -> tuple[Literal["duplicate", "near_duplicate"], ContextPassage] | None:
        """Return the passage of the context that a passage repeats; None where it says something new.

        Passages with different numbers in them are none of each other: a table's rows, two releases' notes.
        """
        known = self._exact.get(passage.exact)
        if known is not None and known.key != passage.key:
            return "duplicate", known
        shingles = passage.shingles
        if len(shingles) < _FEWEST:
            return None
        for number in dict.fromkeys(each for part in passage.sketch for each in self._sketches.get(part, ())):
            other = self._held[number]
            if not passage.numbers <= other.numbers or other.key == passage.key:
                continue
            common = len(shingles & other.shingles)
            every = len(shingles) + len(other.shingles) - common
            if common >= _WITHIN * len(shingles) or (common >= _ALIKE * every and passage.numbers == other.numbers):
                return "near_duplicate", other
        return None

    def add(self, passage: ContextPassage) -> None:
        """Know a passage from now on."""
        self._exact[passage.exact] = passage
        for part in passage.sketch:
            self._sketches.setdefault(part, []).append(len(self._held))
        self._held.append(passage)

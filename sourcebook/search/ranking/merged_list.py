"""Merging of the ranked lists of a query and of its parts into one, which is extended like each of them."""

from collections.abc import Mapping, Sequence
from typing import Final

from sourcebook.search.ranking.fusion import Candidate, RankedList
from sourcebook.search.ranking.leg import LegResult

_K: Final = 1
"""Constant of reciprocal rank fusion between the lists. It is small: the first passage of one part must stand before a
passage that is in the middle of every list."""
_WHOLE: Final = 0.5
"""Weight of the list of the whole query; that of each part is 1, unless it says another one."""


class MergedList(RankedList):
    """Candidates of several ranked lists in one order, each once, by reciprocal rank fusion."""

    def __init__(self, whole: RankedList, parts: Sequence[RankedList], files: Sequence[RankedList] = ()) -> None:
        """Make an empty list; nothing is searched yet.

        Args:
            whole: the list of the whole query, whose legs are this list's.
            parts: the lists of its parts.
            files: lists of the passages of files that the query names.
        """
        self._whole = whole
        self._files = files
        self._lists = (whole, *parts, *files)
        self._origins: dict[int, RankedList] = {}
        self.candidates = []
        self.legs = {}
        self.first_legs = {}
        self.weights = {}
        self.depth = 0

    @property
    def has_everything(self) -> bool:
        """Whether no extension of a list brings more."""
        return all(each.has_everything for each in self._lists)

    @property
    def is_final(self) -> bool:
        """Whether no list can be extended."""
        return all(each.is_final for each in self._lists)

    @property
    def has_named_files(self) -> bool:
        """Whether it has passages of files that the query names."""
        return any(each.candidates for each in self._files)

    def legs_of(self, candidate: Candidate) -> Mapping[str, LegResult]:
        """Return the first results of the legs of the list in which a candidate is highest."""
        return self._origins[candidate.chunk_id].first_legs

    def extend(self) -> None:
        """Extend each list, and append the new candidates, each as the list has it in which it is highest."""
        scores: dict[int, float] = {}
        highest: dict[int, tuple[int, Candidate, RankedList]] = {}
        for each in self._lists:
            known = len(each.candidates)
            if not (each.depth and each.is_final):
                each.extend()
            weight = _WHOLE if each is self._whole else each.merged_weight
            for rank, candidate in enumerate(each.candidates[known:], start=known + 1):
                chunk = candidate.chunk_id
                scores[chunk] = scores.get(chunk, 0.0) + weight / (_K + rank)
                if chunk not in highest or rank <= highest[chunk][0]:
                    highest[chunk] = (rank, candidate, each)
        self.depth, self.legs, self.first_legs = self._whole.depth, self._whole.legs, self._whole.first_legs
        self.weights = self._whole.weights
        ceiling = self.candidates[-1].score if self.candidates else float("inf")
        for chunk, score in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])):
            if chunk not in self._origins:
                _, candidate, self._origins[chunk] = highest[chunk]
                self.candidates.append(candidate._replace(score=min(score, ceiling), depth=self.depth))

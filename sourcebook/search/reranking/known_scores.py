"""Scores that a model gave before: the next page of a search is ordered as the one before, without reading again."""

from collections import OrderedDict
from hashlib import sha256

MOST_KEPT = 50_000
"""Scores, some 150 bytes each."""


class KnownScores:
    """The scores of one model, the least recently used forgotten first. Not thread-safe."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._scores: OrderedDict[bytes, float] = OrderedDict()

    def get(self, query: str, passage: str) -> float | None:
        """Return the score of a pair, None where it is not known."""
        key = _key(query, passage)
        score = self._scores.get(key)
        if score is not None:
            self._scores.move_to_end(key)
        return score

    def add(self, query: str, passage: str, score: float) -> None:
        """Keep the score of a pair."""
        self._scores[_key(query, passage)] = score
        if len(self._scores) > self._most:
            self._scores.popitem(last=False)


def _key(query: str, passage: str) -> bytes:
    return sha256(f"{len(query)} {query} {passage}".encode()).digest()

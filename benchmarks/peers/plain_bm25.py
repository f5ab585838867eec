"""BM25 in plain Python over the lexemes of the index: the oracle for the scores of the SQL."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Self

from psycopg import Connection

_ENTRIES = """
SELECT chunk_id, configuration, (SELECT jsonb_object_agg(lexeme, cardinality(positions)) FROM unnest(lexemes))
FROM search_entry WHERE generation_id = %s
"""
_READINGS = """
SELECT configuration, lexeme, place
FROM unnest(%s::text[]) AS configuration CROSS JOIN LATERAL query_lexemes(configuration::regconfig, %s)
"""


@dataclass(frozen=True)
class Reading:
    """A word of a query as one text-search configuration reads it."""

    configuration: str
    token: str
    place: int
    """Number of the word in the query."""


class PlainBM25:
    """The formula of Robertson & Zaragoza (2009), k1 1.2, b 0.75, idf never negative, over entries held in memory."""

    def __init__(self, entries: Iterable[tuple[int, str, Mapping[str, int]]]) -> None:
        """Count words; an entry is (chunk id, text-search configuration, count of each lexeme)."""
        self._lengths: dict[int, int] = {}
        self._postings: dict[str, list[tuple[int, int]]] = {}
        self._configurations: Counter[str] = Counter()
        for chunk, configuration, frequencies in entries:
            self._lengths[chunk] = sum(frequencies.values())
            self._configurations[configuration] += 1
            for token, frequency in frequencies.items():
                self._postings.setdefault(token, []).append((chunk, frequency))
        self._average = sum(self._lengths.values()) / max(len(self._lengths), 1)

    @classmethod
    def of_generation(cls, connection: Connection, generation: int) -> Self:
        """Read the published entries."""
        rows = connection.execute(_ENTRIES, [generation])
        return cls((chunk, configuration, frequencies or {}) for chunk, configuration, frequencies in rows)

    def readings(self, connection: Connection, text: str) -> list[Reading]:
        """Return the words of a query, under every configuration that entries were made with."""
        return [Reading(*row) for row in connection.execute(_READINGS, [list(self._configurations), text])]

    def idfs(self, readings: Sequence[Reading]) -> dict[str, float]:
        """Return what each lexeme tells, times its occurrences in the query.

        Readings of one place are one word, as rare as all of them together; entries of a configuration that has no
        reading of it count as holding it; and where those are more than half, it is a stop word for all.
        """
        everything = len(self._lengths)
        holding: dict[str, int] = {}
        occurrences: Counter[str] = Counter()
        for place in {reading.place for reading in readings}:
            here = [reading for reading in readings if reading.place == place]
            read_by = {reading.configuration for reading in here}
            stopped = sum(count for name, count in self._configurations.items() if name not in read_by)
            if stopped * 2 > everything:
                continue
            tokens = {reading.token for reading in here}
            held = stopped + sum(len(self._postings.get(token, ())) for token in tokens)
            for token in tokens:
                holding[token] = min(holding.get(token, everything), held)
                occurrences[token] += 1
        return {
            token: occurrences[token] * math.log(1 + (everything - held + 0.5) / (held + 0.5))
            for token, held in holding.items()
        }

    def ranking(self, readings: Sequence[Reading], depth: int) -> list[tuple[int, float]]:
        """Return (chunk id, score), best first; equal scores in the order of their ids."""
        scores: dict[int, float] = {}
        for token, idf in self.idfs(readings).items():
            for chunk, frequency in self._postings.get(token, ()):
                norm = 1.2 * (0.25 + 0.75 * self._lengths[chunk] / self._average)
                scores[chunk] = scores.get(chunk, 0.0) + idf * frequency * 2.2 / (frequency + norm)
        return nsmallest(depth, scores.items(), key=lambda pair: (-pair[1], pair[0]))


@dataclass(frozen=True)
class Agreement:
    """Distance of a ranking from the oracle's."""

    largest_difference: float
    """Largest relative difference of the two scores of an entry."""
    same: bool
    """Whether both rankings have the same order, apart from entries whose scores are equal as 4-byte floats."""


_ALIKE = 1e-6


def agreement(found: Sequence[tuple[int, float]], expected: Sequence[tuple[int, float]], depth: int = 10) -> Agreement:
    """Compare two rankings; the oracle's is longer than the one that it judges."""
    scores = dict(expected)
    differences = [abs(score / scores[chunk] - 1) for chunk, score in found if chunk in scores]
    best = [scores.get(chunk, 0.0) for chunk, _ in found[:depth]]
    wanted = [score for _, score in expected[:depth]]
    same = len(best) == len(wanted) and all(
        abs(one - other) <= _ALIKE * other for one, other in zip(best, wanted, strict=True)
    )
    return Agreement(max(differences, default=0.0), same)

"""Join what the legs found into one ranking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sourcebook.errors import QueryError

Method = Literal["weighted", "rrf"]
Ranking = Sequence[tuple[int, float]]
"""(chunk id, score), best first."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the legs are joined.

    Raises:
        QueryError: a number is out of range, or the method is none.
    """

    method: Method = "weighted"
    """`weighted`: the sum of each leg's scores, scaled to 0..1 within the leg. `rrf`: reciprocal rank fusion."""
    vector: float = 1.0
    """Weight of the vector leg; 0 leaves its ranking out."""
    keyword: float = 1.0
    """Weight of the keyword leg; 0 leaves its ranking out."""
    k: int = 60
    """Of reciprocal rank fusion: the higher, the less the first ranks stand out."""
    depth: int = 100
    """How many entries of each leg are joined, at least; the next hundreds follow behind them."""
    by_language: bool = True
    """Whether the vector leg counts for less the less its model's vocabulary knows the query's language."""

    def __post_init__(self) -> None:
        """Check what was asked for."""
        if self.method not in get_args(Method):
            raise QueryError(f"the fusion is {self.method!r}; it must be one of {', '.join(get_args(Method))}")
        if not (_is_weight(self.vector) and _is_weight(self.keyword)):
            raise QueryError(
                f"the weights of the fusion are {self.vector!r} and {self.keyword!r}; they must be 0 or more"
            )
        if not self.vector + self.keyword > 0:
            raise QueryError("both weights of the fusion are 0: give one leg a weight")
        if not (_is_whole(self.k) and 1 <= self.k <= 10_000):
            raise QueryError(f"k of the fusion is {self.k!r}; it must be 1 to 10,000")
        if not (_is_whole(self.depth) and 10 <= self.depth <= 1_000):
            raise QueryError(f"the depth of the fusion is {self.depth!r}; it must be 10 to 1,000")

    def weight(self, leg: str) -> float:
        """Return the weight of a leg, `vector` or `keyword`."""
        return self.vector if leg == "vector" else self.keyword

    def describe(self) -> str:
        """Return what it does, in words."""
        if self.method == "rrf":
            return f"reciprocal rank fusion, k = {self.k}"
        return "weighted sum of the scores, each leg's scaled to 0..1"


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class FusedEntry:
    """An entry and what the fusion gives it."""

    chunk_id: int
    score: float


def fuse(legs: Mapping[str, Ranking], fusion: Fusion, trust: Mapping[str, float] | None = None) -> list[FusedEntry]:
    """Return every entry that a leg found, best first; equals in the order of their ids.

    With one leg alone its order stands.

    Args:
        legs: what each leg found, by its name.
        fusion: how to join them.
        trust: 0..1 by leg, what its weight is multiplied by; what only a leg of no trust found stands at the end.
    """
    scores: dict[int, float] = {}
    for leg, ranking in legs.items():
        weight = 1.0 if len(legs) == 1 else fusion.weight(leg)
        if weight == 0:
            continue
        if trust and fusion.by_language and len(legs) > 1:
            weight *= trust.get(leg, 1.0)
        gains = _reciprocal_ranks(ranking, fusion.k) if fusion.method == "rrf" else _scaled(ranking)
        for (chunk, _), gain in zip(ranking, gains, strict=True):
            scores[chunk] = scores.get(chunk, 0.0) + weight * gain
    return [FusedEntry(chunk, score) for chunk, score in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))]


def _reciprocal_ranks(ranking: Ranking, k: int) -> list[float]:
    """Return 1 / (k + rank) for each entry (Cormack, Clarke and Buettcher, SIGIR 2009)."""
    return [1 / (k + rank) for rank in range(1, len(ranking) + 1)]


def _scaled(ranking: Ranking) -> list[float]:
    """Return (score - lowest) / (highest - lowest) for each entry; 1 where all are alike."""
    if not ranking:
        return []
    highest, lowest = ranking[0][1], ranking[-1][1]
    if highest <= lowest:
        return [1.0] * len(ranking)
    return [(score - lowest) / (highest - lowest) for _, score in ranking]

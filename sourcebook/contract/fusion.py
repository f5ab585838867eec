"""How the rankings of vector and keyword search are joined."""

from dataclasses import dataclass
from typing import Literal, get_args

from sourcebook.errors import QueryError

FIRST_DEPTH = 100
"""Entries of each leg that a search fuses at first."""


Method = Literal["weighted", "rrf"]


@dataclass(frozen=True, slots=True)
class Fusion:
    """Settings of the fusion.

    Raises:
        QueryError: a number is out of range, or the method is unknown.
    """

    method: Method = "weighted"
    """`weighted`: sum of each leg's scores, scaled to 0..1 within the leg. `rrf`: reciprocal rank fusion."""
    vector: float = 1.0
    """Weight of the vector leg; 0 leaves the leg out."""
    keyword: float = 1.0
    """Weight of the keyword leg; 0 leaves the leg out."""
    k: int = 60
    """Constant of reciprocal rank fusion, 1 to 10,000: the higher it is, the less the first ranks stand out."""
    depth: int = FIRST_DEPTH
    """Entries of each leg that are fused at first, 10 to 1,000; further entries follow behind them."""
    by_language: bool = True
    """Whether the vector leg's weight is multiplied by the language weight of the query."""

    def __post_init__(self) -> None:
        """Check every value."""
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
        """Return the method as a reader of an explanation sees it."""
        if self.method == "rrf":
            return f"reciprocal rank fusion, k = {self.k}"
        return "weighted sum of the scores, each leg's scaled to 0..1"


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

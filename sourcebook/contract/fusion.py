"""How the rankings of vector and keyword search are joined."""

from dataclasses import dataclass
from typing import Annotated, Literal

from sourcebook.contract.fields import Amount, Choice, Switch, Whole, check_fields
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

    method: Annotated[
        Method,
        Choice("Sum of each leg's scores, scaled to 0..1 within it (weighted), or reciprocal rank fusion (rrf)."),
    ] = "weighted"
    vector: Annotated[float, Amount("Weight of the vector leg; 0 leaves it out.")] = 1.0
    keyword: Annotated[float, Amount("Weight of the keyword leg; 0 leaves it out.")] = 1.0
    k: Annotated[
        int,
        Whole(
            "Constant of reciprocal rank fusion: the higher, the less the first ranks stand out.", least=1, most=10_000
        ),
    ] = 60
    depth: Annotated[int, Whole("Entries of each leg fused at first; others follow behind.", least=10, most=1_000)] = (
        FIRST_DEPTH
    )
    by_language: Annotated[bool, Switch("Multiply the vector leg's weight by the language weight of the query.")] = True

    by_scores: Annotated[
        bool, Switch("Lessen the weight of a leg whose first entry hardly stands out; weights that you set stay.")
    ] = True

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self, "the fusion")
        if not self.vector + self.keyword > 0:
            raise QueryError("both weights of the fusion are 0: give one leg a weight")

    def weight(self, leg: str) -> float:
        """Return the weight of a leg, `vector` or `keyword`."""
        return self.vector if leg == "vector" else self.keyword

    def describe(self) -> str:
        """Return the method as a reader of an explanation sees it."""
        if self.method == "rrf":
            return f"reciprocal rank fusion, k = {self.k}"
        return "weighted sum of the scores, each leg's scaled to 0..1"

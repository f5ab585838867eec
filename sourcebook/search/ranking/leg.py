"""Result of a leg, the vector search or the keyword search of a query."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from psycopg import Connection, sql

from sourcebook.contract.explanation import LegExplanation
from sourcebook.search.query_terms import QueryTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LONG: Final = re.compile(r"([\[{][^\]}]{40})[^\]}]+")

_SPREAD: Final = 3.0
"""Standard deviations by which fewer of the best entries may be seen by the reader than their share."""

LegRanking = list[tuple[int, float]]
"""Entries of one leg: (chunk id, score), best first, equal scores in the order of their ids."""


def best_with_seen(depth: int, share: float) -> int:
    """Return how many of the best entries hold as many that a reader sees, but for one search in a thousand.

    Args:
        depth: entries that the reader is to see among them.
        share: share of all entries that the reader sees, above 0.
    """
    return math.ceil((depth + _SPREAD * math.sqrt(depth * (1 - share))) / share)


@dataclass(frozen=True, slots=True)
class StandingOut:
    """How the weight of a leg depends on the share by which its tenth entry's score is behind the first one's."""

    least: float
    """Factor on the weight where both are alike."""
    whole: float = 1.0
    """Share from which the leg counts whole."""

    def factor(self, behind: float) -> float:
        """Return the factor for a share 0..1."""
        return self.least + (1 - self.least) * min(behind / self.whole, 1.0)


@dataclass(frozen=True, slots=True)
class LegResult:
    """Entries that one leg found, and how it found them."""

    ranking: LegRanking = field(default_factory=list)
    dropped: str | None = None
    """Reason why the leg found nothing."""
    notes: tuple[str, ...] = ()
    ms: float = 0.0
    """Milliseconds in the database."""
    exact: bool = True
    """Whether no better entry can have been missed."""
    query: str | None = None
    """Terms with their weights, or the names of the models."""
    embedding_ms: float | None = None
    """Milliseconds that the query's embedding took; None without one."""
    language_weight: float = 1.0
    """Factor 0..1 on the leg's weight in the fusion; see `query_vectors.language_weight`."""
    plan: Callable[[Connection], str] | None = None
    """Reads PostgreSQL's plan of the leg's statement."""
    terms: tuple[QueryTerm, ...] | None = None
    """Terms of the query, stand-ins included; None of the vector leg."""
    suggestion: str | None = None
    """The query with known words in place of unknown ones, which the keyword leg looks up where asked to."""
    model_weight: float = 1.0
    """Factor on the leg's weight in the fusion; see `query_vectors.MODEL_WEIGHTS`."""
    stands_out: Mapping[str, StandingOut] = field(default_factory=dict)
    """How the weights of both legs depend on their scores, by leg; of the vector leg, where its model was measured."""
    vectors: Mapping[str, "NDArray[np.float32]"] = field(default_factory=dict)
    """The query's vector by the identity of the model, of the vector leg."""

    def explain(self, connection: Connection, name: str) -> LegExplanation:
        """Return the explanation of the leg, with PostgreSQL's plan of its statement."""
        plan = self.plan(connection) if self.plan is not None else None
        return LegExplanation(name, round(self.ms, 3), len(self.ranking), self.exact, self.query or self.dropped, plan)


def read_plan(connection: Connection, statement: sql.Composable, parameters: Mapping[str, Any]) -> str:
    """Return PostgreSQL's plan of a statement, which is not run; long lists and vectors are shortened."""
    # SQL here: the prefix of a named query.
    rows = connection.execute(sql.SQL("EXPLAIN (COSTS OFF) ") + statement, parameters)
    return "\n".join(_LONG.sub(r"\1…", line) for (line,) in rows)

"""The leg by meaning: the entries whose vectors are nearest to the query's, by exact scan or through HNSW."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pgvector import HalfVector
from psycopg import Connection, sql

from sourcebook.database.queries import queries
from sourcebook.search.condition import EntryCondition
from sourcebook.search.scope import ScopedGeneration

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Plan = Literal["exact", "index", "iterative index"]

VISIT = 16
"""Looking at one more entry in the order of the index costs as much as comparing this many in an exact scan."""
OVERSHOOT, OVERSHOOT_FILTERED = 1.5, 2.5
"""How many times as many entries as asked for are taken from an index: the nearest come nearly in their order."""
SLACK = 3
"""How many times as many entries as the estimate says may be looked at before the index is given up."""

EVERY_ENTRY = EntryCondition(sql.SQL("TRUE"))


@dataclass(frozen=True, slots=True)
class VectorRanking:
    """The entries nearest to a query, and how they were found."""

    hits: tuple[tuple[int, float], ...]
    """(chunk id, cosine similarity -1..1), best first; ties by the smaller id."""
    plan: Plan
    """`exact` compares every entry that may be found; `index` walks HNSW, `iterative index` until the filter let enough
    through. Where generations differ, what the largest of them needed."""
    is_exact: bool
    """Whether no nearer entry can have been missed."""
    cut_off: bool
    """Whether an index ran out before it gave enough, so that an exact scan had to finish."""
    took_ms: float
    """Milliseconds, the round trips included."""


def nearest(
    connection: Connection,
    generations: Sequence[ScopedGeneration],
    vector: "NDArray[np.float32]",
    depth: int,
    condition: EntryCondition | None = None,
) -> VectorRanking:
    """Return the entries nearest to a query vector among those that fulfil a condition.

    A generation without an HNSW index is scanned exactly. So is one with it where few entries fulfil the condition, as
    the planner estimates: comparing all of them takes less than walking the index past the others. Hits are never lost
    to a condition: where the index runs out too early, an exact scan finishes.

    Args:
        connection: in autocommit mode, set as `sourcebook.database.database` sets it.
        generations: all of one model.
        vector: shape (dimensions,), of length 1.
        depth: the most entries to return.
        condition: what an entry must fulfil, on its generation_id, chunk_id, document_id and lexemes.
    """
    started = time.perf_counter()
    search = _Search(connection, HalfVector(vector), depth, condition, generations[0].dimensions)
    sizes, indexed = search.look_up([generation.id for generation in generations])
    parts = [search.exactly([number for number in sizes if number not in indexed])]
    if indexed:
        parts.append(search.by_index(indexed, sum(sizes[number] for number in indexed)))
    hits = sorted((distance, chunk) for part in parts for chunk, distance in part.rows)[:depth]
    return VectorRanking(
        tuple((chunk, -distance) for distance, chunk in hits),
        parts[-1].plan,
        is_exact=all(part.plan == "exact" for part in parts),
        cut_off=any(part.cut_off for part in parts),
        took_ms=round((time.perf_counter() - started) * 1000, 3),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    rows: list[tuple[int, float]]
    """(chunk id, distance), not yet in order."""
    plan: Plan
    cut_off: bool = False


@dataclass(frozen=True, slots=True)
class _Search:
    connection: Connection
    vector: HalfVector
    depth: int
    condition: EntryCondition | None
    dimensions: int

    def look_up(self, generations: list[int]) -> tuple[dict[int, int], list[int]]:
        """Return about how many entries each generation has, and which of them an HNSW index serves."""
        rows = self._rows("vector_indexes", generations)
        return {number: entries for number, entries, _ in rows}, [number for number, _, served in rows if served]

    def exactly(self, generations: list[int], *, cut_off: bool = False) -> _Part:
        """Compare every entry that fulfils the condition."""
        rows = self._rows("nearest_exactly", generations, depth=self.depth) if generations else []
        return _Part(rows, "exact", cut_off)

    def by_index(self, generations: list[int], entries: int) -> _Part:
        """Walk the index, or compare every entry where the condition leaves few of them."""
        few = math.isqrt(VISIT * self._wanted * entries)
        if self.condition is None:
            return self.exactly(generations) if entries <= few else self._walk(generations, "index", self._wanted)
        estimate = int(self._rows("estimate_entries", generations)[0][0][0]["Plan"]["Plan Rows"])
        if estimate <= few:
            rows = self._rows("nearest_of_few", generations, depth=self.depth, most=few)
            if not rows or rows[0][2] <= few:
                return _Part([(chunk, distance) for chunk, distance, _ in rows], "exact")
        budget = SLACK * self._wanted * entries // max(estimate, few, 1)
        return self._walk(generations, "iterative index", max(budget, self._wanted))

    @property
    def _wanted(self) -> int:
        return math.ceil(self.depth * (OVERSHOOT if self.condition is None else OVERSHOOT_FILTERED))

    def _walk(self, generations: list[int], plan: Plan, budget: int) -> _Part:
        rows = self._rows("nearest_by_index", generations, depth=self._wanted, budget=budget)
        if len(rows) < self.depth:
            return self.exactly(generations, cut_off=True)
        return _Part(rows, plan)

    def _rows(self, name: str, generations: list[int], **values: Any) -> list[tuple[Any, ...]]:
        condition = self.condition or EVERY_ENTRY
        statement = queries[name].format(condition=condition.text, dimensions=sql.Literal(self.dimensions))
        parameters = {**condition.parameters, "vector": self.vector, "generations": generations, **values}
        return self.connection.execute(statement, parameters).fetchall()

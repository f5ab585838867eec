"""Vector search: the entries whose vectors are nearest to the query's, by exact scan or through an HNSW index."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from pgvector import HalfVector
from psycopg import Connection, sql

from sourcebook.database.queries import queries
from sourcebook.embedding.weights import BUNDLED_NAME, MULTILINGUAL_NAME
from sourcebook.model.graph_layout import GraphLayout
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.ranking.graph_walks import WalkStatement
from sourcebook.search.ranking.leg import LegResult, StandingOut, best_with_seen, read_plan
from sourcebook.search.scope import EVERY_ENTRY, EntryCondition, ScopedGeneration, SearchScope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Plan = Literal["exact", "index", "iterative index"]

VISIT = 16
"""Cost of visiting one entry through the index, in comparisons of an exact scan."""
OVERSHOOT, OVERSHOOT_FILTERED = 1.5, 2.5
"""Entries taken from an index per entry wanted, without and with a filter: an index gives them nearly in order."""
WIDER = 1.2
"""Entries that the one walk for a reader is wide enough for, per entry wanted: a walk misses some of the nearest."""
SLACK = 3
"""Entries visited per entry estimated before the index is given up for an exact scan."""

_STANDS_OUT: Final = {
    BUNDLED_NAME: {"vector": StandingOut(least=0.1, whole=0.35), "keyword": StandingOut(least=0.3)},
    MULTILINGUAL_NAME: {"keyword": StandingOut(least=0.5)},
}
"""How the weights of both legs depend on their scores, by the model; measured on 18 sets, for the multilingual model on
8: decision 0089. Its cosines are too alike to tell."""


@dataclass(frozen=True, slots=True)
class VectorLeg:
    """Vector search for one query."""

    vectors: QueryVectors
    scope: SearchScope
    text: str
    condition: EntryCondition | None

    def find(self, connection: Connection, depth: int) -> LegResult:
        """Return the nearest entries of all models; each score is a cosine similarity, whichever model it is from."""
        if not self.text:
            return LegResult(dropped="the query says only what must not be found")
        found: list[tuple[int, float]] = []
        notes: list[str] = []
        plans: list[tuple[list[ScopedGeneration], VectorRanking]] = []
        embedding = in_database = 0.0
        exact, weight = True, 1.0
        model_weights: list[float] = []
        vectors: dict[str, NDArray[np.float32]] = {}
        for model, generations in self.scope.by_model().items():
            query = self.vectors.embed(generations[0], self.text)
            vectors[model] = query.vector
            embedded = time.perf_counter()
            ranking = nearest(connection, generations, query.vector, depth, self.condition)
            embedding += query.milliseconds
            in_database += time.perf_counter() - embedded
            found += ranking.hits
            notes += [query.note] if query.note else []
            if ranking.cut_off and self.condition is not None:
                notes.append("the filters left too few of the nearest passages: an exact scan found the rest")
            weight = min(weight, query.language_weight)
            model_weights.append(query.model_weight)
            exact = exact and ranking.is_exact
            plans.append((generations, ranking))
        ranking_of_all = sorted(found, key=lambda pair: (-pair[1], pair[0]))[:depth]
        none = "no passage fulfils the filters" if self.condition else "there is no passage"
        if not self.scope.by_model() and not all(each.has_vectors for each in self.scope.generations):
            none = "no passage has a vector yet, or the model is not exported yet: the ingest goes on"
        name, *others = {model.partition(":")[0] for model in self.scope.by_model()} or {""}
        return LegResult(
            ranking_of_all,
            None if ranking_of_all else none,
            tuple(notes),
            in_database * 1000,
            exact,
            ", ".join(self.scope.by_model()),
            round(embedding, 3),
            weight,
            lambda connection: "\n".join(
                _plan(connection, generations, ranking, depth, self.condition) for generations, ranking in plans
            ),
            model_weight=min(model_weights, default=1.0),
            stands_out={} if others else _STANDS_OUT.get(name, {}),
            vectors=vectors,
        )


@dataclass(frozen=True, slots=True)
class VectorRanking:
    """The entries nearest to a query vector, and how they were found."""

    hits: tuple[tuple[int, float], ...]
    """(chunk id, cosine similarity -1..1), best first; equal ones by the smaller id."""
    plan: Plan
    """`exact` compares every entry that fulfils the condition, `index` walks HNSW, `iterative index` walks it until
    enough entries fulfil the condition. Where generations differ, the plan of the indexed ones."""
    is_exact: bool
    """Whether no nearer entry can have been missed."""
    cut_off: bool
    """Whether an index gave too few entries, so that an exact scan followed."""
    took_ms: float
    """Milliseconds, round trips included."""


def nearest(
    connection: Connection,
    generations: Sequence[ScopedGeneration],
    vector: NDArray[np.float32],
    depth: int,
    condition: EntryCondition | None = None,
) -> VectorRanking:
    """Return the entries nearest to a query vector among those that fulfil a condition.

    A generation without an HNSW index is scanned exactly. An indexed generation is scanned exactly, too, where the
    planner expects that few entries fulfil the condition: comparing all of them takes less time than visiting the
    others through the index. A condition never loses an entry: where the index gives too few, an exact scan follows.
    Entries that are published outside the index are always compared.

    Args:
        connection: in autocommit mode, set as `sourcebook.database.database` sets it.
        generations: all of one model.
        vector: shape (dimensions,), of length 1.
        depth: the most entries to return.
        condition: on an entry's generation_id, chunk_id, document_id and lexemes.
    """
    started = time.perf_counter()
    stored = {each.id: each.stored for each in generations}
    search = _Search(connection, HalfVector(vector), depth, condition, generations[0].dimensions, stored)
    sizes, layouts = search.look_up(generations)
    parts = [search.exactly([number for number in sizes if number not in layouts])]
    parts += [
        search.by_index({number: sizes[number] for number, of in layouts.items() if of == layout}, layout)
        for layout in sorted(set(layouts.values()), key=lambda each: (each.parts, each.bits))
    ]
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
    """(chunk id, distance), in any order."""
    plan: Plan
    cut_off: bool = False


@dataclass(frozen=True, slots=True)
class _Search:
    connection: Connection
    vector: HalfVector
    depth: int
    condition: EntryCondition | None
    dimensions: int
    stored: Mapping[int, int]
    """About how many entries each generation has, unseen ones included."""

    def look_up(self, generations: Sequence[ScopedGeneration]) -> tuple[dict[int, int], dict[int, GraphLayout]]:
        """Return the number of entries by generation id, and the layout of those with HNSW indexes."""
        rows: list[tuple[Any, ...]] = [(each.id, each.entries, each.vector_indexes) for each in generations]
        if any(each.entries is None for each in generations):
            rows = self._rows("vector_indexes", [each.id for each in generations])
        layouts = {number: GraphLayout.whole(names) for number, _, names in rows}
        return {number: entries for number, entries, _ in rows}, {
            number: whole[0] for number, whole in layouts.items() if whole
        }

    def exactly(self, generations: list[int], *, cut_off: bool = False) -> _Part:
        """Compare every entry that fulfils the condition."""
        rows = self._rows("nearest_exactly", generations, depth=self.depth) if generations else []
        return _Part(rows, "exact", cut_off)

    def by_index(self, sizes: dict[int, int], layout: GraphLayout) -> _Part:
        """Walk the indexes of generations, or compare every entry where few fulfil the condition."""
        generations, seen = list(sizes), sum(sizes.values())
        stored = [max(size, self.stored[number]) for number, size in sizes.items()]
        entries, largest = sum(stored), max(stored)
        few = math.isqrt(VISIT * self._wanted * entries)
        if self.condition is None:
            if entries <= few:
                return self.exactly(generations)
            return self._walk(
                generations, "index", self._wanted, WalkStatement(layout, EVERY_ENTRY, self.dimensions, largest)
            )
        estimate = seen if self.condition.is_sight else self._estimate(generations)
        if estimate <= few:
            rows = self._rows("nearest_of_few", generations, depth=self.depth, most=few)
            if not rows or rows[0][2] <= few:
                return _Part([(chunk, distance) for chunk, distance, _ in rows], "exact")
        budget = SLACK * self._wanted * entries // max(estimate, few, 1)
        wide = math.ceil(self.depth * WIDER)
        further = best_with_seen(wide, seen / entries) if self.condition.is_sight and seen else 0
        walk = WalkStatement(layout, self.condition, self.dimensions, largest, further)
        return self._walk(generations, "iterative index", max(budget, self._wanted), walk)

    def _estimate(self, generations: list[int]) -> int:
        return int(self._rows("estimate_entries", generations)[0][0][0]["Plan"]["Plan Rows"])

    @property
    def _wanted(self) -> int:
        is_plain = self.condition is None or self.condition.is_sight
        return math.ceil(self.depth * (OVERSHOOT if is_plain else OVERSHOOT_FILTERED))

    def _walk(self, generations: list[int], plan: Plan, budget: int, walk: WalkStatement) -> _Part:
        values = {
            "vector": self.vector,
            "generations": generations,
            "depth": self.depth if walk.at_once else self._wanted,
        }
        rows = walk.rows(self.connection, {**values, "budget": walk.budget(budget)})
        if sum(in_graph for *_, in_graph in rows) < self.depth:
            return self.exactly(generations, cut_off=True)
        return _Part([(chunk, distance) for chunk, distance, _ in rows], plan)

    def _rows(self, name: str, generations: list[int], **values: Any) -> list[tuple[Any, ...]]:
        condition = self.condition or EVERY_ENTRY
        statement = queries[name].format(condition=condition.text, dimensions=sql.Literal(self.dimensions))
        parameters = {**condition.parameters, "vector": self.vector, "generations": generations, **values}
        return self.connection.execute(statement, parameters).fetchall()


def _plan(
    connection: Connection,
    generations: Sequence[ScopedGeneration],
    ranking: VectorRanking,
    depth: int,
    condition: EntryCondition | None,
) -> str:
    """Return PostgreSQL's plan of the statement that made a ranking; it does not depend on the vector."""
    import numpy as np

    condition = condition or EVERY_ENTRY
    dimensions = generations[0].dimensions
    layouts = [layout for each in generations for layout in GraphLayout.whole(each.vector_indexes)[:1]]
    parameters = {
        **condition.parameters,
        "vector": HalfVector(np.ones(dimensions, np.float32)),
        "generations": [generation.id for generation in generations],
        "depth": depth,
        "budget": depth,
    }
    if ranking.plan == "exact":
        statement = queries["nearest_exactly"].format(condition=condition.text)
    else:
        statement = WalkStatement(layouts[0] if layouts else GraphLayout(), condition, dimensions, 0).text
    return read_plan(connection, statement, parameters)

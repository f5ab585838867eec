"""The two legs of a search: by meaning and by words. Each returns chunk ids, best first."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgvector import HalfVector
from psycopg import Connection, sql

from sourcebook.database.queries import queries
from sourcebook.search.scope import Scope, ScopedGeneration

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CANDIDATES = 500
"""About how many entries the keyword leg ranks."""


def vector_leg(
    connection: Connection, generations: Sequence[ScopedGeneration], vector: "NDArray[np.float32]", depth: int
) -> list[tuple[int, float]]:
    """Return (chunk id, distance) of the entries nearest to a query vector.

    The distance is the negative inner product: stored vectors have length 1, so it orders as the cosine
    does, in half the time.

    Args:
        connection: in autocommit mode.
        generations: all of one model.
        vector: shape (dimensions,).
        depth: how many entries.
    """
    statement = queries["nearest_entries"].format(dimensions=sql.Literal(generations[0].dimensions))
    return connection.execute(
        statement,
        {
            "vector": HalfVector(vector),
            "generations": [generation.id for generation in generations],
            "depth": depth,
        },
    ).fetchall()


def keyword_leg(connection: Connection, scope: Scope, query: str, depth: int) -> list[int] | None:
    """Return chunk ids by full-text rank; None where the query has no word to look for."""
    row = connection.execute(
        queries["keyword_query"],
        {
            "query": query,
            "configurations": scope.configurations,
            "partitions": [f"sourcebook.search_entry_{number}" for number in scope.ids],
            "most": max(MOST_CANDIDATES, 4 * depth),
        },
    ).fetchone()
    if row is None or row[0] is None:
        return None
    found = connection.execute(
        queries["matching_entries"],
        {"query": row[0], "candidates": row[1], "generations": scope.ids, "depth": depth},
    )
    return [chunk for chunk, _ in found]

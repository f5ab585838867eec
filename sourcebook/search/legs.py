"""The two legs of a search: by meaning and by words. Each returns chunk ids, best first."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg import Connection, sql

from sourcebook.database.queries import queries
from sourcebook.search.scope import Scope, ScopedGeneration

EF_SEARCH = 100
"""Breadth of an HNSW scan; iterative scans go on from there where a filter leaves too little."""


def vector_leg(
    connection: Connection, generations: Sequence[ScopedGeneration], vector: NDArray[np.float32], depth: int
) -> list[tuple[int, float]]:
    """Return (chunk id, cosine distance) of the entries nearest to a query vector.

    Args:
        connection: in autocommit mode.
        generations: all of one model.
        vector: shape (dimensions,).
        depth: how many entries.
    """
    statement = queries["nearest_entries"].format(dimensions=sql.Literal(generations[0].dimensions))
    with connection.transaction():
        connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
        connection.execute(sql.SQL("SET LOCAL hnsw.ef_search = {}").format(sql.Literal(max(EF_SEARCH, depth))))
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
        queries["keyword_query"], {"query": query, "configurations": scope.configurations}
    ).fetchone()
    lexemes = row[0] if row else ""
    if not lexemes:
        return None
    found = connection.execute(
        queries["matching_entries"],
        {"query": lexemes, "candidates": lexemes, "generations": scope.ids, "depth": depth},
    )
    return [chunk for chunk, _ in found]

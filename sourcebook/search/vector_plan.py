"""How PostgreSQL does what the vector leg asked for."""

from collections.abc import Sequence

import numpy as np
from pgvector import HalfVector
from psycopg import Connection, sql

from sourcebook.database.queries import queries
from sourcebook.search.condition import EntryCondition
from sourcebook.search.plans import explained
from sourcebook.search.scope import ScopedGeneration
from sourcebook.search.vector_leg import EVERY_ENTRY, VectorRanking


def vector_plan(
    connection: Connection,
    generations: Sequence[ScopedGeneration],
    ranking: VectorRanking,
    depth: int,
    condition: EntryCondition | None,
) -> str:
    """Return the plan of the statement that made a ranking; that of any vector is the same."""
    condition = condition or EVERY_ENTRY
    dimensions = generations[0].dimensions
    statement = queries["nearest_exactly" if ranking.plan == "exact" else "nearest_by_index"]
    parameters = {
        **condition.parameters,
        "vector": HalfVector(np.ones(dimensions, np.float32)),
        "generations": [generation.id for generation in generations],
        "depth": depth,
        "budget": depth,
    }
    return explained(
        connection, statement.format(condition=condition.text, dimensions=sql.Literal(dimensions)), parameters
    )

"""Contexts that were made before, and the states of the collections that they were made of."""

import json
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Final, Self

from psycopg import Connection

from sourcebook.contract.context_results import ContextResult
from sourcebook.contract.search import SearchRequest
from sourcebook.database.queries import queries
from sourcebook.search.recent_cache import RecentCache

_MOST_CONTEXTS: Final = 256
"""Contexts that are kept, and states."""


@dataclass(frozen=True, slots=True)
class ContextState:
    """Collections that a context is made of, as they were at one moment; equal ones give equal contexts."""

    generations: tuple[tuple[Any, ...], ...]
    """Name of the collection, id of the generation, what every publication changes, and options of searches."""
    logged: tuple[str, ...]
    """Names of the collections that log queries."""
    redactions: tuple[tuple[str, str], ...]
    """Names of the collections that redact, and their settings as JSON."""

    @classmethod
    def read(cls, connection: Connection, request: SearchRequest) -> Self:
        """Return the state of the collections that a search covers; those that do not exist are left out."""
        named = None if request.collections is None else list(request.collections)
        covered = {"collections": named, "generations": list(request.generation)}
        rows = connection.execute(queries["context_state"], covered).fetchall()
        return cls(
            tuple(tuple(row[:-2]) for row in rows),
            tuple(row[0] for row in rows if row[-2]),
            tuple((row[0], json.dumps(row[-1], sort_keys=True)) for row in rows if row[-1] is not None),
        )

    @property
    def ids(self) -> set[int]:
        """Ids of the generations."""
        return {row[1] for row in self.generations if row[1] is not None}

    @property
    def redacted_ids(self) -> set[int]:
        """Ids of the generations of collections that redact."""
        names = {name for name, _ in self.redactions}
        return {row[1] for row in self.generations if row[0] in names}

    @property
    def has_patterns(self) -> bool:
        """Whether a collection redacts by patterns of its own, whose file may change."""
        return any(json.loads(settings).get("patterns") for _, settings in self.redactions)


@dataclass(frozen=True, slots=True)
class ContextCache:
    """Contexts by what was asked, and the state in which collections were seen last."""

    contexts: RecentCache[Hashable, tuple[ContextState, ContextResult]] = field(
        default_factory=lambda: RecentCache(_MOST_CONTEXTS)
    )
    states: RecentCache[Hashable, ContextState] = field(default_factory=lambda: RecentCache(_MOST_CONTEXTS))
    """By the collections and the generations that a search names."""

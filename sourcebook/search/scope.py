"""Which generations a search covers."""

from dataclasses import dataclass

from psycopg import Connection

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.search.request import SearchRequest


@dataclass(frozen=True, slots=True)
class ScopedGeneration:
    """One generation that is searched."""

    collection: str
    id: int
    model: str
    embedding: EmbeddingSettings
    dimensions: int
    configurations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """The generations of a search; empty where nothing was ingested yet."""

    generations: tuple[ScopedGeneration, ...]
    not_indexed: tuple[str, ...] = ()
    """Collections that were asked for, or are among all, and have nothing searchable yet."""

    @property
    def ids(self) -> list[int]:
        """The generations' ids: what prunes the partitions."""
        return [generation.id for generation in self.generations]

    @property
    def configurations(self) -> list[str]:
        """Every text-search configuration that documents in the scope were indexed with."""
        return sorted({name for generation in self.generations for name in generation.configurations})

    def by_model(self) -> dict[str, list[ScopedGeneration]]:
        """Generations that share a model are searched with one vector."""
        groups: dict[str, list[ScopedGeneration]] = {}
        for generation in self.generations:
            groups.setdefault(generation.model, []).append(generation)
        return groups


def find_scope(connection: Connection, request: SearchRequest) -> Scope:
    """Return what the request covers.

    Raises:
        QueryError: a collection does not exist.
    """
    wanted = None if request.collections is None else list(request.collections)
    rows = connection.execute(queries["search_scope"], {"collections": wanted}).fetchall()
    missing = sorted(set(wanted or ()) - {row[0] for row in rows})
    if missing:
        known = [row[0] for row in connection.execute(queries["collections"])]
        raise QueryError(
            f"there is no collection {', '.join(repr(name) for name in missing)}; "
            f"there is {', '.join(known) if known else 'none yet: run sourcebook ingest'}"
        )
    return Scope(
        tuple(
            ScopedGeneration(
                name, number, model, EmbeddingSettings.model_validate(embedding), dimensions, tuple(configurations)
            )
            for name, number, model, embedding, dimensions, configurations in rows
            if number is not None
        ),
        tuple(row[0] for row in rows if row[1] is None),
    )

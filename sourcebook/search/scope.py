"""Scope of a search: the generations that it covers, and the condition that every found entry fulfils."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Self, cast

from psycopg import Connection, sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from sourcebook.config.names import unknown_collections
from sourcebook.contract.faces import advice
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError, UnknownCollectionError
from sourcebook.redaction.for_models import redactions_in_force

if TYPE_CHECKING:
    from sourcebook.config.passages import EmbeddingSettings


class _StoredEmbedding:
    """Embedding settings of a generation, which are validated where a search asks for more than most do.

    Importing pydantic and the settings takes a tenth of the first search of a process; decision 0128.
    """

    def __init__(self, stored: Mapping[str, Any]) -> None:
        self._stored = stored
        self.provider = stored.get("provider")
        self.dimensions = stored.get("dimensions")

    def __getattr__(self, name: str) -> Any:
        from sourcebook.config.passages import EmbeddingSettings

        return getattr(EmbeddingSettings.model_validate(self._stored), name)


@dataclass(frozen=True, slots=True)
class ScopedGeneration:
    """One generation that a search covers."""

    collection: str
    id: int
    model: str
    """Identity of the embedding model."""
    embedding: "EmbeddingSettings"
    dimensions: int
    configurations: tuple[str, ...]
    """Text-search configurations that its entries were indexed with."""
    entries: int | None = None
    """Number of its entries; None where it was not looked up: the vector leg does so, as for the index."""
    stored: int = 0
    """About how many entries are stored, those that the reader may not see included: the planner's statistics."""
    vector_indexes: Sequence[str] = ()
    """Names of its HNSW indexes."""
    has_vectors: bool = True
    """Whether any of its documents has vectors, as none has at the beginning of a first ingest."""
    awaits_vectors: bool = False
    """Whether passages of new documents have no vectors yet."""


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Generations that a search covers; empty before the first ingest."""

    generations: tuple[ScopedGeneration, ...]
    not_indexed: tuple[str, ...] = ()
    """Requested collections, or all of them, that have nothing searchable yet."""
    logged: tuple[str, ...] = ()
    """Collections whose searches stand in the query log."""
    redactions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Settings of redaction for the reader by the name of the collection; of others nothing is redacted."""
    filling: tuple[str, ...] = ()
    """Collections that may still be being filled."""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    """Settings of synonyms as JSON by the name of the collection; of collections without, the defaults hold."""
    explaining: tuple[str, ...] = ()
    """Collections with documents that explain abbreviations."""
    audiences: Sequence[int] | None = None
    """Audiences of the reader; None where it sees everything."""
    counts: str | None = None
    """Numbers under which the entries are counted that the reader sees, as PostgreSQL writes an array."""
    hidden: Sequence[int] = ()
    """Documents that were hidden from search by hand."""
    boosts: Mapping[int, float] = field(default_factory=dict)
    """Factors by the ids of documents that were boosted by hand."""
    defaults: Mapping[str, float] = field(default_factory=dict)
    """Options for requests that leave them to the collections, which agree on them."""
    words_version: int = 0
    """Version of the function that makes the lexemes of words."""

    @property
    def ids(self) -> list[int]:
        """The generations' ids, by which PostgreSQL prunes partitions."""
        return [generation.id for generation in self.generations]

    @property
    def configurations(self) -> list[str]:
        """Every text-search configuration that an entry in scope was indexed with."""
        return sorted({name for generation in self.generations for name in generation.configurations})

    def without_vectors(self, skipped: Callable[[ScopedGeneration], bool]) -> "SearchScope":
        """Return the scope with some of the generations that wait for vectors searched by words alone."""
        generations = (
            replace(each, has_vectors=False) if each.awaits_vectors and skipped(each) else each
            for each in self.generations
        )
        return replace(self, generations=tuple(generations))

    def by_model(self) -> dict[str, list[ScopedGeneration]]:
        """Return the generations with entries by embedding model: one query vector serves all of a group.

        A generation without entries or without vectors is left out, so that no model is loaded to find nothing.
        """
        groups: dict[str, list[ScopedGeneration]] = {}
        for generation in self.generations:
            if not (generation.configurations and generation.has_vectors):
                continue
            groups.setdefault(generation.model, []).append(generation)
        return groups


def find_scope(
    connection: Connection, collections: Sequence[str] | None, generations: Sequence[int] = ()
) -> SearchScope:
    """Return the generations that a search covers: the active one of each collection, or the chosen one.

    Args:
        connection: to the knowledge base.
        collections: names; where None the collections of the chosen generations, or else all collections.
        generations: ids of generations, at most one of a collection.

    Raises:
        QueryError: a collection or a generation does not exist, or two generations are of one collection.
    """
    chosen: list[tuple[str, int]] = []
    if generations:
        chosen = connection.execute(queries["chosen_generations"], {"generations": list(generations)}).fetchall()
    wanted = [name for name, _ in chosen] if generations and collections is None else collections
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(_statement(None if wanted is None else tuple(wanted), tuple(chosen))).fetchall()
    names = {row["name"] for row in rows}
    missing = sorted(set(collections or ()) - names)
    if missing:
        known = [row[0] for row in connection.execute(queries["collections"])]
        raise UnknownCollectionError(unknown_collections(missing, known))
    _check_chosen(generations, [each for each in chosen if each[0] in names])
    curated: dict[int, float] = {}
    if any(row["is_curated"] for row in rows):
        curated = dict(connection.execute(queries["curated_documents"], {"collections": sorted(names)}).fetchall())
    return SearchScope(
        tuple(
            ScopedGeneration(
                collection=row["name"],
                id=row["id"],
                model=row["model"],
                embedding=cast("EmbeddingSettings", _StoredEmbedding(row["embedding"])),
                dimensions=row["dimensions"],
                configurations=tuple(row["configurations"]),
                entries=row["entry_count"],
                stored=row["stored"],
                vector_indexes=row["vector_indexes"],
                has_vectors=row["has_vectors"],
                awaits_vectors=row["awaits_vectors"],
            )
            for row in rows
            if row["id"] is not None
        ),
        not_indexed=tuple(row["name"] for row in rows if row["id"] is None),
        logged=tuple(row["name"] for row in rows if row["is_logged"]),
        redactions=redactions_in_force({row["name"]: row["redaction"] for row in rows}),
        filling=tuple(row["name"] for row in rows if row["is_filling"]),
        synonyms={row["name"]: row["synonyms"] for row in rows if row["synonyms"] is not None},
        explaining=tuple(row["name"] for row in rows if row["explains"]),
        audiences=rows[0]["audiences"] if rows else None,
        counts=(rows[0]["counts"] or None) if rows else None,
        hidden=sorted(document for document, boost in curated.items() if not boost),
        boosts={document: boost for document, boost in curated.items() if boost},
        defaults=_agreed([row["search"] or {} for row in rows]),
        words_version=rows[0]["words_version"] if rows else 0,
    )


def _agreed(settings: Sequence[Mapping[str, float | None]]) -> dict[str, float]:
    """Return the options that all of some settings have with the same value."""
    first, *others = settings or [{}]
    return {
        name: value
        for name, value in first.items()
        if value is not None and all(each.get(name) == value for each in others)
    }


@lru_cache(maxsize=64)
def _statement(collections: tuple[str, ...] | None, chosen: tuple[tuple[str, int], ...]) -> bytes:
    """Return the statement that reads a scope, with its values in it: searches ask for few different ones."""
    statement = queries["search_scope"].format(
        collections=sql.Literal(None if collections is None else list(collections)),
        chosen=sql.Literal(Jsonb(dict(chosen)) if chosen else None),
    )
    return statement.as_bytes()


def check_generations(connection: Connection, generations: Sequence[int]) -> None:
    """Check that generations exist, which were chosen when a search began.

    Raises:
        QueryError: one does not.
    """
    if generations:
        chosen = connection.execute(queries["chosen_generations"], {"generations": list(generations)}).fetchall()
        _check_chosen(generations, chosen)


def _check_chosen(generations: Sequence[int], found: Sequence[tuple[str, int]]) -> None:
    """Check that each chosen generation is covered, and each collection once."""
    absent = sorted(set(generations) - {number for _, number in found})
    if absent:
        raise QueryError(
            f"there is no generation {', '.join(map(str, absent))} in the collections that are searched"
            f"{advice('generations')}"
        )
    names = [name for name, _ in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise QueryError(f"two of the generations are of the collection {twice[0]!r}: a search covers one of them")


@dataclass(frozen=True, slots=True)
class EntryCondition:
    """A condition on rows of `search_entry`, which the surrounding statement calls `entry`; both legs apply it.

    Values travel as parameters; the SQL text consists of the project's own words alone.
    """

    text: sql.Composable
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Values by parameter name; joined conditions have different names."""
    is_sight: bool = False
    """Whether it says only what the reader sees: but for hidden ones, all `ScopedGeneration.entries` fulfil it."""
    counts: str | None = None
    """Numbers under which those that fulfil it are counted, as PostgreSQL writes an array; None where more decides."""

    @classmethod
    def all_of(cls, conditions: Sequence["EntryCondition"]) -> Self | None:
        """Return the conjunction of the conditions; None where there are none."""
        if not conditions:
            return None
        parameters = {name: value for each in conditions for name, value in each.parameters.items()}
        counts = conditions[0].counts if len(conditions) == 1 else None
        text = sql.SQL(" AND ").join(sql.SQL("({})").format(each.text) for each in conditions)
        return cls(text, parameters, all(each.is_sight for each in conditions), counts)


def array_of(numbers: Iterable[int]) -> str:
    """Return an array as PostgreSQL writes it: the driver takes eight times as long for a list."""
    return f"{{{','.join(map(str, numbers))}}}"


EVERY_ENTRY: Final = EntryCondition(sql.SQL("TRUE"))
"""The condition that every entry fulfils."""

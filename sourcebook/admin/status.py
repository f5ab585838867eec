"""The state of each collection: counts, failures, sources and stale items."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from psycopg import Connection
from psycopg.rows import class_row, dict_row

from sourcebook.admin.collections import check_collections
from sourcebook.admin.model_languages import unknown_languages
from sourcebook.admin.processing import ProcessingItem, processing_items
from sourcebook.admin.usage import SHOWN_DAYS, Usage, usage
from sourcebook.database.queries import queries
from sourcebook.errors import GoneCollectionError
from sourcebook.indexing.damage import Finding
from sourcebook.indexing.generation_states import GenerationState, generation_states
from sourcebook.indexing.generations import find_generations
from sourcebook.model.generation import Generation

if TYPE_CHECKING:
    from sourcebook.admin.pending import Pending

_USED_BY = ("collection", "provider", "model", "operation")


@dataclass(frozen=True, slots=True)
class Problem:
    """A failed or skipped item, or a source that cannot be listed."""

    uri: str
    state: str
    """`failed` or `skipped`."""
    error: str
    attempts: int
    next_retry_at: datetime | None
    failure_class: str | None
    """Class of the failure, one of `FailureClass`; None for a skipped item."""
    parked: bool
    """Whether a failed item waits for a change of its content or the settings, or for somebody to ask."""


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source after its last listing or crawl."""

    kind: str
    """`files` or `site`; `collection` for a membership rule."""
    location: str
    """URL or path; of a membership rule the collection whose documents it takes."""
    listed_at: datetime | None
    """Time of the last complete listing or crawl."""
    listing_error: str | None
    pages: int | None = None
    """Live pages of a site; None for a folder."""
    queued: int | None = None
    """URLs of a site that a crawl has still to request; None for a folder."""
    beyond: int | None = None
    """URLs of a site that `max_pages` leaves out; None for a folder."""
    next_crawl_at: datetime | None = None
    taken: int | None = None
    """Documents that a membership rule takes; None for a folder or a site."""
    left_out: list[dict[str, Any]] | None = None
    """URLs that the patterns of a site left out of its last crawl; None for a folder. See `LeftOut` for the entries."""
    commit: str | None = None
    """Commit of a Git repository that is read; None for others, and before the first fetch."""
    next_fetch_at: datetime | None = None
    """Time of the next look at a Git repository; None for others."""


@dataclass(frozen=True, slots=True)
class CollectionStatus:
    """The state of one collection."""

    name: str
    documents: int
    chunks: int
    """Number of searchable passages."""
    embeddings: int
    """Number of distinct texts among the searchable passages."""
    failed: int
    """Number of failed items and of sources that cannot be listed."""
    skipped: int
    stale: int
    """Number of items that an ingest would process."""
    damaged: int
    """Number of documents, vectors and kept numbers that are not those that were written."""
    removed: int
    generation: int | None
    """Id of the active generation; None before the first ingest."""
    embedding_model: str | None
    engine: dict[str, str] | None
    """Engine that computed the latest vectors: `name`, `precision`, `device`, `reason`; None where none is recorded."""
    generated_indexes: int
    """Number of searchable documents that are generated indexes, whose passages have no vectors."""
    passages_without_vector: int
    """Number of their passages, which the keyword leg alone finds."""
    problems: tuple[Problem, ...]
    sources: tuple[SourceStatus, ...]
    unlisted: tuple[str, ...]
    """Reasons why sources cannot be listed now."""
    building: GenerationState | None = None
    """Generation that is built beside the active one."""
    generation_error: str | None = None
    """Reason why no generation by the applied settings can be begun."""
    damage: tuple[Finding, ...] = ()
    """Damaged items with the reasons; the next ingest mends them."""
    unknown_languages: dict[str, int] = field(default_factory=dict)
    """Numbers of documents by language, for languages that the embedding model does not know."""
    lacking: dict[str, int] = field(default_factory=dict)
    """Numbers of documents by type, of those without metadata that their type promises."""
    unread_front_matter: dict[str, str] = field(default_factory=dict)
    """URIs of documents with front matter that cannot be read, with the line and the reason; at most ten."""
    processing: tuple[ProcessingItem, ...] = ()
    """Items that a process works on now."""
    usage: tuple[Usage, ...] = ()
    """Use of models in the last 30 days, by provider, model and operation."""
    declared_in: str = "file"
    """`file`: `sourcebook.yaml`; `api`: made over the API."""

    def as_dict(self) -> dict[str, Any]:
        """Return the plain values that `sourcebook status --json` prints."""
        return {**asdict(self), "usage": [each.as_dict() for each in self.usage]}


def collection_statuses(connection: Connection, names: Sequence[str] = ()) -> list[CollectionStatus]:
    """Return the state of collections; files are compared with the ledger by size and modification time.

    Args:
        connection: to the knowledge base.
        names: of collections; every collection where empty.

    Raises:
        QueryError: a collection does not exist.
    """
    from sourcebook.admin.pending import find_pending  # imports parsers and the crawler, which the types do not need

    check_collections(connection, names)
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(queries["collection_status"], {"names": list(names)}).fetchall()
    marks = processing_items(connection, names)
    found = []
    for row in rows:
        with suppress(GoneCollectionError):  # it was deleted meanwhile
            found.append(_status(connection, row, marks, find_pending))
    return found


def _status(
    connection: Connection,
    row: dict[str, Any],
    marks: Sequence[ProcessingItem],
    find_pending: "Callable[[Connection, str], Pending]",
) -> CollectionStatus:
    """Return the state of one collection, whose counts are known."""
    scope = {"collection": row["name"]}
    uris = problem_uris(connection, row["name"])
    with connection.cursor(row_factory=class_row(Problem)) as cursor:
        problems = cursor.execute(queries["collection_problems"], {**scope, "uris": uris}).fetchall()
    with connection.cursor(row_factory=class_row(SourceStatus)) as cursor:
        sources = cursor.execute(queries["source_listings"], scope).fetchall()
    pending = find_pending(connection, row["name"])
    generations = find_generations(connection, row["name"])
    return CollectionStatus(
        **row,
        failed=sum(problem.state == "failed" for problem in problems),
        skipped=sum(problem.state == "skipped" for problem in problems),
        stale=pending.items,
        damaged=pending.damaged,
        damage=pending.damage,
        problems=tuple(problems),
        sources=tuple(sources),
        unlisted=pending.unlisted,
        building=None if generations.building is None else _building(connection, generations.building),
        generation_error=generations.error,
        unknown_languages=unknown_languages(connection, row["name"]),
        lacking=dict(connection.execute(queries["lacking_documents"], scope).fetchall()),
        unread_front_matter=dict(connection.execute(queries["unread_front_matter"], scope).fetchall()),
        processing=tuple(mark for mark in marks if mark.collection == row["name"]),
        usage=tuple(usage(connection, [row["name"]], since=SHOWN_DAYS, by=_USED_BY)),
    )


def _building(connection: Connection, generation: Generation) -> GenerationState:
    (state,) = generation_states(connection, generation=generation.id)
    return state


def failures(connection: Connection, collection: str) -> dict[str, str]:
    """Return the reasons of a collection's failed items by URI, and of its unlisted sources by location."""
    scope = {"collection": collection, "uris": problem_uris(connection, collection, skipped=False)}
    return dict(connection.execute(queries["failed_places"], scope).fetchall())


def problem_uris(connection: Connection, collection: str, *, skipped: bool = True) -> list[str]:
    """Return the URIs of a collection that may have failed or, on request, been skipped.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        skipped: whether to return skipped items as well.
    """
    rows = connection.execute(queries["problem_uris"], {"collection": collection, "skipped": skipped})
    return [uri for (uri,) in rows]

"""The state of each collection: counts, failures, sources and stale items."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection
from psycopg.rows import class_row, dict_row

from sourcebook.admin.collections import check_collections
from sourcebook.database.queries import queries


@dataclass(frozen=True, slots=True)
class Problem:
    """A failed or skipped item, or a source that cannot be listed."""

    uri: str
    state: str
    """`failed` or `skipped`."""
    error: str
    attempts: int
    next_retry_at: datetime | None


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source after its last listing or crawl."""

    kind: str
    """`files` or `site`."""
    location: str
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
    removed: int
    generation: int | None
    """Id of the active generation; None before the first ingest."""
    embedding_model: str | None
    problems: tuple[Problem, ...]
    sources: tuple[SourceStatus, ...]
    unlisted: tuple[str, ...]
    """Reasons why sources cannot be listed now."""

    def as_dict(self) -> dict[str, Any]:
        """Return the plain values that `sourcebook status --json` prints."""
        return asdict(self)


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
    found = []
    for row in rows:
        scope = {"collection": row["name"]}
        with connection.cursor(row_factory=class_row(Problem)) as cursor:
            problems = cursor.execute(queries["collection_problems"], scope).fetchall()
        with connection.cursor(row_factory=class_row(SourceStatus)) as cursor:
            sources = cursor.execute(queries["source_listings"], scope).fetchall()
        row["failed"] += sum(source.listing_error is not None for source in sources)
        pending = find_pending(connection, row["name"])
        found.append(
            CollectionStatus(
                **row,
                stale=pending.items,
                problems=tuple(problems),
                sources=tuple(sources),
                unlisted=pending.unlisted,
            )
        )
    return found

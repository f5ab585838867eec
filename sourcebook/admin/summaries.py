"""Contents of each collection, by kept counts: nothing is compared with the sources."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.collections import check_collections
from sourcebook.database.queries import queries


@dataclass(frozen=True, slots=True)
class CollectionSummary:
    """Contents of one collection."""

    name: str
    documents: int
    chunks: int
    """Number of searchable passages."""
    embeddings: int
    """Number of distinct texts among the searchable passages."""
    removed: int
    """Number of removed documents."""
    generation: int | None
    """Id of the active generation; None before the first ingest."""
    embedding_model: str | None
    dimensions: int | None
    """Numbers of a vector; None before the first ingest."""
    declared_in: str = "file"
    """`file`: `sourcebook.yaml`; `api`: made over the API."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def collection_summaries(connection: Connection, names: Sequence[str] = ()) -> list[CollectionSummary]:
    """Return what collections hold, in alphabetical order.

    Args:
        connection: to the knowledge base.
        names: of collections; every collection where empty.

    Raises:
        QueryError: a collection does not exist.
    """
    check_collections(connection, names)
    with connection.cursor(row_factory=class_row(CollectionSummary)) as cursor:
        return cursor.execute(queries["collection_summaries"], {"names": list(names)}).fetchall()

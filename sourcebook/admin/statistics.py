"""Statistics of each collection: documents by state, kind, media type and language, and failures by class."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from psycopg import Connection

from sourcebook.admin.summaries import CollectionSummary, collection_summaries
from sourcebook.database.queries import queries


@dataclass(frozen=True, slots=True)
class CollectionStatistics:
    """Counts of one collection."""

    name: str
    documents: int
    chunks: int
    """Number of searchable passages."""
    states: dict[str, int] = field(default_factory=dict)
    """Number of documents by state: `ready`, `pending`, `failed`, `skipped`, `removed`."""
    failures: dict[str, int] = field(default_factory=dict)
    """Number of failed files, pages, documents and sources by class of the failure."""
    kinds: dict[str, int] = field(default_factory=dict)
    """Number of documents by kind: `file`, `page`, `recording`."""
    media_types: dict[str, int] = field(default_factory=dict)
    languages: dict[str, int] = field(default_factory=dict)
    """Number of documents by ISO 639-1 code; documents of unknown language are left out."""
    types: dict[str, int] = field(default_factory=dict)
    """Number of documents by type, such as `adr`; documents without a type are left out."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def collection_statistics(connection: Connection, names: Sequence[str] = ()) -> list[CollectionStatistics]:
    """Return the counts of collections, in alphabetical order; the sources are not looked at.

    Args:
        connection: to the knowledge base.
        names: of collections; every collection where empty.

    Raises:
        QueryError: a collection does not exist.
    """
    found = {each.name: _empty(each) for each in collection_summaries(connection, names)}
    for name, state, number in connection.execute(queries["document_states"]):
        if name in found:
            found[name].states[state] = number
    for name, _, failure, number in connection.execute(queries["failures"]):
        if name in found:
            failures = found[name].failures
            failures[failure] = failures.get(failure, 0) + number
    for name, facet, value, number in connection.execute(queries["document_facets"], {"names": list(found)}):
        getattr(found[name], facet)[value] = number
    return list(found.values())


def _empty(summary: CollectionSummary) -> CollectionStatistics:
    return CollectionStatistics(summary.name, summary.documents, summary.chunks)

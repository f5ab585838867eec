"""Statistics of each collection: documents by state, kind, media type and language, and failures by class."""

from collections.abc import Sequence

from psycopg import Connection

from sourcebook.admin.summaries import collection_summaries
from sourcebook.contract.collections import CollectionStatistics, CollectionSummary
from sourcebook.database.queries import queries


def collection_statistics(connection: Connection, names: Sequence[str] = ()) -> list[CollectionStatistics]:
    """Return the counts of collections, in alphabetical order; the sources are not looked at."""
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

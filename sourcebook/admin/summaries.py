"""Contents of each collection, by kept counts, and its sources: nothing is compared with the sources."""

from collections.abc import Sequence
from dataclasses import replace

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.collections import check_collections, collection_names
from sourcebook.contract.collections import CollectionSources, CollectionStatistics, CollectionSummary
from sourcebook.contract.status import SourceStatus
from sourcebook.database.queries import queries
from sourcebook.indexing.filling import find_filling


def collection_summaries(connection: Connection, names: Sequence[str] = ()) -> list[CollectionSummary]:
    """Return what collections hold, in alphabetical order."""
    check_collections(connection, names)
    filling = find_filling(connection, names)
    with connection.cursor(row_factory=class_row(CollectionSummary)) as cursor:
        found = cursor.execute(queries["collection_summaries"], {"names": list(names)}).fetchall()
    return [replace(each, filling=filling.get(each.name)) for each in found]


def collection_statistics(connection: Connection, names: Sequence[str] = ()) -> list[CollectionStatistics]:
    """Return the counts of collections, in alphabetical order; the sources are not looked at."""
    summaries = collection_summaries(connection, names)
    found = {each.name: CollectionStatistics(each.name, each.documents, each.chunks) for each in summaries}
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


def collection_sources(connection: Connection, names: Sequence[str] = ()) -> list[CollectionSources]:
    """Return the sources of collections, in alphabetical order; nothing is looked up in the sources."""
    check_collections(connection, names)
    found = []
    for name in sorted(set(names) or collection_names(connection)):
        with connection.cursor(row_factory=class_row(SourceStatus)) as cursor:
            rows = cursor.execute(queries["source_listings"], {"collection": name}).fetchall()
        found.append(CollectionSources(name, tuple(rows)))
    return found

"""Relations of a page: what supersedes a result, its other versions, and the documents that the results refer to."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.contract.other_documents import LinkedDocument
from sourcebook.contract.search_results import SearchResult
from sourcebook.database.queries import queries
from sourcebook.database.redacted_titles import redacted_titles
from sourcebook.search.scope import EntryCondition
from sourcebook.search.versions import Known, other_versions

MOST_LINKED: Final = 20
"""Documents of `SearchResults.linked`, at most."""
MOST_SUPERSEDING: Final = 20
"""Documents of `SearchResult.superseded_by`, at most: a thousand may say that they supersede the same one."""


def with_versions(
    connection: Connection,
    results: Sequence[SearchResult],
    generations: Sequence[int],
    condition: EntryCondition | None,
    redactions: Mapping[str, Mapping[str, Any]],
    possible: Sequence[dict[str, Any]] | None = None,
) -> tuple[SearchResult, ...]:
    """Return results with the other versions of their documents.

    Args:
        connection: to the knowledge base.
        results: of one page.
        generations: ids of those that were searched.
        condition: on entries, of the filters: versions that they exclude are not named.
        redactions: settings of redaction by the name of the collection.
        possible: from `possible_versions`, where it was asked already.
    """
    found = other_versions(connection, known_of(results), generations, condition, possible)
    every = [(each.collection, each.document_id, each.title) for listed in found.values() for each in listed]
    titles = iter(redacted_titles(connection, every, redactions))
    shown = {
        document: tuple(replace(each, title=next(titles)) for each in listed) for document, listed in found.items()
    }
    return tuple(
        replace(result, versions=shown[result.document_id]) if result.document_id in shown else result
        for result in results
    )


def known_of(results: Sequence[SearchResult]) -> dict[int, Known]:
    """Return what is known of the documents of results by their ids."""
    return {result.document_id: Known(result.uri, result.title or "") for result in results}


def with_relations(
    connection: Connection,
    results: Sequence[SearchResult],
    kinds: Sequence[str],
    redactions: Mapping[str, Mapping[str, Any]],
    *,
    supersedes: bool = True,
) -> tuple[tuple[SearchResult, ...], tuple[LinkedDocument, ...]]:
    """Return results with what supersedes them, and the documents that they refer to.

    Args:
        connection: to the knowledge base.
        results: of one page.
        kinds: kinds of relations of the documents that are returned beside them.
        redactions: settings of redaction by the name of the collection.
        supersedes: whether any of the documents supersedes another one, or is superseded.
    """
    ids = list({result.document_id for result in results})
    if not ids or not (supersedes or kinds):
        return tuple(results), ()
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(queries["superseding_documents"], {"documents": ids, "most": MOST_SUPERSEDING}).fetchall()
        scope = {"documents": ids, "kinds": list(kinds), "limit": MOST_LINKED}
        linked = cursor.execute(queries["linked_documents"], scope).fetchall() if kinds else []
    every = [*rows, *linked]
    named = [(row["collection"], row["document_id"], row["title"]) for row in every]
    for row, title in zip(every, redacted_titles(connection, named, redactions), strict=True):
        row["title"] = title
    by_document: dict[int, list[LinkedDocument]] = {}
    for row in rows:
        by_document.setdefault(row.pop("superseded_id"), []).append(LinkedDocument(**row))
    shown = (
        replace(result, superseded_by=tuple(by_document[result.document_id]))
        if result.document_id in by_document
        else result
        for result in results
    )
    return tuple(shown), tuple(LinkedDocument(**row) for row in linked)

"""Passages of the documents that the best ones of a search refer to."""

from dataclasses import replace
from typing import Final

from sourcebook.context.passages import ContextPassage, passages_of
from sourcebook.contract.filters import Filters
from sourcebook.contract.search import ContextRequest
from sourcebook.contract.search_results import SearchResults
from sourcebook.database.queries import queries
from sourcebook.search.ranking.state import SearchResources
from sourcebook.search.run import run_search

_LINKING: Final = 5
"""Best documents of a search whose relations lead further."""
_MOST_LINKED: Final = 20
"""Documents that they lead to, at most: those that most of them name first."""
_PASSAGES: Final = 20
"""Passages of these that are looked at, those that answer best first."""


def linked_passages(
    resources: SearchResources, request: ContextRequest, results: SearchResults
) -> list[ContextPassage]:
    """Return passages of documents that the best documents of a search refer to, best first.

    They fulfil the filters of the request. Where these name documents, no other one comes in.

    Args:
        resources: means of the search.
        request: with the kinds of relations that are followed.
        results: its first page.
    """
    search = request.search
    filters = search.filters or Filters()
    best = list(dict.fromkeys(result.document_id for result in results))[:_LINKING]
    if not (search.expand and best) or filters.documents is not None:
        return []
    wanted = {"documents": best, "kinds": list(search.expand), "limit": _MOST_LINKED}
    with resources.connections.hold() as held:
        linked = [row[0] for row in held.connection.execute(queries["linked_documents"], wanted)]
    if not linked:
        return []
    among = replace(
        search,
        filters=replace(filters, documents=linked),
        limit=_PASSAGES,
        min_relevance=search.min_relevance or 0.0,
        log=False,
        expand=(),
    )
    found = run_search(resources, among)
    return [replace(passage, is_linked=True) for passage in passages_of(found, len(results))]

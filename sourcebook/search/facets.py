"""Facets of a search: its documents counted by collection, kind, media type, language, tag and year."""

from collections.abc import Collection
from typing import Final

from psycopg import Connection

from sourcebook.contract.search_results import Facets
from sourcebook.database.queries import queries

FACETS: Final = ("collection", "kind", "type", "media_type", "language", "tag", "year")
"""Names of the facets."""
COUNTED: Final = 1_000
"""Passages that are ranked, at least, where a search counts facets: their documents are counted."""
_MOST_VALUES: Final = 100
"""Values of a facet, at most: the most frequent ones."""


def count_facets(connection: Connection, documents: Collection[int]) -> Facets:
    """Return the facets of documents.

    Args:
        connection: to the knowledge base.
        documents: ids, each once.
    """
    counted: dict[str, dict[str, int]] = {name: {} for name in FACETS}
    rows = connection.execute(queries["facets"], {"documents": list(documents), "most": _MOST_VALUES})
    for name, value, number in rows:
        counted[name][value] = number
    return counted

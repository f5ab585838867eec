"""Documents in languages that the embedding model of their collection does not know."""

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.embedding.weights import known_languages

LEAST_DOCUMENTS = 3
"""Documents of a language below which it counts as a mistake of language identification."""
LEAST_SHARE = 0.01
"""Share of a collection's documents below which a language counts as such a mistake, too."""


def unknown_languages(connection: Connection, collection: str) -> dict[str, int]:
    """Return the numbers of searchable documents by language, for languages unknown to the active generation's model.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.

    Returns:
        Number of documents by ISO 639-1 code, the most frequent first; nothing where the model's languages are unknown.
    """
    row = connection.execute(queries["active_model"], {"collection": collection}).fetchone()
    known = None if row is None else known_languages(row[1])
    if row is None or known is None:
        return {}
    generation, _, documents = row
    found = connection.execute(queries["other_languages"], {"generation": generation, "known": sorted(known)})
    least = max(LEAST_DOCUMENTS, LEAST_SHARE * documents)
    return {language: number for language, number in found if number >= least}

"""The first question to a collection's provider, before any document is read: a wrong key shows at once."""

from psycopg import Connection

from sourcebook.embedding.remote.access import ProviderAccess
from sourcebook.embedding.settled import settle_model
from sourcebook.errors import MissingDependencyError, ModelError
from sourcebook.indexing.generations import find_generations


def check_first_provider(connection: Connection, collection: str) -> None:
    """Ask the provider of a collection's first generation, where one is about to begin.

    Raises:
        ModelError: the provider refuses or does not answer, or its vectors cannot be indexed.
    """
    found = find_generations(connection, collection)
    if found.embedding.provider is None or found.active is not None or found.step != "build":
        return
    try:
        settle_model(found.embedding, ProviderAccess.through(connection, collection))
    except (ModelError, MissingDependencyError) as error:
        raise ModelError(f"collection {collection}: {error}") from None

"""`sourcebook ingest --type`: the documents of some types, as the selection of an ingest."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourcebook.cli.context import CommandContext


def documents_by_type(
    context: "CommandContext", collections: list[str], types: list[str]
) -> tuple[list[str], tuple[str, ...]]:
    """Return the collections that have documents of some types, and the URIs of these.

    Args:
        context: the global options.
        collections: names; every collection where empty.
        types: types of documents, such as `adr`.

    Raises:
        QueryError: a collection does not exist, or none has such a document.
    """
    from sourcebook.admin.collections import collection_names
    from sourcebook.database.queries import queries
    from sourcebook.errors import QueryError

    found: dict[str, list[str]] = {}
    if not context.is_empty(collections):
        with context.open_database() as database, database.connection() as connection:
            for name in collections or collection_names(connection):
                rows = connection.execute(queries["documents_of_types"], {"collection": name, "types": types})
                if uris := [uri for (uri,) in rows]:
                    found[name] = uris
    if not found:
        where = ", ".join(collections) if collections else "any collection"
        raise QueryError(
            f"there is no document of the type {' or '.join(types)} in {where}; see  types  in its settings"
        )
    return list(found), tuple(uri for uris in found.values() for uri in uris)

"""Removal of single documents, and deletion of everything that was removed."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.collections import check_collections
from sourcebook.admin.items import other_urls, possible_uris
from sourcebook.database.database import Database
from sourcebook.database.lock import collection_lock
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError, UnknownDocumentError
from sourcebook.indexing.generations import active_generation
from sourcebook.model.generation import Generation
from sourcebook.stages.search_index import withdraw


@dataclass(frozen=True, slots=True)
class RemovedItem:
    """An item that was removed from a collection or restored."""

    collection: str
    uri: str
    document_id: int | None
    """Id of the document; None for a file or page that is no document."""


@dataclass(frozen=True, slots=True)
class Purged:
    """Numbers of rows that a purge deletes."""

    collections: int = 0
    sources: int = 0
    files: int = 0
    pages: int = 0
    documents: int = 0
    chunks: int = 0
    parsed_contents: int = 0
    transcripts: int = 0
    embeddings: int = 0

    def as_dict(self) -> dict[str, int]:
        """Return the counts by name."""
        return asdict(self)

    @property
    def total(self) -> int:
        """Sum of all counts."""
        return sum(self.as_dict().values())


def remove_items(connection: Connection, document: str, collection: str | None = None) -> list[RemovedItem]:
    """Remove an item from its collections although its source still has it, in one transaction.

    The item is no longer searchable, and no ingest brings it back until `restore_items`.

    Args:
        connection: in autocommit mode.
        document: an id, a URI or a local path.
        collection: the only collection to remove it from; None for all.

    Raises:
        UnknownDocumentError: no collection has the item.
        QueryError: the collection does not exist.
    """
    uri, collection = _place(connection, document, collection)
    scope = {"uri": uri, "collection": collection}
    with connection.transaction():
        names = sorted(
            {
                name
                for exclude in ("exclude_files", "exclude_pages")
                for (name,) in connection.execute(queries[exclude], scope)
            }
        )
        for name in names:
            removed = connection.execute(
                queries["remove_excluded_document"], {"uri": uri, "collection": name}
            ).fetchall()
            generation = active_generation(connection, name)
            if generation is not None:
                withdraw(connection, generation, [number for (number,) in removed])
        return [_removed(connection, name, uri) for name in names]


def restore_items(connection: Connection, document: str, collection: str | None = None) -> list[RemovedItem]:
    """Undo `remove_items`; the next ingest makes the item searchable.

    Raises:
        UnknownDocumentError: no collection has the item.
        QueryError: the collection does not exist.
    """
    uri, collection = _place(connection, document, collection)
    with connection.transaction():
        scope = {"uri": uri, "collection": collection}
        names = {
            name
            for include in ("include_files", "include_pages")
            for (name,) in connection.execute(queries[include], scope)
        }
        return [_removed(connection, name, uri) for name in sorted(names)]


def purgeable(connection: Connection) -> Purged:
    """Count what `purge` would delete."""
    with connection.cursor(row_factory=class_row(Purged)) as cursor:
        found = cursor.execute(queries["count_purgeable"]).fetchone()
    return found or Purged()


def purge(database: Database, *, waiting: Callable[[str], None] = lambda _: None) -> Purged:
    """Delete removed rows and everything that only they need, in one transaction, once no ingest is running.

    Args:
        database: the knowledge base.
        waiting: called with the name of a collection that is being ingested.
    """
    with ExitStack() as locks, database.connection() as connection:
        for (name,) in connection.execute(queries["every_collection"]).fetchall():
            locks.enter_context(collection_lock(database, name, waiting=lambda name=name: waiting(name)))  # type: ignore[misc]
        with connection.transaction():
            counts = purgeable(connection)
            with connection.cursor(row_factory=class_row(Generation)) as cursor:
                generations = cursor.execute(queries["generations_of_removed_collections"]).fetchall()
            for generation in generations:
                for partition in generation.partitions.values():
                    connection.execute(queries["drop_partition"].format(partition=partition))
            for deletion in (
                "delete_removed_collections",
                "delete_removed_documents",
                "delete_removed_sources",
                "delete_removed_files",
                "delete_removed_pages",
                "delete_unreferenced_contents",
                "delete_unreferenced_transcripts",
                "delete_unreferenced_recordings",
                "delete_unreferenced_embeddings",
                "forget_removed_collections",
            ):
                connection.execute(queries[deletion])
    return counts


def _place(connection: Connection, document: str, collection: str | None) -> tuple[str, str | None]:
    """Return the URI of a document and the collection to look in (None for all)."""
    if collection is not None:
        check_collections(connection, [collection])
    if document.isascii() and document.isdigit():
        row = connection.execute(queries["document_place"], {"id": int(document)}).fetchone()
        if row is not None and collection in {None, row[0]}:
            _refuse_attachment(connection, document, [row[1]], row[0])
            return row[1], row[0]
    uris = [*possible_uris(document), *other_urls(connection, document)]
    _refuse_attachment(connection, document, uris, collection)
    known = connection.execute(queries["known_uri"], {"uris": uris, "collection": collection}).fetchone()
    if known is not None:
        return str(known[0]), collection
    where = f"collection {collection}" if collection is not None else "any collection"
    raise UnknownDocumentError(f"{document} is not in {where}: `sourcebook documents` lists what there is")


def _refuse_attachment(connection: Connection, document: str, uris: Sequence[str], collection: str | None) -> None:
    row = connection.execute(queries["container_of"], {"uris": list(uris), "collection": collection}).fetchone()
    if row is not None:
        raise QueryError(f"{document} is an attachment and is removed with its message: name {row[0]}")


def _removed(connection: Connection, collection: str, uri: str) -> RemovedItem:
    row = connection.execute(queries["document_at"], {"collection": collection, "uri": uri}).fetchone()
    return RemovedItem(collection, uri, int(row[0]) if row else None)

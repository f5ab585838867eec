"""Removal of single documents, and deletion of everything that was removed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.audit import account, record_event
from sourcebook.admin.collections import check_collections
from sourcebook.admin.items import other_urls, possible_uris
from sourcebook.admin.path_tails import uri_by_tail
from sourcebook.admin.retention import delete_removed, delete_unreferenced, retire_removed
from sourcebook.admin.uploads import delete_unreferenced_bytes
from sourcebook.contract.documents import Purged, RemovedItem
from sourcebook.database.database import Database
from sourcebook.database.lock import collection_locks
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError, TakenDocumentError, UnknownDocumentError
from sourcebook.indexing.generations import other_generations
from sourcebook.stages.search_index import withdraw


def remove_items(
    connection: Connection, document: str, collection: str | None = None, *, actor: str | None = None
) -> list[RemovedItem]:
    """Remove an item from its collections although its source still has it, in one transaction.

    The item is no longer searchable, also in collections that take it by its tags, and no ingest brings it back until
    `restore_items`.
    """
    uri, collection = _place(connection, document, collection, is_removed=False)
    with connection.transaction():
        names = _exclude(connection, uri, collection, is_excluded=True)
        takers = connection.execute(queries["takers_of"], {"uri": uri, "collections": names}).fetchall()
        for (name,) in takers:
            removed = connection.execute(
                queries["remove_excluded_document"], {"uri": uri, "collection": name}
            ).fetchall()
            for generation in other_generations(connection, name, None):
                withdraw(connection, generation, [number for (number,) in removed])
        removed_items = [_removed(connection, name, uri) for (name,) in takers]
        _record(connection, "document.remove", removed_items, actor)
        return removed_items


def restore_items(
    connection: Connection, document: str, collection: str | None = None, *, actor: str | None = None
) -> list[RemovedItem]:
    """Undo `remove_items`; the next ingest makes the item searchable."""
    uri, collection = _place(connection, document, collection, is_removed=True)
    with connection.transaction():
        names = _exclude(connection, uri, collection, is_excluded=False)
        restored = [_removed(connection, name, uri) for name in names]
        _record(connection, "document.restore", restored, actor)
        return restored


def purgeable(connection: Connection, older_than: timedelta | None = None) -> Purged:
    """Count what `purge` would delete."""
    with connection.cursor(row_factory=class_row(Purged)) as cursor:
        found = cursor.execute(queries["count_purgeable"], {"before": _before(older_than)}).fetchone()
    return found or Purged()


def purge(
    database: Database, *, older_than: timedelta | None = None, waiting: Callable[[str], None] = lambda _: None
) -> Purged:
    """Delete removed rows and everything that only they need, once no ingest is running.

    The index of removed collections goes first, so that searches of the others need not wait; all else goes in one
    transaction.

    Args:
        database: the knowledge base.
        older_than: time since the removal of a row; None deletes every removed row.
        waiting: called with the name of a collection that is being ingested.
    """
    with database.connection() as connection:
        names = [name for (name,) in connection.execute(queries["every_collection"])]
        with collection_locks(database, names, waiting=waiting):
            before, chunks = _before(older_than), purgeable(connection, older_than).chunks
            retire_removed(connection, before)
            with connection.transaction():
                connection.execute(queries["lock_passages"])  # what an import is about to need is not unreferenced
                counts = purgeable(connection, older_than)
                delete_removed(connection, before)
                delete_unreferenced(connection)
            delete_unreferenced_bytes(connection)
    return replace(counts, chunks=chunks)


def _before(older_than: timedelta | None) -> datetime | Literal["infinity"]:
    return "infinity" if older_than is None else datetime.now(UTC) - older_than


def _place(
    connection: Connection, document: str, collection: str | None, *, is_removed: bool
) -> tuple[str, str | None]:
    """Return the URI of a document and the collection to look in (None for all)."""
    if collection is not None:
        check_collections(connection, [collection])
    if document.isascii() and document.isdigit():
        row = connection.execute(queries["document_place"], {"id": int(document)}).fetchone()
        if row is not None and collection in {None, row[0]}:
            _refuse_attachment(connection, document, [row[1]], row[0])
            _refuse_taken(connection, document, [row[1]], row[0])
            return row[1], row[0]
    uris = [*possible_uris(document), *other_urls(connection, document)]
    _refuse_attachment(connection, document, uris, collection)
    if collection is not None:
        _refuse_taken(connection, document, uris, collection)
    known = connection.execute(queries["known_uri"], {"uris": uris, "collection": collection}).fetchone()
    if known is not None:
        return str(known[0]), collection
    ending = uri_by_tail(connection, document, collection, removed=is_removed)
    if ending is not None:
        return _place(connection, ending, collection, is_removed=is_removed)
    where = f"collection {collection}" if collection is not None else "any collection"
    raise UnknownDocumentError(f"{document} is not in {where}: `sourcebook documents` lists what there is")


def _exclude(connection: Connection, uri: str, collection: str | None, *, is_excluded: bool) -> list[str]:
    """Exclude the files and pages at a URI, or undo it; return the names of their collections."""
    scope = {"uri": uri, "collection": collection, "is_excluded": is_excluded}
    statements = queries["exclude_files"], queries["exclude_pages"]
    return sorted({name for statement in statements for (name,) in connection.execute(statement, scope)})


def _refuse_attachment(connection: Connection, document: str, uris: Sequence[str], collection: str | None) -> None:
    row = connection.execute(queries["container_of"], {"uris": list(uris), "collection": collection}).fetchone()
    if row is not None:
        raise QueryError(f"{document} is part of another file and is removed with it: name {row[0]}")


def _refuse_taken(connection: Connection, document: str, uris: Sequence[str], collection: str) -> None:
    row = connection.execute(queries["giver_of"], {"uris": list(uris), "collection": collection}).fetchone()
    if row is not None:
        raise TakenDocumentError(
            f"{document} is taken from {row[0]} and follows it: name -c {row[0]}, or change `from` of {collection}"
        )


def _record(connection: Connection, action: str, items: Sequence[RemovedItem], actor: str | None) -> None:
    for item in items:
        details = {"uri": item.uri, "id": item.document_id}
        record_event(connection, actor or account(), action, f"collection {item.collection}", details)


def _removed(connection: Connection, collection: str, uri: str) -> RemovedItem:
    row = connection.execute(queries["document_at"], {"collection": collection, "uri": uri}).fetchone()
    return RemovedItem(collection, uri, int(row[0]) if row else None)

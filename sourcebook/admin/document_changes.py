"""The part of the Python interface that changes single documents."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourcebook.admin.removal import RemovedItem
    from sourcebook.database.database import Database


class DocumentChanges(ABC):
    """Changes of documents. `actor` is the name in the audit, the account of this process by default."""

    @property
    @abstractmethod
    def database(self) -> "Database":
        """The knowledge base's database."""

    def remove_document(
        self, document: str | int | Path, collection: str | None = None, *, actor: str | None = None
    ) -> "list[RemovedItem]":
        """Remove a document although its source still has it; no ingest brings it back until `restore_document`.

        It is no longer found, also in collections that take it by its tags. Its rows are kept, with the time of the
        removal, until a purge.

        Args:
            document: its id, its URI, or the path of its file.
            collection: the only collection to remove it from; None for all that have it.
            actor: who removes it.

        Returns:
            The document, once for each collection that it was removed from.

        Raises:
            UnknownDocumentError: there is no such document.
            QueryError: the collection does not exist, or the document follows another one: a message, an archive, or
                the collection that it is taken from.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.removal import remove_items

        with self.database.connection() as connection:
            return remove_items(connection, str(document), collection, actor=actor)

    def restore_document(
        self, document: str | int | Path, collection: str | None = None, *, actor: str | None = None
    ) -> "list[RemovedItem]":
        """Undo `remove_document`; the next ingest makes the document searchable: `request_work` asks for one.

        Args:
            document: its id, its URI, or the path of its file.
            collection: the only collection to restore it in; None for all that had it.
            actor: who restores it.

        Returns:
            The document, once for each collection that it is restored in.

        Raises:
            UnknownDocumentError: there is no such document.
            QueryError: see `remove_document`.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.removal import restore_items

        with self.database.connection() as connection:
            return restore_items(connection, str(document), collection, actor=actor)

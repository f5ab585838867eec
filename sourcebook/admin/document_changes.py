"""The part of the Python interface that changes single documents."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sourcebook.contract.documents import Document, RemovedItem
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
            document: its id, its URI, the path of its file, or an end of it that no other one has.
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
            document: its id, its URI, the path of its file, or an end of it that no other one has.
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

    def change_document(
        self,
        document: str | int | Path,
        collection: str | None = None,
        *,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        actor: str | None = None,
    ) -> "Document":
        """Give a document tags and metadata by hand; return it as it is then.

        They lie over its own, whatever its source says later, and stay with it when its file is changed or renamed.
        Searches see them at once; collections that take documents by their tags follow with their next ingest.

        Args:
            document: its id, its URI, or the path of its file.
            collection: name of its collection, where several have it.
            tags: the tags given by hand, in place of those given before, at most 50 of 100 characters; None leaves
                them. Tags of its source and its front matter stay.
            metadata: changes of the metadata given by hand, 20,000 bytes as JSON at most; a name with None is no longer
                given. A name hides the document's own value of that name.
            actor: who changes it.

        Raises:
            UnknownDocumentError: there is no such document, or several collections have it and none is named.
            QueryError: a tag or the metadata are not allowed, or the collection does not exist.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.document_labels import change_labels
        from sourcebook.admin.items import find_document

        with self.database.connection() as connection, connection.transaction():
            found = find_document(connection, document if isinstance(document, int) else str(document), collection)
            number = found.item.document_id or 0
            change_labels(connection, number, tags=tags, metadata=metadata, actor=actor)
            return find_document(connection, number)

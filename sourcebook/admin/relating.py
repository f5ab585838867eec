"""The part of the Python interface that says what documents are related to."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sourcebook.contract.relations import RelatedDocument
    from sourcebook.database.database import Database


class Relating(ABC):
    """Relations of documents, from the functions that the commands use."""

    @property
    @abstractmethod
    def database(self) -> "Database":
        """The knowledge base's database."""

    def related(
        self,
        document: str | int | Path,
        collection: str | None = None,
        *,
        kinds: Sequence[str] | str = (),
        direction: Literal["both", "out", "in"] = "both",
        dangling: bool = False,
        limit: int = 100,
    ) -> "list[RelatedDocument]":
        """Return what a document is related to: what supersedes or requires what first, references last.

        Args:
            document: its id, its URI, or the path of its file.
            collection: name of its collection, where several have it.
            kinds: `references`, `requires`, `implements`, `supersedes`, `creates`, `part_of`, or one of them; every
                kind where empty.
            direction: `out` for what the document says of others, `in` for what others say of it, `both`.
            dangling: whether relations are returned, too, whose document is not there.
            limit: number of relations, 1 to 1,000.

        Raises:
            UnknownDocumentError: there is no such document, or several collections have it and none is named.
            QueryError: an argument is not allowed, or the collection does not exist.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.items import find_document
        from sourcebook.admin.related import check_options, related_documents

        chosen = (kinds,) if isinstance(kinds, str) else tuple(kinds)
        check_options(chosen, direction, limit)
        name = document if isinstance(document, int) else str(document)
        with self.database.connection() as connection:
            item = find_document(connection, name, collection, unredacted=True).item
            if item.document_id is None:
                return []
            return related_documents(
                connection,
                item.document_id,
                item.collection,
                kinds=chosen,
                direction=direction,
                dangling=dangling,
                limit=limit,
            )

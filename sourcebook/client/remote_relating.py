"""The part of the client that says what documents are related to."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sourcebook.client.server_connection import ServerConnection
    from sourcebook.contract.documents import Document
    from sourcebook.contract.relations import RelatedDocument


class RemoteRelating(ABC):
    """Relations of documents behind a server; see `Relating` for the arguments."""

    @property
    @abstractmethod
    def server(self) -> "ServerConnection":
        """The connection to the server."""

    @abstractmethod
    def show(
        self, document: str | int | Path, collection: str | None = None, *, unredacted: bool = False
    ) -> "Document":
        """Return one document."""

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
            document: its id, its URI, or the end of its path; see `KnowledgeBase.related` for the others.
            collection: name of its collection, where several have it.
            kinds: kinds of relations, or one of them; every kind where empty.
            direction: `out` for what the document says of others, `in` for what others say of it, `both`.
            dangling: whether relations are returned, too, whose document is not there.
            limit: number of relations, 1 to 1,000.

        Raises:
            UnknownDocumentError: there is no such document for the key, or several collections have it and none is
                named.
            QueryError: an argument is not allowed, or the collection does not exist.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.admin.related import check_options
        from sourcebook.client.answers import read_list
        from sourcebook.contract.relations import RelatedDocument

        chosen = [kinds] if isinstance(kinds, str) else list(kinds)
        check_options(chosen, direction, limit)
        number = self.show(document, collection).item.document_id
        if number is None:
            return []
        options = {"kind": chosen, "direction": direction, "dangling": dangling, "limit": limit}
        return read_list(RelatedDocument, self.server.get(f"/v1/documents/{number}/related", options), "related")

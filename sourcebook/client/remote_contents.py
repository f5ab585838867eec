"""The part of the client that says what a knowledge base holds, and what is pending."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sourcebook.client.remote_reports import listed_names

if TYPE_CHECKING:
    from sourcebook.client.server_connection import ServerConnection
    from sourcebook.contract.collections import CollectionSummary
    from sourcebook.contract.documents import Document, Item
    from sourcebook.contract.generations import GenerationState
    from sourcebook.contract.status import CollectionStatus

_PAGE: Final = 1_000
"""Items of a request."""


class RemoteContents(ABC):
    """Documents, states and generations of a knowledge base behind a server; see `Contents` for the arguments."""

    @property
    @abstractmethod
    def server(self) -> "ServerConnection":
        """The connection to the server."""

    def collections(self) -> "list[CollectionSummary]":
        """Return what each collection that the key sees holds, in alphabetical order.

        Raises:
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.collections import CollectionSummary

        return read_list(CollectionSummary, self.server.get("/v1/collections"), "collections")

    def documents(
        self,
        collections: Sequence[str] | str | None = None,
        *,
        failed: bool = False,
        removed: bool = False,
        failure: str | None = None,
        processing: bool = False,
        limit: int | None = None,
        offset: int = 0,
        after: tuple[str, str] | None = None,
        states: Sequence[str] = (),
        kinds: Sequence[str] = (),
        text: str | None = None,
        types: Sequence[str] = (),
    ) -> "list[Item]":
        """Return documents with their states, and files and pages that are no documents, by collection and URI.

        Arguments are `KnowledgeBase.documents`'s. Long lists come in several requests.

        Raises:
            QueryError: an argument is not allowed, or a collection does not exist for the key.
            DatabaseError: the server fails or is out of reach.
        """
        options: dict[str, object] = {
            "collection": listed_names(collections),
            "failed": failed,
            "removed": removed,
            "failure": failure,
            "processing": processing,
            "state": list(states),
            "kind": list(kinds),
            "text": text,
            "type": list(types),
        }
        if after is not None:
            from sourcebook.model.cursors import cursor_of

            options["cursor"] = cursor_of(*after)
        return list(self._items(options, limit, offset, kinds))

    def show(
        self, document: str | int | Path, collection: str | None = None, *, unredacted: bool = False
    ) -> "Document":
        """Return one document with its text as Markdown, its metadata, its tags and its passages.

        Args:
            document: its id, its URI, or the end of its path.
            collection: name of its collection, where several have it.
            unredacted: whether what the collections redact is shown; it needs a key with the scope `unredacted`.

        Raises:
            UnknownDocumentError: there is no such document for the key, or several collections have it and none is
                named.
            QueryError: the collection does not exist.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read
        from sourcebook.contract.documents import Document

        named = {"id": document} if isinstance(document, int) else {"name": str(document)}
        asked = {**named, "collection": collection, "unredacted": "true" if unredacted else None}
        return read(Document, self.server.get("/v1/documents/lookup", asked))

    def status(self, collections: Sequence[str] | str | None = None) -> "list[CollectionStatus]":
        """Return the state of each collection; sources are compared with the folders of the server's machine.

        Args:
            collections: names, or one name; every collection where None.

        Raises:
            QueryError: a collection does not exist for the key.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.status import CollectionStatus

        return read_list(CollectionStatus, self._about("/v1/status", collections), "collections")

    def generations(self, collections: Sequence[str] | str | None = None) -> "list[GenerationState]":
        """Return the generations of collections: of each the active one first, then the one being built.

        Args:
            collections: names, or one name; every collection where None.

        Raises:
            QueryError: a collection does not exist for the key.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.generations import GenerationState

        return read_list(GenerationState, self._about("/v1/generations", collections), "generations")

    def _about(self, path: str, collections: Sequence[str] | str | None) -> bytes:
        """Return what a path answers about collections."""
        return self.server.get(path, {"collection": listed_names(collections)})

    def _items(
        self, options: dict[str, object], limit: int | None, offset: int, kinds: Sequence[str]
    ) -> "Iterator[Item]":
        from sourcebook.client.answers import read
        from sourcebook.client.item_page import ItemPage
        from sourcebook.errors import QueryError

        if limit is not None and not _is_number(limit):
            raise QueryError(f"the limit is {limit!r}; it must be 1 or more, or None for all")
        # The sources among failed items come behind all items: no place in their order says where a page ended.
        by_offset = bool(options["failed"] or options["failure"] or options["processing"]) or "source" in kinds
        left = limit
        while True:
            asked = _PAGE if left is None else min(left, _PAGE)
            page = read(ItemPage, self.server.get("/v1/documents", {**options, "limit": asked, "offset": offset}))
            yield from page.documents
            left = None if left is None else left - len(page.documents)
            if left == 0 or len(page.documents) < asked:
                return
            if page.next_cursor is not None:
                options, offset = {**options, "cursor": page.next_cursor}, 0
            elif by_offset:
                offset += asked
            else:
                return


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1

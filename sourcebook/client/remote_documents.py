"""The part of the client that changes documents, and gets the files that they were made from."""

import hashlib
import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast
from urllib.parse import unquote

from sourcebook.client.of_the_server import check_actor
from sourcebook.errors import OriginalError

if TYPE_CHECKING:
    from sourcebook.client.server_connection import ServerConnection
    from sourcebook.contract.documents import Document, RemovedItem
    from sourcebook.contract.originals import Original
    from sourcebook.model.page_picture import PagePicture

_IN_MEMORY: Final = 8_000_000
"""Bytes of an original from which it is kept in a temporary file."""
_NAME: Final = re.compile(r"filename\*=UTF-8''([^;\s]+)")


class RemoteDocuments(ABC):
    """Changes of documents behind a server, and their files. The key names the actor: `actor` stays None."""

    @property
    @abstractmethod
    def server(self) -> "ServerConnection":
        """The connection to the server."""

    @abstractmethod
    def show(
        self, document: str | int | Path, collection: str | None = None, *, unredacted: bool = False
    ) -> "Document":
        """Return one document."""

    def remove_document(
        self, document: str | int | Path, collection: str | None = None, *, actor: str | None = None
    ) -> "list[RemovedItem]":
        """Remove a document although its source still has it; see `KnowledgeBase.remove_document`.

        Args:
            document: its id, its URI, or the end of its path.
            collection: name of its collection, where several have it: a server removes it from one at a time.
            actor: None.

        Raises:
            UnknownDocumentError: there is no such document for the key, or several collections have it and none is
                named.
            QueryError: the collection does not exist, or the document follows another one.
            AccessError: the key does not allow changes.
            DatabaseError: the server fails or is out of reach.
        """
        check_actor(actor)
        return self._removed("DELETE", self._path(document, collection), "removed")

    def restore_document(
        self, document: str | int | Path, collection: str | None = None, *, actor: str | None = None
    ) -> "list[RemovedItem]":
        """Undo `remove_document`, and ask for the work that makes the document searchable.

        Raises:
            UnknownDocumentError: see `remove_document`.
            QueryError: see `remove_document`.
            AccessError: the key does not allow changes.
            DatabaseError: the server fails or is out of reach.
        """
        check_actor(actor)
        return self._removed("POST", f"{self._path(document, collection)}/restore", "restored")

    def change_document(
        self,
        document: str | int | Path,
        collection: str | None = None,
        *,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        actor: str | None = None,
    ) -> "Document":
        """Give a document tags and metadata by hand; see `KnowledgeBase.change_document`.

        Raises:
            UnknownDocumentError: there is no such document for the key, or several collections have it and none is
                named.
            QueryError: a tag or the metadata are not allowed, or there is nothing to change.
            AccessError: the key does not allow changes.
            DatabaseError: the server fails or is out of reach.
        """
        check_actor(actor)
        number = self._number(document, collection)
        given = {"tags": None if tags is None else list(tags), "metadata": None if metadata is None else dict(metadata)}
        body = {name: value for name, value in given.items() if value is not None}
        self.server.change("PATCH", f"/v1/documents/{number}", body)
        return self.show(number)

    def original(
        self, document: str | int | Path, collection: str | None = None, *, unredacted: bool = False
    ) -> "Original":
        """Get the bytes that a document was made from, compared with the hash that the server tells.

        Where the collection redacts, `unredacted` is needed, and a key with that scope.

        Returns:
            The bytes with name and media type, to be used in a `with` block, which closes them.

        Raises:
            UnknownDocumentError: there is no such document for the key, or several collections have it and none is
                named.
            OriginalGoneError: the source has other bytes by now, or none, or only the text of a page was kept.
            OriginalError: the bytes that arrived are not those that the server tells of.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.contract.originals import Original

        # The receiver of the original closes it.
        lifted = "?unredacted=true" if unredacted else ""
        stream = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        sha256, size = hashlib.sha256(), 0
        try:
            with self.server.download(f"{self._path(document, collection)}/original{lifted}") as response:
                for piece in response.iter_bytes():
                    sha256.update(piece)
                    size += stream.write(piece)
                headers = response.headers
            _check_hash(headers.get("etag", ""), sha256.hexdigest())
        except BaseException:
            stream.close()
            raise
        stream.seek(0)
        found = _NAME.search(headers.get("content-disposition", ""))
        return Original(
            unquote(found[1]) if found else "original",
            headers.get("content-type", "application/octet-stream"),
            size,
            sha256.hexdigest(),
            cast("BinaryIO", stream),
        )

    def page_image(
        self,
        document: str | int | Path,
        page: int,
        collection: str | None = None,
        *,
        scale: float | None = 1.5,
        passage: int | None = None,
        unredacted: bool = False,
    ) -> "PagePicture":
        """Return a page of a PDF as a picture of at most 2,000 pixels a side; see `KnowledgeBase.page_image`.

        Raises:
            UnknownDocumentError: there is no such document for the key, or several collections have it and none is
                named.
            QueryError: it is no PDF, cannot be shown, or has no such page or passage.
            OriginalGoneError: see `original`.
            DatabaseError: the server fails or is out of reach.
        """
        import struct
        from dataclasses import replace

        from sourcebook.client.answers import read
        from sourcebook.client.page_places import PagePlaces
        from sourcebook.model.page_picture import PagePicture

        path = f"{self._path(document, collection)}/pages/{page:d}"
        asked = {"passage": passage, "unredacted": "true" if unredacted else None}
        places = read(PagePlaces, self.server.get(path, asked))
        picture = PagePicture(b"", places.width, places.height, places.page, places.pages, places.boxes)
        if scale is None:
            return picture
        png = self.server.get(f"{path}.png", {"scale": scale, **asked})
        width, height = struct.unpack(">II", png[16:24])  # of the header of a PNG
        return replace(picture, png=png, width=width, height=height)

    def _removed(self, method: str, path: str, name: str) -> "list[RemovedItem]":
        from sourcebook.client.answers import read_list
        from sourcebook.contract.documents import RemovedItem

        return read_list(RemovedItem, self.server.change(method, path).content, name)

    def _path(self, document: str | int | Path, collection: str | None) -> str:
        return f"/v1/documents/{self._number(document, collection)}"

    def _number(self, document: str | int | Path, collection: str | None) -> int:
        if isinstance(document, int) and collection is None:
            return document
        return self.show(document, collection).item.document_id or 0


def _check_hash(tag: str, sha256: str) -> None:
    """Raise an `OriginalError` where other bytes arrived than those of the entity tag."""
    if tag.strip('"') != sha256:
        raise OriginalError("the original did not arrive as the server has it: try again")

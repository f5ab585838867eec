"""The part of the client that sends bytes to a knowledge base, and removes what was sent."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO, Final
from urllib.parse import quote

from sourcebook.client.of_the_server import check_actor
from sourcebook.client.server_connection import segment
from sourcebook.errors import QueryError

if TYPE_CHECKING:
    from sourcebook.client.server_connection import ServerConnection
    from sourcebook.contract.uploads import Upload

_PIECE: Final = 1 << 20
"""Bytes that are sent at once."""
_PAGE: Final = 500
"""Uploads of one answer."""
_MOST: Final = 1_000
"""Uploads of a list, at most."""


class RemoteUploads(ABC):
    """Uploads of a knowledge base behind a server. The key names the actor: `actor` stays None."""

    @property
    @abstractmethod
    def server(self) -> "ServerConnection":
        """The connection to the server."""

    def upload(
        self,
        collection: str,
        name: str,
        content: bytes | BinaryIO,
        *,
        tags: Sequence[str] = (),
        actor: str | None = None,
    ) -> "Upload":
        """Store bytes under a name, and ask for the work that makes a document of them; see `KnowledgeBase.upload`.

        Args:
            collection: name of the collection.
            name: a path such as `policies/leave.md`, of at most 255 bytes.
            content: the bytes, or a file that is sent to its end in constant memory, once: bytes are sent again where
                the server is away.
            tags: of the document; where empty, those of the version before.
            actor: None.

        Raises:
            QueryError: the collection does not exist for the key, the name or a tag is not allowed, or there are no
                bytes or too many.
            UploadSpaceError: there is no space on the server.
            AccessError: the key does not allow changes.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.uploads import Upload

        check_actor(actor)
        is_bytes = isinstance(content, bytes)
        response = self.server.exchange(
            "PUT",
            _path(collection, name),
            parameters={"tag": list(tags)},
            content=content if isinstance(content, bytes) else _pieces(content),
            headers={"Content-Type": "application/octet-stream"},
            repeatable=is_bytes,
        )
        return read_list(Upload, response.content, "uploads")[0]

    def uploads(
        self,
        collections: Sequence[str] | str | None = None,
        *,
        limit: int = 50,
        after: tuple[str, str] | None = None,
    ) -> "list[Upload]":
        """Return the present version of each upload, by collection and name; see `KnowledgeBase.uploads`.

        Raises:
            QueryError: a collection does not exist for the key, or the limit is not allowed.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.uploads import Upload
        from sourcebook.model.cursors import cursor_of
        from sourcebook.search.request import checked_names

        if not 1 <= limit <= _MOST:
            raise QueryError(f"the limit is {limit!r}; it must be 1 to {_MOST:,}")
        names = list(checked_names(collections) or ())
        found: list[Upload] = []
        while len(found) < limit:
            asked = min(limit - len(found), _PAGE)
            options = {"collection": names, "limit": asked, "cursor": None if after is None else cursor_of(*after)}
            page = read_list(Upload, self.server.get("/v1/uploads", options), "uploads")
            found += page
            if len(page) < asked:
                break
            after = (page[-1].collection, page[-1].name)
        return found

    def upload_versions(self, collection: str, name: str) -> "list[Upload]":
        """Return every version of an upload that is kept, the newest first; none where there is no such upload.

        Raises:
            QueryError: the collection does not exist for the key.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.uploads import Upload

        content = self.server.find(_path(collection, name))
        if content is not None:
            return read_list(Upload, content, "versions")
        self.server.get(f"/v1/collections/{segment(collection)}")  # raises where it is that
        return []

    def remove_upload(self, collection: str, name: str, *, actor: str | None = None) -> "Upload":
        """Remove an upload, and ask for its document to be removed; see `KnowledgeBase.remove_upload`.

        Raises:
            QueryError: the collection or the upload does not exist for the key.
            AccessError: the key does not allow changes.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.uploads import Upload

        check_actor(actor)
        named = {"collection": collection, "name": name}
        return read_list(Upload, self.server.change("DELETE", "/v1/uploads", parameters=named).content, "uploads")[0]


def _path(collection: str, name: str) -> str:
    """Return the path of an upload.

    Raises:
        QueryError: no upload can have this name, or no collection that.
    """
    from sourcebook.files.upload_names import upload_name

    upload_name(name)
    parts = (segment(collection), quote(name, safe="/", errors="replace"))
    return "/v1/uploads/" + "/".join(parts)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece

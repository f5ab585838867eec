"""The part of the client that makes, changes and deletes collections and their sources."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sourcebook.client.of_the_server import check_actor
from sourcebook.client.server_connection import segment
from sourcebook.errors import ChangedSettingsError

if TYPE_CHECKING:
    from sourcebook.client.server_connection import ServerConnection
    from sourcebook.contract.collections import CollectionDeclaration


class RemoteCollections(ABC):
    """Collections of a knowledge base behind a server; see `CollectionChanges` for the arguments.

    Folders and paths are those of the server's machine. The key names the actor: `actor` stays None.
    """

    @property
    @abstractmethod
    def server(self) -> "ServerConnection":
        """The connection to the server."""

    def collection_settings(self, name: str) -> "CollectionDeclaration":
        """Return the settings of a collection, without secrets, and where it was declared.

        Raises:
            QueryError: there is none of this name for the key.
            DatabaseError: the server fails or is out of reach.
        """
        return _declaration(self.server.get(f"{_path(name)}/settings"))

    def create_collection(
        self, name: str, settings: Mapping[str, Any] | None = None, *, actor: str | None = None
    ) -> "CollectionDeclaration":
        """Make a collection; the next ingest reads its sources.

        Raises:
            QueryError: the name or a setting is not allowed; the message names the field and no value.
            ConflictError: there is a collection of this name, or one that was removed is still kept.
            AccessError: the key is none of an administrator.
            DatabaseError: the server fails or is out of reach.
        """
        check_actor(actor)
        body = {"name": name, "settings": dict(settings or {})}
        return _declaration(self.server.change("POST", "/v1/collections", body).content)

    def change_collection(
        self,
        name: str,
        settings: Mapping[str, Any],
        *,
        rebuild: bool = False,
        expected: Mapping[str, Any] | None = None,
        actor: str | None = None,
    ) -> "CollectionDeclaration":
        """Change settings of a collection by a merge patch (RFC 7396); see `KnowledgeBase.change_collection`.

        Raises:
            QueryError: there is none of this name for the key, a setting is not allowed, or is fixed by the generation
                that there is.
            ConflictError: `sourcebook.yaml` declares the collection.
            ChangedSettingsError: its settings are not the expected ones.
            AccessError: the key is none of an administrator.
            DatabaseError: the server fails or is out of reach.
        """
        check_actor(actor)
        headers = {}
        if expected is not None:
            present = self.server.exchange("GET", f"{_path(name)}/settings", repeatable=True)
            if _declaration(present.content).settings != dict(expected):
                raise ChangedSettingsError("the settings have changed since they were read: read them again")
            headers["If-Match"] = present.headers["ETag"]
        options = {"rebuild": rebuild or None}
        return _declaration(
            self.server.change("PATCH", _path(name), dict(settings), parameters=options, headers=headers).content
        )

    def delete_collection(self, name: str, *, actor: str | None = None) -> None:
        """Take a collection out of search and ingest at once; its rows go with the next nightly retention.

        Raises:
            QueryError: there is none of this name for the key.
            ConflictError: `sourcebook.yaml` declares the collection, or another one takes documents of it.
            AccessError: the key is none of an administrator.
            DatabaseError: the server fails or is out of reach.
        """
        check_actor(actor)
        self.server.change("DELETE", _path(name))

    def add_source(
        self, collection: str, kind: str, source: Mapping[str, Any], *, actor: str | None = None
    ) -> "CollectionDeclaration":
        """Add a source to a collection; the next ingest reads it; see `KnowledgeBase.add_source`.

        Raises:
            QueryError: there is no such collection for the key, or the kind or a setting is not allowed.
            ConflictError: the collection has the source already, or `sourcebook.yaml` declares the collection.
            AccessError: the key does not allow changes.
            DatabaseError: the server fails or is out of reach.
        """
        check_actor(actor)
        body = {"kind": kind, "source": dict(source)}
        return _declaration(self.server.change("POST", f"{_path(collection)}/sources", body).content)

    def remove_source(self, collection: str, location: str, *, actor: str | None = None) -> None:
        """Remove a source from a collection; the next ingest removes its documents.

        Raises:
            QueryError: there is no such collection for the key, or it has no such source.
            ConflictError: `sourcebook.yaml` declares the collection.
            AccessError: the key does not allow changes.
            DatabaseError: the server fails or is out of reach.
        """
        check_actor(actor)
        self.server.change("DELETE", f"{_path(collection)}/sources", parameters={"location": location})


def _path(name: str) -> str:
    return f"/v1/collections/{segment(name)}"


def _declaration(content: bytes) -> "CollectionDeclaration":
    from sourcebook.client.answers import read
    from sourcebook.contract.collections import CollectionDeclaration

    return read(CollectionDeclaration, content)

"""The part of the Python interface that makes, changes and deletes collections of the API."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection

    from sourcebook.config.api_collection import ApiLimits
    from sourcebook.contract.collections import CollectionDeclaration
    from sourcebook.database.database import Database


class CollectionChanges(ABC):
    """Collections that live in the database, beside those that `sourcebook.yaml` declares, which are changed there.

    `actor` is the name in the audit, the account of this process by default.
    """

    folders: Iterable[str | Path] | None = None
    """Folders of this machine that such collections may read; those of SOURCEBOOK_FOLDERS where None."""

    @property
    @abstractmethod
    def database(self) -> "Database":
        """The knowledge base's database."""

    def collection_settings(self, name: str) -> "CollectionDeclaration":
        """Return the settings of a collection, without secrets, and where it was declared.

        Args:
            name: of the collection.

        Raises:
            UnknownCollectionError: there is none of this name.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.api_collections import find_declaration

        with self.database.connection() as connection:
            return find_declaration(connection, name)

    def create_collection(
        self, name: str, settings: Mapping[str, Any] | None = None, *, actor: str | None = None
    ) -> "CollectionDeclaration":
        """Make a collection; the next ingest reads its sources.

        Args:
            name: 1 to 63 letters, digits, `_`, `-` or single dots.
            settings: those of a collection in `sourcebook.yaml`, less what would reach into the server; none for a
                collection of uploads.
            actor: who makes it.

        Raises:
            SettingsError: the name or a setting is not allowed; the message names the field and no value.
            ConflictError: there is a collection of this name, or one that was removed is still kept.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.api_collections import create_collection

        with self.database.connection() as connection:
            limits = self._limits_of_the_api(connection)
        return create_collection(self.database, name, settings or {}, limits, actor=_actor(actor))

    def change_collection(
        self,
        name: str,
        settings: Mapping[str, Any],
        *,
        rebuild: bool = False,
        expected: Mapping[str, Any] | None = None,
        actor: str | None = None,
    ) -> "CollectionDeclaration":
        """Change settings of a collection by a merge patch (RFC 7396): None takes a setting back to its default.

        Args:
            name: of the collection.
            settings: the settings that change; a list replaces the list.
            rebuild: whether other chunks or another model may build a new generation, at the next ingest, beside the
                one that is searched.
            expected: the settings that the caller has read; None to change whatever is there.
            actor: who changes it.

        Raises:
            SettingsError: a setting is not allowed, or is fixed by the generation that there is.
            ConflictError: `sourcebook.yaml` declares the collection.
            ChangedSettingsError: its settings are not the expected ones.
            UnknownCollectionError: there is none of this name.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.api_collections import change_collection

        with self.database.connection() as connection:
            limits = self._limits_of_the_api(connection)
            return change_collection(
                connection, name, settings, limits, rebuild=rebuild, expected=expected, actor=_actor(actor)
            )

    def delete_collection(self, name: str, *, actor: str | None = None) -> None:
        """Take a collection out of search and ingest at once; its rows go with the next nightly retention or `purge`.

        Args:
            name: of the collection.
            actor: who deletes it.

        Raises:
            ConflictError: `sourcebook.yaml` declares the collection, or another one takes documents of it.
            UnknownCollectionError: there is none of this name.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.api_collections import delete_collection

        with self.database.connection() as connection:
            delete_collection(connection, name, actor=_actor(actor))

    def add_source(
        self, collection: str, kind: str, source: Mapping[str, Any], *, actor: str | None = None
    ) -> "CollectionDeclaration":
        """Add a source to a collection; the next ingest reads it.

        Args:
            collection: name of the collection.
            kind: `files`, `site`, `repository`, or `collection` for documents of another collection.
            source: its settings, as an entry of `files`, `sites`, `repositories` or `from` has them.
            actor: who adds it.

        Raises:
            SettingsError: the kind or a setting is not allowed.
            ConflictError: the collection has the source already, or `sourcebook.yaml` declares the collection.
            UnknownCollectionError: there is none of this name.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.api_collections import add_source

        with self.database.connection() as connection:
            limits = self._limits_of_the_api(connection)
            return add_source(connection, collection, kind, source, limits, actor=_actor(actor))

    def remove_source(self, collection: str, location: str, *, actor: str | None = None) -> None:
        """Remove a source from a collection; the next ingest removes its documents.

        Args:
            collection: name of the collection.
            location: of the source, as `sources()` shows it or as it was written.
            actor: who removes it.

        Raises:
            UnknownSourceError: the collection has no such source.
            ConflictError: `sourcebook.yaml` declares the collection.
            UnknownCollectionError: there is none of this name.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.api_collections import remove_source

        with self.database.connection() as connection:
            limits = self._limits_of_the_api(connection)
            remove_source(connection, collection, location, limits, actor=_actor(actor))

    def _limits_of_the_api(self, connection: "Connection") -> "ApiLimits":
        from sourcebook.admin.api_limits import find_limits

        return find_limits(connection, self.folders, self.database.location.home)


def _actor(named: str | None) -> str:
    from sourcebook.admin.audit import account

    return named or account()

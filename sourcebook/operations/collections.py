"""Collections that are made over the API, beside those that `sourcebook.yaml` declares, which are changed there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sourcebook.installation import needing_extra

if TYPE_CHECKING:
    from psycopg import Connection

    from sourcebook.admin.planning.changes import PlannedChange
    from sourcebook.config.api_collection import ApiLimits
    from sourcebook.contract.collections import CollectionDeclaration
    from sourcebook.operations.opened import Opened


def collection_settings(knowledge: Opened, name: str) -> CollectionDeclaration:
    """Return the settings of a collection, without secrets, and where it was declared.

    Args:
        name: of the collection.

    Raises:
        UnknownCollectionError: there is none of this name.
    """
    from sourcebook.admin.api_collections import find_declaration

    with knowledge.database.connection() as connection:
        return find_declaration(connection, name)


def create_collection(
    knowledge: Opened, name: str, settings: Mapping[str, Any] | None = None, *, actor: str | None = None
) -> CollectionDeclaration:
    """Make a collection; the next ingest reads its sources.

    Args:
        name: 1 to 63 letters, digits, `_`, `-` or single dots.
        settings: those of a collection in `sourcebook.yaml`, less what would reach into the server; none for a
            collection of uploads.
        actor: who makes it.

    Raises:
        SettingsError: the name or a setting is not allowed; the message names the field and no value.
        ConflictError: there is a collection of this name, or one that was removed is still kept.
    """
    from sourcebook.admin.api_collections import create_collection
    from sourcebook.admin.audit import account

    with knowledge.database.connection() as connection:
        limits = _limits(knowledge, connection)
    return create_collection(knowledge.database, name, settings or {}, limits, actor=actor or account())


def change_collection(
    knowledge: Opened,
    name: str,
    settings: Mapping[str, Any],
    *,
    rebuild: bool = False,
    expected: Mapping[str, Any] | None = None,
    actor: str | None = None,
) -> CollectionDeclaration:
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
    """
    from sourcebook.admin.api_collections import change_collection
    from sourcebook.admin.audit import account

    with knowledge.database.connection() as connection:
        limits = _limits(knowledge, connection)
        return change_collection(
            connection, name, settings, limits, rebuild=rebuild, expected=expected, actor=actor or account()
        )


def plan_settings(
    knowledge: Opened,
    name: str,
    settings: Mapping[str, Any],
    *,
    is_new: bool,
    rebuild: bool = False,
    actor: str | None = None,
) -> PlannedChange:
    """Return what the next ingest would do if all settings of a collection were these; nothing is saved."""
    from sourcebook.admin.audit import account

    with knowledge.database.connection() as connection, needing_extra("pipeline"):
        from sourcebook.admin.planning.changes import plan_change

        limits = _limits(knowledge, connection)
        return plan_change(connection, name, settings, limits, is_new=is_new, rebuild=rebuild, actor=actor or account())


def embedding_models(knowledge: Opened) -> list[str]:
    """Return the names of the models that a collection of the API may have."""
    with knowledge.database.connection() as connection:
        return ["auto", *sorted(_limits(knowledge, connection).models)]


def delete_collection(knowledge: Opened, name: str, *, actor: str | None = None) -> None:
    """Take a collection of the API out of search and ingest at once; its rows go with the nightly retention or `purge`.

    Args:
        name: of the collection.
        actor: who deletes it.

    Raises:
        ConflictError: `sourcebook.yaml` declares the collection, or another one takes documents of it.
        UnknownCollectionError: there is none of this name.
    """
    from sourcebook.admin.api_collections import delete_collection
    from sourcebook.admin.audit import account

    with knowledge.database.connection() as connection:
        delete_collection(connection, name, actor=actor or account())


def rename_collection(
    knowledge: Opened, name: str, new_name: str, *, actor: str | None = None
) -> CollectionDeclaration:
    """Give a collection of the API another name, at once in everything that refers to it.

    Documents keep their ids, keys with the collection in their scope see it as before, and judgments, logs, costs and
    requests of work that wait are its own. Who asks for the old name is told that there is no such collection.

    Args:
        name: of the collection.
        new_name: 1 to 63 letters, digits, `_`, `-` or single dots; nothing that is kept may have it.
        actor: who renames it.

    Raises:
        SettingsError: the new name is not allowed.
        ConflictError: the name is taken, an ingest works on the collection, another one takes documents of it, or
            `sourcebook.yaml` declares it: another name there is another collection, of the same files, whose vectors
            are there already.
        UnknownCollectionError: there is none of this name.
    """
    from sourcebook.admin.audit import account
    from sourcebook.admin.renaming import rename_collection

    return rename_collection(knowledge.database, name, new_name, actor=actor or account())


def add_source(
    knowledge: Opened, collection: str, kind: str, source: Mapping[str, Any], *, actor: str | None = None
) -> CollectionDeclaration:
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
    """
    from sourcebook.admin.api_collections import add_source
    from sourcebook.admin.audit import account

    with knowledge.database.connection() as connection:
        limits = _limits(knowledge, connection)
        return add_source(connection, collection, kind, source, limits, actor=actor or account())


def remove_source(knowledge: Opened, collection: str, location: str, *, actor: str | None = None) -> None:
    """Remove a source from a collection; the next ingest removes its documents.

    Args:
        collection: name of the collection.
        location: of the source, as `sources()` shows it or as it was written.
        actor: who removes it.

    Raises:
        UnknownSourceError: the collection has no such source.
        ConflictError: `sourcebook.yaml` declares the collection.
        UnknownCollectionError: there is none of this name.
    """
    from sourcebook.admin.api_collections import remove_source
    from sourcebook.admin.audit import account

    with knowledge.database.connection() as connection:
        limits = _limits(knowledge, connection)
        remove_source(connection, collection, location, limits, actor=actor or account())


def _limits(knowledge: Opened, connection: Connection) -> ApiLimits:
    from sourcebook.admin.api_collections import find_limits

    return find_limits(
        connection,
        knowledge.folders,
        knowledge.database.location.home,
        is_owners=knowledge.is_owners,
        private_hosts=knowledge.private_hosts,
    )

"""Collections that are made over the API: their settings live in the database; `sourcebook.yaml` leaves them alone."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, get_args

from psycopg import Connection
from psycopg.rows import dict_row
from pydantic_core import PydanticCustomError

from sourcebook.admin.audit import record_event
from sourcebook.admin.collections import all_givers, record_collection
from sourcebook.admin.retention import delete_removed, retire_removed
from sourcebook.admin.work_requests import cancel_work, list_work
from sourcebook.config.answering import AnsweringSettings
from sourcebook.config.api_collection import DEFAULT_GIT_HOSTS, ApiCollectionSettings, ApiLimits, read_settings
from sourcebook.config.field_types import NAME_RULE, is_collection_name
from sourcebook.config.gone_settings import without_gone
from sourcebook.config.membership import check_rules
from sourcebook.config.permissions import PERMISSION_FIELDS
from sourcebook.contract.collections import CollectionDeclaration, SourceKind
from sourcebook.contract.work import OPEN
from sourcebook.database.database import Database
from sourcebook.database.lock import collection_lock, is_locked
from sourcebook.database.queries import queries
from sourcebook.embedding.weights import BUNDLED_NAME, MULTILINGUAL_NAME
from sourcebook.errors import (
    ChangedSettingsError,
    ConflictError,
    SettingsError,
    UnknownCollectionError,
    UnknownSourceError,
)
from sourcebook.indexing.generations import find_generations

FOLDERS_VARIABLE: Final = "SOURCEBOOK_FOLDERS"
GIT_HOSTS_VARIABLE: Final = "SOURCEBOOK_GIT_HOSTS"
DATABASES_VARIABLE: Final = "SOURCEBOOK_RECORD_DATABASES"
SOURCE_KINDS: Final[tuple[SourceKind, ...]] = get_args(SourceKind)
_LISTS: Final[dict[str, str]] = {
    "files": "files",
    "site": "sites",
    "repository": "repositories",
    "collection": "from",
}
"""Settings that list the sources, by the kind of these."""
_FIXED: Final = ("chunking", "embedding")
"""Sections by which a generation is made."""
_SECRETS: Final = frozenset({"headers", "login", "proxy", "api_key_env", "connection"})
_ACCOUNT: Final = re.compile(r"//[^/\s]*@")


def find_declaration(connection: Connection, name: str) -> CollectionDeclaration:
    """Return the settings of a live collection."""
    row = _row(connection, name)
    if row is None or row["removed_at"] is not None:
        raise UnknownCollectionError("there is no such collection")
    if row["declared_in"] == "api":
        return CollectionDeclaration(name, "api", without_gone(row["written_settings"] or {}))
    return CollectionDeclaration(name, "file", _without_secrets(row["settings"]))


def create_collection(
    database: Database, name: str, written: Mapping[str, Any], limits: ApiLimits, *, actor: str
) -> CollectionDeclaration:
    """Make a collection; of two that make it at once, one does."""
    if not is_collection_name(name):
        raise SettingsError(f"a collection's name is {NAME_RULE}")
    settings = read_settings(written, limits)
    with database.connection() as connection:
        _purge_deleted(database, connection, name)
        with connection.transaction():
            record_new(connection, name, written, settings, actor=actor)
        return find_declaration(connection, name)


def record_new(
    connection: Connection, name: str, written: Mapping[str, Any], settings: ApiCollectionSettings, *, actor: str
) -> None:
    """Record a collection that is not there yet, within a transaction."""
    _check_givers(connection, name, settings)
    if connection.execute(queries["create_collection"], {"name": name}).fetchone() is None:
        raise ConflictError("there is a collection of this name already: change it, or choose another name")
    record_collection(connection, name, settings, written=written, actor=actor)
    record_event(connection, actor, "collection.create", f"collection {name}", {"settings": sorted(written)})


def change_collection(
    connection: Connection,
    name: str,
    patch: Mapping[str, Any],
    limits: ApiLimits,
    *,
    rebuild: bool = False,
    expected: Mapping[str, Any] | None = None,
    actor: str,
) -> CollectionDeclaration:
    """Change settings of a collection by a merge patch (RFC 7396): null takes a setting back to its default."""
    with connection.transaction():
        before = lock_declaration(connection, name)
        if expected is not None and dict(expected) != before:
            raise ChangedSettingsError("the settings have changed since they were read: read them again")
        return _rewrite(connection, name, before, merged(before, patch), limits, rebuild=rebuild, actor=actor)


def delete_collection(connection: Connection, name: str, *, actor: str) -> None:
    """Take a collection out of search and ingest at once; the nightly retention, or `purge`, deletes its rows."""
    with connection.transaction():
        connection.execute(queries["lock_rules"])
        lock_declaration(connection, name)
        check_not_given(connection, name)
        for request in list_work(connection, [name], states=OPEN, limit=1_000):
            cancel_work(connection, request.id, actor=actor)
        connection.execute(queries["delete_collection"], {"name": name})
        record_event(connection, actor, "collection.delete", f"collection {name}")


def add_source(
    connection: Connection, name: str, kind: str, source: Mapping[str, Any], limits: ApiLimits, *, actor: str
) -> CollectionDeclaration:
    """Add a source to a collection; the next ingest reads it."""
    section = _section(kind)
    if PERMISSION_FIELDS & source.keys():
        raise SettingsError("who may see documents is set with the collection's settings, which is for administrators")
    with connection.transaction():
        before = lock_declaration(connection, name)
        (added,) = _locations(read_settings({section: [source]}, limits))
        if added in _locations(ApiCollectionSettings.model_validate(before)):
            raise ConflictError("the collection has this source already: change it, or remove it first")
        after = {**before, section: [*_listed(before.get(section)), dict(source)]}
        return _rewrite(connection, name, before, after, limits, actor=actor, action="source.add")


def remove_source(connection: Connection, name: str, location: str, limits: ApiLimits, *, actor: str) -> None:
    """Remove a source from a collection; the next ingest removes its documents."""
    with connection.transaction():
        before = lock_declaration(connection, name)
        settings = ApiCollectionSettings.model_validate(before)
        for section, sources in _sources(settings).items():
            for index, source in enumerate(sources):
                entry = _listed(before.get(section))[index]
                if location in {source.location, entry.get("root"), entry.get("url"), entry.get("collection")}:
                    left = [each for place, each in enumerate(_listed(before[section])) if place != index]
                    after = {key: value for key, value in before.items() if key != section}
                    after |= {section: left} if left else {}
                    _rewrite(connection, name, before, after, limits, actor=actor, action="source.remove")
                    return
        raise UnknownSourceError("the collection has no source at this location")


def merged(target: Any, patch: Any) -> Any:
    """Return a JSON value after a merge patch, by the algorithm of RFC 7396."""
    if not isinstance(patch, Mapping):
        return patch
    found = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), value)
    return found


def _rewrite(
    connection: Connection,
    name: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    limits: ApiLimits,
    *,
    actor: str,
    rebuild: bool = False,
    action: str = "collection.change",
) -> CollectionDeclaration:
    """Record other settings of a collection whose row is locked."""
    known = ApiCollectionSettings.model_validate(before, context={"folder": Path("/")})
    sources = (*known.files, *known.sites, *known.repositories, *(each.table for each in known.records if each.table))
    settings = read_settings(after, replace(limits, known=sources))
    _check_givers(connection, name, settings)
    if not rebuild:
        _check_fixed(connection, name, known, settings)
    record_collection(connection, name, settings, written=after, actor=actor)
    changed = sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
    record_event(connection, actor, action, f"collection {name}", {"settings": changed})
    return find_declaration(connection, name)


def check_not_given(connection: Connection, name: str) -> None:
    """Raise an error where another collection takes documents of a collection, while nobody else changes any rule.

    Raises:
        ConflictError: one does.
    """
    if any(name in taken for taken in all_givers(connection).values()):
        raise ConflictError("another collection takes documents of this one: take it out of `from` there first")


def _check_fixed(
    connection: Connection, name: str, before: ApiCollectionSettings, after: ApiCollectionSettings
) -> None:
    generations = find_generations(connection, name)
    if generations.active is None and generations.building is None:
        return
    of_machine = {"embedding": {"device"}, "chunking": set[str]()}
    for section in _FIXED:
        old, new = (getattr(each, section).model_dump(exclude=of_machine[section]) for each in (before, after))
        if old != new:
            raise SettingsError(
                f"{section}: it is fixed by the generation that is searched. Ask with rebuild=true for a new "
                "generation, which the next ingest builds beside that one: every document is embedded again"
            )


def _check_givers(connection: Connection, name: str, settings: ApiCollectionSettings) -> None:
    """Check the rules by which a collection takes documents of others, while nobody else changes any.

    Raises:
        SettingsError: a collection does not exist, or takes its own documents, be it through others.
    """
    if not settings.taken:
        return
    connection.execute(queries["lock_rules"])
    live = all_givers(connection)
    known = {each: [giver for giver in taken if giver in live] for each, taken in live.items()}
    known[name] = [rule.collection for rule in settings.taken]
    if any(giver not in known for giver in known[name]):
        raise SettingsError("from: there is no such collection")
    try:
        check_rules(known)
    except PydanticCustomError:
        raise SettingsError(
            "from: a collection takes each other one once, not itself, and none that takes documents of it"
        ) from None


def _purge_deleted(database: Database, connection: Connection, name: str) -> None:
    """Delete what is left of a collection of the API that had the name; one that left the file is kept.

    Raises:
        ConflictError: it is kept, or an ingest works on it still.
    """
    row = _row(connection, name)
    if row is None or row["removed_at"] is None:
        return
    if row["declared_in"] == "file":
        raise ConflictError(
            "a collection of this name has left sourcebook.yaml and is kept: run  sourcebook purge  on the server, or "
            "choose another name"
        )
    if is_locked(connection, name):
        raise ConflictError("an ingest still works on a deleted collection of this name: try again when it has ended")
    with collection_lock(database, name):
        retire_removed(connection, "infinity", name)
        with connection.transaction():
            connection.execute(queries["lock_passages"])
            delete_removed(connection, "infinity", name)


def lock_declaration(connection: Connection, name: str) -> dict[str, Any]:
    """Return the settings of a live collection of the API as written, which nobody else changes now.

    Raises:
        UnknownCollectionError: there is none of this name.
        ConflictError: the collection is declared in `sourcebook.yaml`.
    """
    connection.execute(queries["lock_declaration"], {"name": name})
    row = _row(connection, name)
    if row is None or row["removed_at"] is not None:
        raise UnknownCollectionError("there is no such collection")
    if row["declared_in"] != "api":
        raise ConflictError("sourcebook.yaml declares this collection: change it in that file")
    return without_gone(row["written_settings"] or {})


def _row(connection: Connection, name: str) -> dict[str, Any] | None:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(queries["collection_declaration"], {"name": name}).fetchone()


def _section(kind: str) -> str:
    if kind not in _LISTS:
        raise SettingsError(f"kind: allowed: {', '.join(SOURCE_KINDS)}")
    return _LISTS[kind]


def _sources(settings: ApiCollectionSettings) -> dict[str, tuple[Any, ...]]:
    return {
        "files": settings.files,
        "sites": settings.sites,
        "repositories": settings.repositories,
        "records": settings.records,
        "from": settings.taken,
    }


def _locations(settings: ApiCollectionSettings) -> list[str]:
    return [source.location for sources in _sources(settings).values() for source in sources]


def _listed(sources: Any) -> list[Any]:
    """Return a list of sources as written; a single rule of `from` may stand alone."""
    return [sources] if isinstance(sources, Mapping) else list(sources or ())


def _without_secrets(value: Any) -> Any:
    """Return applied settings without the values that may be secrets, and without accounts in URLs."""
    if isinstance(value, dict):
        return {key: "…" if key in _SECRETS and held else _without_secrets(held) for key, held in value.items()}
    if isinstance(value, list):
        return [_without_secrets(each) for each in value]
    return _ACCOUNT.sub("//…@", value) if isinstance(value, str) else value


def allowed_folders(named: Iterable[str | Path] | None = None) -> tuple[Path, ...]:
    """Return the folders that collections of the API may read: those of SOURCEBOOK_FOLDERS where none are named."""
    found = os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if named is None else named
    return tuple(Path(os.path.realpath(Path(each).expanduser())) for each in found if str(each).strip())


def find_limits(
    connection: Connection,
    folders: Iterable[str | Path] | None,
    home: Path,
    *,
    is_owners: bool = False,
    private_hosts: bool = False,
) -> ApiLimits:
    """Return the reach of collections of the API; see `ApiLimits`."""
    hosts = os.environ.get(GIT_HOSTS_VARIABLE)
    known = {name for (name,) in connection.execute(queries["models_of_the_file"])}
    answering = [
        AnsweringSettings.model_validate(each) for (each,) in connection.execute(queries["answering_of_the_file"])
    ]
    return ApiLimits(
        folders=allowed_folders(folders),
        own=(home,),
        git_hosts=DEFAULT_GIT_HOSTS
        if hosts is None
        else frozenset(host.strip().lower() for host in hosts.split(",") if host.strip()),
        databases=frozenset(each.strip() for each in os.environ.get(DATABASES_VARIABLE, "").split(",")) - {""},
        models=frozenset({BUNDLED_NAME, MULTILINGUAL_NAME, *known}),
        answering={each.model: each for each in answering},
        is_owners=is_owners,
        private_hosts=private_hosts,
    )

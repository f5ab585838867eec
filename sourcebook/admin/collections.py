"""The collections and sources of the database, kept equal to the configuration."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.admin.audit import account
from sourcebook.admin.permissions import record_change, record_groups
from sourcebook.config.collection import ACL, CollectionSettings, FilesSource
from sourcebook.config.field_types import Settings
from sourcebook.config.loading import Configuration
from sourcebook.config.membership import TakenDocuments
from sourcebook.config.names import unknown_collections
from sourcebook.config.permissions import PERMISSION_FIELDS, Permissions
from sourcebook.config.records import RecordSource
from sourcebook.config.repositories import RepositorySource
from sourcebook.config.sites import SiteSource
from sourcebook.database.queries import queries
from sourcebook.errors import ConfigurationError, UnknownCollectionError
from sourcebook.files.listing import file_uri
from sourcebook.indexing.generations import differences, find_generations


@dataclass(frozen=True, slots=True)
class Applied:
    """Names of collections by the effect of `apply` on each."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    """Collections that left the file: no longer updated or searched, until `purge` deletes them."""
    rebuilt: dict[str, list[str]]
    """Changed settings by collections whose next ingest builds a generation."""
    groups: tuple[str, ...] = ()
    """Groups that got other members."""


def apply(connection: Connection, configuration: Configuration) -> Applied:
    """Record the collections, sources and groups of a configuration, in one transaction.

    A source that left the file loses its documents at the next ingest. A collection that left the file is kept
    but neither updated nor searched; it comes back whole when it returns to the file.
    Changed chunking or embedding settings build a generation at the next ingest, beside the active one.
    Collections of the API stay as they are; where there is no file, so do all.

    Raises:
        ConfigurationError: a collection of the API has the name of one in the file; nothing is recorded.
    """
    if not configuration.is_written:
        return Applied((), (), tuple(collection_names(connection)), (), {})
    with connection.transaction():
        known = set(collection_names(connection))
        names = list(configuration.collections)
        touched = {
            name
            for name, settings in configuration.collections.items()
            if record_collection(connection, name, settings)
        }
        made = [name for name in collections_of_the_api(connection) if name in configuration.collections]
        if made:
            raise ConfigurationError(made_over_the_api(configuration.path, made))
        groups = record_groups(connection, configuration.groups)
        removed = connection.execute(queries["remove_collections"], {"names": names}).fetchall()
        rebuilt = {name: differences(find_generations(connection, name)) for name in names if name in touched & known}
    return Applied(
        added=tuple(name for name in names if name not in known),
        changed=tuple(name for name in names if name in known and name in touched),
        unchanged=tuple(name for name in names if name in known and name not in touched),
        removed=tuple(name for (name,) in removed),
        rebuilt={name: changes for name, changes in rebuilt.items() if changes},
        groups=groups,
    )


def collection_names(connection: Connection) -> list[str]:
    """Return the names of the live collections in alphabetical order."""
    return [row[0] for row in connection.execute(queries["collections"])]


def seen_collection_names(connection: Connection) -> list[str]:
    """Return the names of the live collections in which a session of principals sees a document."""
    return [row[0] for row in connection.execute(queries["seen_collections"])]


def collections_of_the_api(connection: Connection) -> list[str]:
    """Return the names of the live collections that the API has made, in alphabetical order."""
    return [row[0] for row in connection.execute(queries["collections_of_the_api"])]


def made_over_the_api(path: Path, names: Sequence[str]) -> str:
    """Return the sentence on names in a configuration file that collections of the API have already."""
    listed, several = " and ".join(names), len(names) > 1
    return (
        f"{path}: the API has made {'collections' if several else 'a collection'} of the "
        f"{'names' if several else 'name'} {listed} already: choose another name in the file, "
        f"or delete {'those' if several else 'that one'} over the API first"
    )


def all_givers(connection: Connection) -> dict[str, list[str]]:
    """Return each live collection with those whose documents it takes."""
    return dict(connection.execute(queries["all_givers"]).fetchall())


def givers(connection: Connection, collection: str) -> list[str]:
    """Return the collections whose documents a collection takes, in alphabetical order."""
    return [row[0] for row in connection.execute(queries["givers"], {"collection": collection})]


def check_collections(connection: Connection, names: Sequence[str]) -> None:
    """Check that collections exist.

    Raises:
        UnknownCollectionError: a collection does not exist; the message names those that do.
    """
    known = collection_names(connection)
    missing = sorted(set(names) - set(known))
    if missing:
        raise UnknownCollectionError(unknown_collections(missing, known))


_Source = FilesSource | SiteSource | RepositorySource | RecordSource | TakenDocuments
_LATER_PARTS: Final = (
    "description", "taken", "repositories", "records", "usage", "answering", "relations", "types", "synonyms",
    "allowed", "denied",
)  # fmt: skip
_LATER: Final = {
    "chunking": ("context",),
    "embedding": ("dimensions", "device"),
    "retention": ("queries", "audit"),
}
_LATER_OF_SOURCES: Final = PERMISSION_FIELDS | {"grantees", "acl_refresh"}
"""Settings that came later; they are left out where they have their default: a new version is no change of settings."""


def record_collection(
    connection: Connection,
    name: str,
    settings: CollectionSettings,
    *,
    written: Mapping[str, Any] | None = None,
    actor: str | None = None,
) -> bool:
    """Record one collection with its sources, and return whether anything changed.

    A live collection that was declared elsewhere stays as it is.

    Args:
        connection: in a transaction.
        name: of the collection.
        settings: the settings.
        written: of a collection of the API, its settings as they were written; None for one of the configuration file.
        actor: who changes it, for the audit; the account of this process by default.
    """
    unset: dict[str, Any] = {name: True for name in _LATER_PARTS if getattr(settings, name) == _default(settings, name)}
    for part, names in _LATER.items():
        held: Settings = getattr(settings, part)
        unset[part] = {name for name in names if getattr(held, name) == _default(held, name)}
    for part in {"files", "sites", "repositories", "records"} - unset.keys():
        unset[part] = {
            number: {
                field
                for field in _LATER_OF_SOURCES & type(source).model_fields.keys()
                if getattr(source, field) == _default(source, field)
            }
            for number, source in enumerate(getattr(settings, part))
        }
    values = {
        "name": name,
        "settings": Jsonb(settings.model_dump(mode="json", by_alias=True, exclude=unset)),
        "declared_in": "file" if written is None else "api",
        "written": None if written is None else Jsonb(dict(written)),
    }
    embedding = settings.embedding
    touched = connection.execute(queries["record_collection"], values).rowcount
    if touched:
        connection.execute(queries["retry_failed_documents"], {"collection": name})
    if touched and embedding.provider is not None:
        reached = {"collection": name, "provider": embedding.provider, "model": embedding.model}
        connection.execute(queries["follow_connection"], {**reached, "connection": Jsonb(embedding.connection)})
    places: dict[str, list[str]] = {"files": [], "site": [], "collection": []}
    sources: list[_Source] = [
        *settings.files,
        *settings.sites,
        *settings.repositories,
        *settings.records,
        *settings.taken,
    ]
    for source in sources:
        row = _source_row(source, anonymous=written is not None)
        touched += connection.execute(queries["record_source"], {"collection": name, **row}).rowcount
        said = _permissions(source, settings)
        touched += _permit(connection, name, row["kind"], source.location, said, actor)
        places[row["kind"]].append(source.location)
    for (location,) in connection.execute(queries["uploads_location"], {"collection": name}).fetchall():
        touched += _permit(connection, name, "uploads", location, settings.permissions(re.escape(location)), actor)
    kept = {"folders": places["files"], "sites": places["site"], "collections": places["collection"]}
    touched += connection.execute(queries["remove_sources"], {"collection": name, **kept}).rowcount
    return touched > 0


def _default(settings: Settings, name: str) -> Any:
    return type(settings).model_fields[name].get_default(call_default_factory=True)


def _source_row(source: _Source, *, anonymous: bool) -> dict[str, Any]:
    """Return the columns of a source; a repository of the API is read without the server's logins.

    A membership rule is a source whose location is the other collection.
    """
    kind, limit = "files", 0
    match source:
        case SiteSource():
            kind, limit, kept = (
                "site",
                source.request.max_bytes,
                source.model_dump(mode="json", exclude={*PERMISSION_FIELDS}),
            )
        case RepositorySource():
            kept = source.model_dump(mode="json", include={"url", "revision", "path", "refresh", "timeout"})
            kept |= {"link": source.link, "root": source.root, **({"anonymous": True} if anonymous else {})}
            limit = source.max_bytes
        case RecordSource():
            kept = {
                "records": source.model_dump(mode="json", by_alias=True, exclude={*PERMISSION_FIELDS} - {"allowed"})
            }
            limit = source.max_bytes
        case FilesSource():
            asked = {"acl_refresh"} if source.allowed == ACL else set()
            limit, kept = source.max_bytes, source.model_dump(mode="json", include={"root", "follow_links", *asked})
        case TakenDocuments():
            kind, kept = "collection", source.model_dump(mode="json", include={"tags", "tags_all"})
    lists = {name: list(getattr(source, name, ())) for name in ("include", "exclude", "tags")}
    if isinstance(source, TakenDocuments):
        lists["tags"] = []  # those of the rule, which is in its settings
    return {"kind": kind, "location": source.location, "max_bytes": limit, "settings": Jsonb(kept), **lists}


def _permit(
    connection: Connection,
    collection: str,
    kind: str,
    location: str,
    said: dict[str, Any] | None,
    actor: str | None,
) -> int:
    """Record who may see the items of a source, and return 1 where these were others."""
    row = {"collection": collection, "kind": kind, "location": location}
    values = {**row, "permissions": None if said is None else Jsonb(said)}
    others = connection.execute(queries["other_permissions"], values).fetchone()
    if others is None:
        return 0  # so that nobody waits
    record_change(connection, f"{location} in {collection}", others[0], said, actor or account())
    return connection.execute(queries["record_permissions"], values).rowcount


def _permissions(source: _Source, collection: Permissions) -> dict[str, Any] | None:
    """Return who may see the items of a source; copies are seen by those who see their originals."""
    match source:
        case TakenDocuments():
            return None
        case SiteSource():
            return source.within(collection).permissions("https?://[^/]+", r"(?:\?.*)?")
        case _:
            location = source.location if "://" in source.location else file_uri(source.location)
            return source.within(collection).permissions(re.escape(location.rstrip("/")))


def permissions_of_uploads(connection: Connection, collection: str, location: str) -> Jsonb | None:
    """Return who may see what is uploaded to a collection, from its settings, for the source at a location."""
    row = connection.execute(queries["collection_permissions"], {"collection": collection}).fetchone()
    said = {name: value for name, value in zip(("allowed", "denied"), row or (), strict=False) if value is not None}
    found = Permissions.model_validate(said).permissions(re.escape(location))
    return None if found is None else Jsonb(found)

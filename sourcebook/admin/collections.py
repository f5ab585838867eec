"""Bring the database's collections and sources to what the configuration says."""

from dataclasses import dataclass

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.config.configuration import (
    ChunkingSettings,
    CollectionSettings,
    Configuration,
    EmbeddingSettings,
    FilesSource,
)
from sourcebook.config.sites import SiteSource
from sourcebook.database.queries import queries
from sourcebook.errors import ImmutableSettingError


@dataclass(frozen=True, slots=True)
class Applied:
    """What `apply` did."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    """Collections no longer in the file: not updated and not searched any more; `purge` deletes them."""


def apply(connection: Connection, configuration: Configuration) -> Applied:
    """Record the collections and sources of a configuration, in one transaction.

    A source that left the file loses its documents at the next ingest. A collection that left the file is kept
    but neither updated nor searched; it comes back whole where it returns to the file.

    Raises:
        ImmutableSettingError: chunking or embedding of a collection with a generation was changed; nothing is applied.
    """
    with connection.transaction():
        known = {
            name: (chunking, embedding) for name, chunking, embedding in connection.execute(queries["collections"])
        }
        for name, settings in configuration.collections.items():
            _refuse_changed_generation(connection, name, settings)
        touched = {name for name, settings in configuration.collections.items() if _record(connection, name, settings)}
        names = list(configuration.collections)
        removed = connection.execute(queries["remove_collections"], {"names": names}).fetchall()
    return Applied(
        added=tuple(name for name in names if name not in known),
        changed=tuple(name for name in names if name in known and name in touched),
        unchanged=tuple(name for name in names if name in known and name not in touched),
        removed=tuple(name for (name,) in removed),
    )


def collection_names(connection: Connection) -> list[str]:
    """Return the names of the collections that are in use, in order."""
    return [row[0] for row in connection.execute(queries["collections"])]


def _record(connection: Connection, name: str, settings: CollectionSettings) -> bool:
    """Record one collection; return whether anything differed."""
    touched = connection.execute(
        queries["record_collection"], {"name": name, "settings": Jsonb(settings.model_dump(mode="json"))}
    ).rowcount
    for source in settings.files:
        touched += _record_source(connection, name, "files", source)
    for site in settings.sites:
        touched += _record_source(connection, name, "site", site)
    touched += connection.execute(
        queries["remove_sources"],
        {
            "collection": name,
            "folders": [source.location for source in settings.files],
            "sites": [site.location for site in settings.sites],
        },
    ).rowcount
    return touched > 0


def _record_source(connection: Connection, collection: str, kind: str, source: FilesSource | SiteSource) -> int:
    return connection.execute(
        queries["record_source"],
        {
            "collection": collection,
            "kind": kind,
            "location": source.location,
            "include": list(source.include),
            "exclude": list(source.exclude),
            "tags": list(source.tags),
            "max_bytes": source.max_bytes,
            "settings": Jsonb(
                source.model_dump(mode="json") if isinstance(source, SiteSource) else {"root": source.root}
            ),
        },
    ).rowcount


def _refuse_changed_generation(connection: Connection, name: str, settings: CollectionSettings) -> None:
    row = connection.execute(queries["active_generation"], {"collection": name}).fetchone()
    if row is None:
        return
    number, _, chunking, embedding = row[:4]
    # Settings that this version knows and the generation does not were at their defaults when it was made.
    before = {
        "chunking": ChunkingSettings.model_validate(chunking).model_dump(mode="json"),
        "embedding": EmbeddingSettings.model_validate(embedding).model_dump(mode="json"),
    }
    now = {
        "chunking": settings.chunking.model_dump(mode="json"),
        "embedding": settings.embedding.model_dump(mode="json"),
    }
    differences = [
        f"{part}.{key} is {now[part][key]!r} in the file and {before[part][key]!r} in the generation"
        for part in now
        for key in now[part]
        if now[part][key] != before[part][key]
    ]
    if differences:
        raise ImmutableSettingError(
            f"collection {name}: {'; '.join(differences)}. Generation {number} is never re-indexed in place: these "
            "settings need a new generation, which this version does not build yet. Put the old values back, or give "
            "the new settings to a collection of another name (documents and equal texts are reused, not redone)"
        )

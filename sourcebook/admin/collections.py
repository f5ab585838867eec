"""The collections and sources of the database, kept equal to the configuration."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.config.collection import ChunkingSettings, CollectionSettings, EmbeddingSettings, FilesSource
from sourcebook.config.loading import Configuration, load_configuration
from sourcebook.config.sites import SiteSource
from sourcebook.database.queries import queries
from sourcebook.errors import ConfigurationError, ImmutableSettingError, QueryError


@dataclass(frozen=True, slots=True)
class Applied:
    """Names of collections by the effect of `apply` on each."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    """Collections that left the file: no longer updated or searched, until `purge` deletes them."""


def apply(connection: Connection, configuration: Configuration) -> Applied:
    """Record the collections and sources of a configuration, in one transaction.

    A source that left the file loses its documents at the next ingest. A collection that left the file is kept
    but neither updated nor searched; it comes back whole when it returns to the file.

    Raises:
        ImmutableSettingError: chunking or embedding settings changed in a collection that has a generation; nothing is
            applied.
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


def configuration_mistake(connection: Connection, path: Path) -> str | None:
    """Return the mistake in a configuration file with its line and column, or None where `apply` would accept the file.

    Args:
        connection: to the knowledge base.
        path: the configuration file.
    """
    try:
        for name, settings in load_configuration(path).collections.items():
            _refuse_changed_generation(connection, name, settings)
    except ConfigurationError as error:
        return str(error)
    return None


def collection_names(connection: Connection) -> list[str]:
    """Return the names of the live collections in alphabetical order."""
    return [row[0] for row in connection.execute(queries["collections"])]


def check_collections(connection: Connection, names: Sequence[str]) -> None:
    """Check that collections exist.

    Raises:
        QueryError: a collection does not exist.
    """
    known = collection_names(connection)
    missing = sorted(set(names) - set(known))
    if missing:
        raise QueryError(
            f"there is no collection {', '.join(repr(name) for name in missing)}; "
            f"there is {', '.join(known) if known else 'none yet: run sourcebook ingest'}"
        )


def _record(connection: Connection, name: str, settings: CollectionSettings) -> bool:
    """Record one collection and return whether anything changed."""
    touched = connection.execute(
        queries["record_collection"], {"name": name, "settings": Jsonb(settings.model_dump(mode="json"))}
    ).rowcount
    if touched:
        connection.execute(queries["retry_failed_documents"], {"collection": name})
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
                source.model_dump(mode="json")
                if isinstance(source, SiteSource)
                else source.model_dump(mode="json", include={"root", "follow_links"})
            ),
        },
    ).rowcount


def _refuse_changed_generation(connection: Connection, name: str, settings: CollectionSettings) -> None:
    row = connection.execute(queries["active_generation"], {"collection": name}).fetchone()
    if row is None:
        return
    number, _, chunking, embedding = row[:4]
    # A setting that the generation does not have was at its default when the generation was made.
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

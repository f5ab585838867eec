"""Find and make the generations of a collection."""

from typing import Any

from psycopg import Connection, sql
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from sourcebook.config.collection import ChunkingSettings, EmbeddingSettings
from sourcebook.database.queries import queries
from sourcebook.embedding.model import find_model
from sourcebook.embedding.precision import choose_precision
from sourcebook.errors import ConfigurationError
from sourcebook.model.generation import Generation


def active_generation(connection: Connection, collection: str) -> Generation | None:
    """Return the generation that serves a collection, None before its first ingest."""
    with connection.cursor(row_factory=class_row(Generation)) as cursor:
        return cursor.execute(queries["active_generation"], {"collection": collection}).fetchone()


def wanted_embedding(connection: Connection, collection: str) -> EmbeddingSettings:
    """Return the embedding settings that a collection was applied with."""
    return EmbeddingSettings.model_validate(_settings(connection, collection)["embedding"])


def ensure_generation(connection: Connection, collection: str) -> Generation:
    """Return the active generation of a collection; its first ingest makes it, from the applied settings.

    Raises:
        ConfigurationError: the collection was never applied.
        ModelError: the embedding model cannot be found.
    """
    generation = active_generation(connection, collection)
    if generation is not None:
        return generation
    settings = _settings(connection, collection)
    embedding = EmbeddingSettings.model_validate(settings["embedding"])
    model = find_model(embedding.model)
    return create_generation(
        connection,
        collection,
        ChunkingSettings.model_validate(settings["chunking"]),
        embedding,
        model=f"{model.identity}/{choose_precision(embedding.precision)}",
        dimensions=model.dimensions,
    )


def _settings(connection: Connection, collection: str) -> dict[str, Any]:
    row = connection.execute(queries["collection_settings"], {"collection": collection}).fetchone()
    if row is None:
        raise ConfigurationError(f"there is no collection {collection}: write it into sourcebook.yaml and apply that")
    settings: dict[str, Any] = row[0]
    return settings


def create_generation(
    connection: Connection,
    collection: str,
    chunking: ChunkingSettings,
    embedding: EmbeddingSettings,
    *,
    model: str,
    dimensions: int,
) -> Generation:
    """Make a collection's first generation with its partitions, and make it the active one."""
    with connection.transaction():
        row = connection.execute(
            queries["insert_generation"],
            {
                "collection": collection,
                "chunking": Jsonb(chunking.model_dump(mode="json")),
                "embedding": Jsonb(embedding.model_dump(mode="json")),
                "model": model,
                "dimensions": dimensions,
            },
        ).fetchone()
        number = int(row[0]) if row else 0
        generation = Generation(
            number,
            collection,
            chunking.model_dump(mode="json"),
            embedding.model_dump(mode="json"),
            model,
            dimensions,
        )
        for table, partition in generation.partitions.items():
            connection.execute(
                queries["create_partition"].format(
                    partition=partition, table=sql.Identifier(table), number=sql.Literal(number)
                )
            )
        connection.execute(queries["activate_generation"], {"collection": collection, "generation": number})
    return generation

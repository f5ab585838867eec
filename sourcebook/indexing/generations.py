"""The generations of a collection: look-up and creation."""

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
    """Return the active generation of a collection; None before its first ingest."""
    with connection.cursor(row_factory=class_row(Generation)) as cursor:
        return cursor.execute(queries["active_generation"], {"collection": collection}).fetchone()


def wanted_embedding(connection: Connection, collection: str) -> EmbeddingSettings:
    """Return the embedding settings of a collection as last applied."""
    return EmbeddingSettings.model_validate(_settings(connection, collection)["embedding"])


def ensure_generation(connection: Connection, collection: str) -> Generation:
    """Return the active generation of a collection; the first call creates it from the applied settings.

    Raises:
        ConfigurationError: the collection has not been applied.
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
        raise ConfigurationError(
            f"there is no collection {collection}: add it to sourcebook.yaml and run  sourcebook apply"
        )
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
    """Create the first generation of a collection with its partitions, and activate it."""
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


def index_bytes(connection: Connection, generation: Generation) -> int:
    """Return the size of a generation's entries with their indexes on disk, in bytes."""
    row = connection.execute(queries["index_bytes"], {"tables": generation.tables}).fetchone()
    return int(row[0]) if row else 0

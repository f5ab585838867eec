"""A generation: one way of indexing a collection, fixed when it is made."""

from dataclasses import dataclass
from typing import Any

from psycopg import sql

from sourcebook.config.collection import ChunkingSettings, EmbeddingSettings

_PARTITIONED = ("search_entry", "keyword_entry")


@dataclass(frozen=True, slots=True)
class Generation:
    """One row of `generation`."""

    id: int
    collection: str
    chunking: dict[str, Any]
    embedding: dict[str, Any]
    model: str
    dimensions: int

    @property
    def partition(self) -> sql.Identifier:
        """The partition of `search_entry` that holds this generation alone."""
        return sql.Identifier(f"search_entry_{self.id}")

    @property
    def partitions(self) -> dict[str, sql.Identifier]:
        """Its partition of each table that has one."""
        return {table: sql.Identifier(f"{table}_{self.id}") for table in _PARTITIONED}

    @property
    def chunking_settings(self) -> ChunkingSettings:
        """How its documents are cut."""
        return ChunkingSettings.model_validate(self.chunking)

    @property
    def embedding_settings(self) -> EmbeddingSettings:
        """Which model embeds its chunks."""
        return EmbeddingSettings.model_validate(self.embedding)

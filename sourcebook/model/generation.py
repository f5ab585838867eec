"""Generations: immutable combinations of chunking and embedding settings of a collection."""

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
        """Partition of `search_entry` with the entries of this generation."""
        return sql.Identifier(f"search_entry_{self.id}")

    @property
    def partitions(self) -> dict[str, sql.Identifier]:
        """Partition of this generation by partitioned table."""
        return {table: sql.Identifier(f"{table}_{self.id}") for table in _PARTITIONED}

    @property
    def tables(self) -> list[str]:
        """Names of the partitions of this generation."""
        return [f"{table}_{self.id}" for table in _PARTITIONED]

    @property
    def chunking_settings(self) -> ChunkingSettings:
        """Chunking settings of this generation."""
        return ChunkingSettings.model_validate(self.chunking)

    @property
    def embedding_settings(self) -> EmbeddingSettings:
        """Embedding settings of this generation."""
        return EmbeddingSettings.model_validate(self.embedding)

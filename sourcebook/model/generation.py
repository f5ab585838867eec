"""Generations: immutable combinations of chunking and embedding settings of a collection."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from sourcebook.config.passages import OF_THE_MACHINE, ChunkingSettings, EmbeddingSettings
from sourcebook.config.provider import CONNECTION

PARTITIONED = ("search_entry", "keyword_entry")
"""Tables with a partition for each generation."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One row of `generation`."""

    id: int
    collection: str
    chunking: dict[str, Any]
    embedding: dict[str, Any]
    model: str
    dimensions: int
    is_active: bool = True
    """Whether searches use it; otherwise it is being built, or is kept from earlier."""

    @property
    def partition(self) -> sql.Identifier:
        """Partition of `search_entry` with the entries of this generation."""
        return sql.Identifier(f"search_entry_{self.id}")

    @property
    def partitions(self) -> dict[str, sql.Identifier]:
        """Partition of this generation by partitioned table."""
        return {table: sql.Identifier(f"{table}_{self.id}") for table in PARTITIONED}

    @property
    def tables(self) -> list[str]:
        """Names of the partitions of this generation."""
        return [f"{table}_{self.id}" for table in PARTITIONED]

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """Chunking and embedding settings as plain values; a setting unknown to the generation has its default."""
        return plain_settings(self.chunking, self.embedding)

    @property
    def chunking_settings(self) -> ChunkingSettings:
        """Chunking settings of this generation."""
        return ChunkingSettings.model_validate(self.chunking)

    @property
    def embedding_settings(self) -> EmbeddingSettings:
        """Embedding settings of this generation."""
        return EmbeddingSettings.model_validate(self.embedding)


def plain_settings(chunking: Mapping[str, Any], embedding: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the settings that make a generation, with every default filled in.

    How a provider is reached is left out: another address of the same model is no other generation.
    """
    return {
        "chunking": ChunkingSettings.model_validate(chunking).model_dump(mode="json"),
        "embedding": EmbeddingSettings.model_validate(embedding).model_dump(
            mode="json", exclude={*CONNECTION, *OF_THE_MACHINE}
        ),
    }

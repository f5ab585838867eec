"""A generation of many entries to measure the vector leg with, published without texts."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg import Connection, sql

from benchmarks.corpora.vectors import DIMENSIONS, Rows
from sourcebook.config.collection import ChunkingSettings, EmbeddingSettings
from sourcebook.indexing.generations import create_generation
from sourcebook.model.generation import Generation
from sourcebook.search.scope import ScopedGeneration

CHUNKS_OF_A_DOCUMENT = 5


@dataclass
class Shelf:
    """A published generation; entries are numbered from 1 like their vectors, five a document."""

    connection: Connection
    generation: Generation
    rows: Rows
    filled: int = 0

    @classmethod
    def make(cls, connection: Connection, rows: Rows, shares: tuple[float, ...]) -> Self:
        """Make the documents; a tag such as `0.1` marks that share of them."""
        connection.execute("INSERT INTO collection (name, settings) VALUES ('benchmark', '{}')")
        generation = create_generation(
            connection, "benchmark", ChunkingSettings(), EmbeddingSettings(), model="m", dimensions=DIMENSIONS
        )
        documents = len(rows) // CHUNKS_OF_A_DOCUMENT
        connection.execute(
            """
            WITH source AS (
                INSERT INTO source (collection, kind, location, include, exclude, tags, max_bytes)
                VALUES ('benchmark', 'files', '/srv', '{}', '{}', '{}', 1) RETURNING id
            )
            INSERT INTO document (collection, source_id, uri, kind, media_type, tags, input_hash, config_hash)
            SELECT 'benchmark', source.id, number, 'file', 'text/plain', (
                SELECT coalesce(array_agg(tag), '{}')
                FROM unnest(%(tags)s::text[], %(counts)s::integer[]) AS tagged (tag, count) WHERE number <= count
            ), '', '' FROM source, generate_series(1, %(documents)s) number
            """,
            {
                "documents": documents,
                "tags": [str(share) for share in shares],
                "counts": [round(documents * share) for share in shares],
            },
        )
        connection.execute("CREATE TEMPORARY TABLE given (number integer, vector halfvec)")
        connection.execute(sql.SQL("ALTER TABLE {} SET (autovacuum_enabled = off)").format(generation.partition))
        return cls(connection, generation, rows)

    @property
    def scoped(self) -> list[ScopedGeneration]:
        """The generation, as a search has it."""
        return [ScopedGeneration("benchmark", self.generation.id, "m", EmbeddingSettings(), DIMENSIONS, ("simple",))]

    def fill(self, entries: int) -> None:
        """Publish vectors up to a number."""
        first, self.filled = self.filled, entries
        self.connection.execute("TRUNCATE given")
        with self.connection.cursor().copy("COPY given FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int4", "halfvec"])
            for number, row in enumerate(self.rows[first:entries], start=first + 1):
                copy.write_row((number, HalfVector(row)))
        self.connection.execute(
            """
            WITH cut AS (
                INSERT INTO chunk (generation_id, document_id, ordinal, text, context, heading_path, start_char,
                                   end_char, token_count, hash, embedding_hash)
                SELECT %(generation)s, document.id, number, '', '', '{}', 0, 0, 1, '', ''
                FROM given JOIN document ON uri = (1 + (number - 1) / %(each)s)::text ORDER BY number
                RETURNING id, document_id, ordinal
            )
            INSERT INTO search_entry (generation_id, chunk_id, document_id, vector, lexemes)
            SELECT %(generation)s, cut.id, cut.document_id, given.vector, ''
            FROM cut JOIN given ON given.number = cut.ordinal ORDER BY cut.ordinal
            """,
            {"generation": self.generation.id, "each": CHUNKS_OF_A_DOCUMENT},
        )
        self.connection.execute("VACUUM ANALYZE search_entry, document, chunk")

    def delete(self, numbers: NDArray[np.int64]) -> None:
        """Withdraw entries."""
        self.connection.execute(
            "DELETE FROM search_entry USING chunk WHERE search_entry.generation_id = %(generation)s "
            "AND chunk.id = search_entry.chunk_id AND chunk.ordinal = ANY(%(numbers)s)",
            {"generation": self.generation.id, "numbers": numbers.tolist()},
        )
        self.connection.execute(sql.SQL("ANALYZE {}").format(self.generation.partition))

    def vacuum(self) -> None:
        """Vacuum the withdrawn entries, as autovacuum does later."""
        self.connection.execute(sql.SQL("VACUUM ANALYZE {}").format(self.generation.partition))

    def numbers(self) -> dict[int, int]:
        """Return the number of each chunk, by its id."""
        return dict(self.connection.execute("SELECT id, ordinal FROM chunk").fetchall())

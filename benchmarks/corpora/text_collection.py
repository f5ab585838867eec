"""A large collection published straight into the tables, with texts and vectors like real ones."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from pgvector import HalfVector
from psycopg import Connection, sql

from benchmarks.corpora.vectors import DIMENSIONS, Rows
from benchmarks.harness.report import say
from sourcebook.config.collection import ChunkingSettings, EmbeddingSettings
from sourcebook.indexing.generations import create_generation
from sourcebook.indexing.graphs import maintain_indexes
from sourcebook.model.generation import Generation
from sourcebook.search.scope import SearchScope, find_scope
from sourcebook.stages.index_upkeep import maintain_index

CHUNKS_OF_A_DOCUMENT = 5
TABLES = ("search_entry", "keyword_entry", "keyword_block", "lexeme", "chunk")
_BATCH = 2_000
_MODEL = "given"

_PUBLISH = """
INSERT INTO search_entry (generation_id, chunk_id, document_id, vector, lexemes, configuration)
SELECT chunk.generation_id, chunk.id, chunk.document_id, given.vector,
       entry_lexemes('english', document.title, chunk.heading_path, chunk.text), 'english'
FROM chunk JOIN document ON document.id = chunk.document_id JOIN given ON given.chunk_id = chunk.id
WHERE chunk.id BETWEEN %(first)s AND %(last)s
"""
_SIZE = """
SELECT coalesce(sum(pg_total_relation_size(relid)), pg_total_relation_size(%(table)s::regclass))::bigint
FROM pg_partition_tree(%(table)s::regclass) WHERE isleaf
"""


@dataclass(frozen=True)
class TextShelf:
    """A published collection; passages are numbered from 0 like their texts and vectors."""

    name: str
    generation: Generation
    first_chunk: int
    entries: int
    seconds: dict[str, float]
    """Seconds of each step of filling it."""
    bytes: dict[str, float]
    """Bytes a passage that each table grew by, indexes included."""

    @classmethod
    def fill(cls, connection: Connection, name: str, texts: Sequence[str], vectors: Rows) -> Self:
        """Publish passages of these texts and vectors as a collection, with all its indexes."""
        connection.execute("INSERT INTO collection (name, settings) VALUES (%s, '{}')", [name])
        generation = create_generation(
            connection, name, ChunkingSettings(), EmbeddingSettings(), model=_MODEL, dimensions=DIMENSIONS
        )
        before, seconds = _sizes(connection), {}
        first_chunk = _copy(connection, generation, texts, vectors)
        started = time.perf_counter()
        for first in range(first_chunk, first_chunk + len(texts), _BATCH):
            last = min(first + _BATCH, first_chunk + len(texts)) - 1
            connection.execute(_PUBLISH, {"first": first, "last": last})
            if (last - first_chunk + 1) % (10 * _BATCH) == 0:
                say(f"    {last - first_chunk + 1:,}/{len(texts):,} passages, {time.perf_counter() - started:.0f} s")
        seconds["publishing"], started = time.perf_counter() - started, time.perf_counter()
        maintain_indexes(connection, generation, entries=len(texts), moved=len(texts))
        seconds["GIN and HNSW"], started = time.perf_counter() - started, time.perf_counter()
        maintain_index(connection, generation)
        seconds["keyword blocks"] = time.perf_counter() - started
        connection.execute("VACUUM ANALYZE search_entry, keyword_entry, keyword_block, lexeme, chunk, document")
        grown = {table: (size - before[table]) / len(texts) for table, size in _sizes(connection).items()}
        return cls(name, generation, first_chunk, len(texts), seconds, grown)

    def scope(self, connection: Connection) -> SearchScope:
        """Return its scope, as a search has it."""
        return find_scope(connection, [self.name])


def _copy(connection: Connection, generation: Generation, texts: Sequence[str], vectors: Rows) -> int:
    """Write documents and chunks, and vectors into a temporary table; return the id of the first chunk."""
    (source,) = connection.execute(
        "INSERT INTO source (collection, kind, location, include, exclude, tags, max_bytes) "
        "VALUES (%s, 'files', '/srv', '{}', '{}', '{}', 1) RETURNING id",
        [generation.collection],
    ).fetchone() or (0,)
    (first_document, first_chunk) = connection.execute(
        "SELECT (SELECT coalesce(max(id), 0) + 1 FROM document), (SELECT coalesce(max(id), 0) + 1 FROM chunk)"
    ).fetchone() or (1, 1)
    connection.execute("DROP TABLE IF EXISTS given; CREATE TEMPORARY TABLE given (chunk_id bigint, vector halfvec)")
    documents = range(math.ceil(len(texts) / CHUNKS_OF_A_DOCUMENT))
    with connection.cursor().copy(
        "COPY document (id, collection, source_id, uri, kind, media_type, tags, language, input_hash, config_hash, "
        "version) FROM STDIN"
    ) as copy:
        for number in documents:
            copy.write_row(
                (first_document + number, generation.collection, source, f"{number:06}.md", "file", "text/markdown",
                 [], "en", b"", "", 1)
            )  # fmt: skip
    with connection.cursor().copy(
        "COPY chunk (id, generation_id, document_id, ordinal, text, context, heading_path, start_char, end_char, "
        "token_count, hash, embedding_hash) FROM STDIN"
    ) as copy:
        for number, text in enumerate(texts):
            document, ordinal = divmod(number, CHUNKS_OF_A_DOCUMENT)
            copy.write_row(
                (first_chunk + number, generation.id, first_document + document, ordinal, text, "", [], 0, len(text),
                 len(text) // 5, b"", b"")
            )  # fmt: skip
    with connection.cursor().copy("COPY given FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(["int8", "halfvec"])
        for number, vector in enumerate(vectors[: len(texts)]):
            copy.write_row((first_chunk + number, HalfVector(vector)))
    connection.execute(
        sql.SQL("ANALYZE given; ANALYZE document; ANALYZE chunk; ALTER TABLE {} SET (autovacuum_enabled = off)").format(
            generation.partition
        )
    )
    return int(first_chunk)


def _sizes(connection: Connection) -> dict[str, int]:
    sizes = {table: connection.execute(_SIZE, {"table": table}).fetchone() for table in TABLES}
    return {table: int(row[0]) for table, row in sizes.items() if row}

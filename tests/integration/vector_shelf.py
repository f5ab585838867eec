"""Generations of clustered vectors, and the nearest of them by numpy alone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg import Connection

from sourcebook.config.collection import ChunkingSettings, EmbeddingSettings
from sourcebook.database.database import Database
from sourcebook.indexing import graphs
from sourcebook.indexing.generations import create_generation
from sourcebook.model.generation import Generation
from sourcebook.search.ranking.vector_leg import VectorRanking
from sourcebook.search.scope import ScopedGeneration

DIMENSIONS, CLUSTERS, CHUNKS_OF_A_DOCUMENT = 32, 60, 4
LARGE, OTHER, SMALL = 4_200, 1_800, 600
DEPTH = 20
SELECTIVITIES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 0.9, 1.0)


@dataclass
class Shelf:
    """Generations of entries with vectors of length 1 in clusters, as embeddings are."""

    database: Database
    generations: dict[str, Generation]
    chunks: dict[str, NDArray[np.int64]]
    vectors: dict[str, NDArray[np.float32]]
    queries: NDArray[np.float32]

    def scoped(self, *names: str) -> list[ScopedGeneration]:
        return [
            ScopedGeneration(name, self.generations[name].id, "m", EmbeddingSettings(), DIMENSIONS, ("simple",))
            for name in names
        ]

    def oracle(self, query: NDArray[np.float32], *names: str, documents: float = 1.0) -> list[int]:
        """Return the nearest entries of the first so many documents of each generation, by numpy alone."""
        found = []
        for name in names:
            count = round(len(self.chunks[name]) // CHUNKS_OF_A_DOCUMENT * documents) * CHUNKS_OF_A_DOCUMENT
            near = self.vectors[name][:count] @ HalfVector(query).to_numpy().astype(np.float32)
            found += [(-near[place], int(self.chunks[name][place])) for place in range(count)]
        return [chunk for _, chunk in sorted(found)[:DEPTH]]

    def recall(self, rankings: list[VectorRanking], *names: str, documents: float = 1.0) -> float:
        """Return the share of the nearest entries that were found, over all queries."""
        found = wanted = 0
        for query, ranking in zip(self.queries, rankings, strict=True):
            exact = self.oracle(query, *names, documents=documents)
            found += len({chunk for chunk, _ in ranking.hits} & set(exact))
            wanted += len(exact)
        return found / wanted


def filled_shelf(database: Database) -> Shelf:
    """Publish two large generations with HNSW indexes, and a small one without."""
    random = np.random.default_rng(7)
    centres = random.standard_normal((CLUSTERS, DIMENSIONS))
    shelf = Shelf(database, {}, {}, {}, _unit(_around(random, centres, 20)))
    with database.connection() as connection:
        for name, entries in (("large", LARGE), ("other", OTHER), ("small", SMALL)):
            vectors = _unit(_around(random, centres, entries))
            shelf.generations[name], shelf.chunks[name] = _generation(connection, name, vectors)
            shelf.vectors[name] = vectors
            if name != "small":
                graphs.build_vector_index(connection, shelf.generations[name], entries)
        connection.execute("ANALYZE")
    return shelf


def _around(random: np.random.Generator, centres: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    chosen = centres[random.integers(0, len(centres), count)]
    return np.asarray(chosen + 0.6 * random.standard_normal(chosen.shape))


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return rows of length 1, as exactly as a halfvec holds them."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16).astype(np.float32)


def _generation(
    connection: Connection, name: str, vectors: NDArray[np.float32]
) -> tuple[Generation, NDArray[np.int64]]:
    """Publish vectors, some to a document. Of the first documents, so many have the tag `0.1` as that share says."""
    connection.execute("INSERT INTO collection (name, settings) VALUES (%s, '{}')", [name])
    generation = create_generation(
        connection, name, ChunkingSettings(), EmbeddingSettings(), model="m", dimensions=DIMENSIONS
    )
    documents = len(vectors) // CHUNKS_OF_A_DOCUMENT
    scope = {
        "name": name,
        "documents": documents,
        "generation": generation.id,
        "each": CHUNKS_OF_A_DOCUMENT,
        "tags": [str(share) for share in SELECTIVITIES],
        "counts": [round(documents * share) for share in SELECTIVITIES],
    }
    connection.execute(
        """
        WITH source AS (
            INSERT INTO source (collection, kind, location, include, exclude, tags, max_bytes)
            VALUES (%(name)s, 'files', '/srv', '{}', '{}', '{}', 1) RETURNING id
        )
        INSERT INTO document (collection, source_id, uri, kind, media_type, tags, input_hash, config_hash)
        SELECT %(name)s, source.id, number, 'file', 'text/plain', (
            SELECT coalesce(array_agg(tag), '{}')
            FROM unnest(%(tags)s::text[], %(counts)s::integer[]) AS tagged (tag, count) WHERE number <= count
        ), '', '' FROM source, generate_series(1, %(documents)s) number
        """,
        scope,
    )
    rows = connection.execute(
        """
        INSERT INTO chunk (generation_id, document_id, ordinal, text, context, heading_path, start_char, end_char,
                           token_count, hash, embedding_hash)
        SELECT %(generation)s, id, ordinal, '', '', '{}', 0, 0, 1, '', ''
        FROM document, generate_series(1, %(each)s) ordinal WHERE collection = %(name)s ORDER BY id, ordinal
        RETURNING id, document_id
        """,
        scope,
    ).fetchall()
    columns = "generation_id, chunk_id, document_id, vector, lexemes"
    with connection.cursor().copy(f"COPY search_entry ({columns}) FROM STDIN") as copy:
        for number, ((chunk, document), vector) in enumerate(zip(rows, vectors, strict=True)):
            words = f"part{number % 100}:2 word{number % 3}:1"
            copy.write_row((generation.id, chunk, document, HalfVector(vector).to_text(), words))
    return generation, np.array([chunk for chunk, _ in rows])

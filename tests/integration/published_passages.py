"""Published passages with texts and vectors of one's own, without parser and model."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from sourcebook.config.collection import ChunkingSettings, EmbeddingSettings
from sourcebook.indexing.generations import create_generation
from sourcebook.model.generation import Generation
from tests.integration.stages import Stages

DIMENSIONS = 8


def unit_vectors(count: int, seed: int = 0) -> NDArray[np.float32]:
    """Return `(count, DIMENSIONS)` random vectors of length 1."""
    vectors = np.random.default_rng(seed).normal(size=(count, DIMENSIONS)).astype(np.float32)
    unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def publish_passages(
    stages: Stages, documents: Sequence[Sequence[str]], collection: str = "handbook", model: str = "m"
) -> Generation:
    """Make a generation of documents, each given by the texts of its passages, that stand 10 characters apart."""
    with stages.connection() as connection, connection.transaction():
        generation = create_generation(
            connection, collection, ChunkingSettings(), EmbeddingSettings(), model=model, dimensions=DIMENSIONS
        )
        connection.execute(
            "UPDATE collection SET active_generation_id = %s WHERE name = %s", [generation.id, collection]
        )
        passages: list[tuple[int, int, str, str, int, int]] = []
        for number, texts in enumerate(documents):
            document = connection.execute(
                "INSERT INTO document (collection, source_id, uri, kind, media_type, tags, metadata, input_hash, "
                "config_hash, version) SELECT %(collection)s, min(id), 'file:///' || %(number)s, 'file', "
                "'text/markdown', '{sea}', '{\"author\": \"Ann\"}', '', '', 1 FROM source "
                "WHERE collection = %(collection)s "
                "ON CONFLICT (collection, uri) DO UPDATE SET version = document.version RETURNING id",
                {"collection": collection, "number": str(number)},
            ).fetchone()
            assert document is not None
            connection.execute(
                "INSERT INTO indexed_document (generation_id, document_id, input_hash, config_hash, chunk_count, "
                "published_version, published_title, published_language) VALUES (%s, %s, '', '', %s, 1, %s, 'en')",
                [generation.id, document[0], len(texts), f"Document {number}"],
            )
            starts = np.cumsum([0, *(len(text) + 10 for text in texts)]).tolist()
            passages += [
                (document[0], ordinal, text, f"Document {number} > Top", starts[ordinal], starts[ordinal] + len(text))
                for ordinal, text in enumerate(texts)
            ]
        columns = [list(column) for column in zip(*passages, strict=True)]
        vectors = unit_vectors(len(passages), seed=generation.id)
        connection.execute(
            "WITH given AS MATERIALIZED (SELECT * FROM unnest(%(documents)s::bigint[], %(ordinals)s::int[], "
            "%(texts)s::text[], %(contexts)s::text[], %(starts)s::int[], %(ends)s::int[], %(vectors)s::halfvec[]) "
            "WITH ORDINALITY AS given (document, ordinal, text, context, start, ends, vector, place)), "
            "made AS (INSERT INTO chunk (generation_id, document_id, ordinal, text, context, heading_path, "
            "start_char, end_char, token_count, hash, embedding_hash) "
            "SELECT %(generation)s, document, ordinal, text, context, '{Top}', start, ends, 1, '', '' "
            "FROM given ORDER BY place RETURNING id, document_id, ordinal) "
            "INSERT INTO search_entry (generation_id, chunk_id, document_id, vector, lexemes) "
            "SELECT %(generation)s, made.id, made.document_id, vector, to_tsvector('simple', text) "
            "FROM made JOIN given ON document = document_id AND given.ordinal = made.ordinal ORDER BY place",
            {
                "generation": generation.id,
                "documents": columns[0],
                "ordinals": columns[1],
                "texts": columns[2],
                "contexts": columns[3],
                "starts": columns[4],
                "ends": columns[5],
                "vectors": [HalfVector(vector).to_text() for vector in vectors],
            },
        )
    return generation

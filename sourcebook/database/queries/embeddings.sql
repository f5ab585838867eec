-- name: count_embedding_needs
-- Return how many distinct texts of unpublished documents there are, and how many of them have a vector.
SELECT count(DISTINCT chunk.embedding_hash),
       count(DISTINCT chunk.embedding_hash) FILTER (WHERE embedding.text_hash IS NOT NULL)
FROM indexed_document indexed
JOIN document ON document.id = indexed.document_id AND document.removed_at IS NULL
JOIN chunk ON chunk.generation_id = indexed.generation_id AND chunk.document_id = indexed.document_id
LEFT JOIN embedding ON embedding.model = %(model)s AND embedding.text_hash = chunk.embedding_hash
WHERE indexed.generation_id = %(generation)s AND indexed.failure IS NULL
  AND (%(changed)s::bigint[] IS NULL OR indexed.document_id = ANY(%(changed)s))
  AND (indexed.published_hash IS DISTINCT FROM indexed.input_hash
       OR indexed.published_config IS DISTINCT FROM indexed.config_hash
       OR indexed.awaits_vectors)
  AND NOT EXISTS (
      SELECT FROM search_entry entry
      WHERE entry.generation_id = %(generation)s AND entry.chunk_id = chunk.id AND entry.vector IS NOT NULL);

-- name: documents_to_embed
-- Return the next documents that are not published with vectors, with about as many passages as are asked for.
-- They come in the order of their ids, in which they were made.
SELECT document_id
FROM (
    SELECT document_id, sum(chunk_count) OVER (ORDER BY document_id) - chunk_count AS passages_before
    FROM (
        SELECT indexed.document_id, indexed.chunk_count
        FROM indexed_document indexed
        JOIN document ON document.id = indexed.document_id AND document.removed_at IS NULL
        WHERE indexed.generation_id = %(generation)s AND indexed.document_id > %(after)s
          AND (%(changed)s::bigint[] IS NULL OR indexed.document_id = ANY(%(changed)s))
          AND (indexed.published_hash IS DISTINCT FROM indexed.input_hash
               OR indexed.published_config IS DISTINCT FROM indexed.config_hash
               OR indexed.awaits_vectors)
        ORDER BY indexed.document_id
        LIMIT %(passages)s
    ) waiting
) counted
WHERE passages_before < %(passages)s
ORDER BY document_id;

-- name: texts_to_embed
-- Return the texts of documents that have no vector, with their tokens, the longest first.
-- Texts of like length share a batch.
SELECT needed.embedding_hash, needed.text, needed.token_count
FROM (
    SELECT DISTINCT ON (chunk.embedding_hash)
           chunk.embedding_hash, chunk.context || chunk.text AS text, chunk.token_count
    FROM chunk
    WHERE chunk.generation_id = %(generation)s AND chunk.document_id = ANY(%(documents)s)
      AND chunk.embedding_hash IS NOT NULL
      AND NOT EXISTS (
          SELECT FROM embedding WHERE embedding.model = %(model)s AND embedding.text_hash = chunk.embedding_hash)
    ORDER BY chunk.embedding_hash
) needed
ORDER BY needed.token_count DESC, needed.embedding_hash;

-- name: documents_with_texts
-- Return the documents whose chunks without a vector have some texts, by the hashes of these.
SELECT DISTINCT chunk.embedding_hash, chunk.document_id
FROM chunk
WHERE chunk.generation_id = %(generation)s AND chunk.embedding_hash = ANY(%(hashes)s)
  AND NOT EXISTS (
      SELECT FROM search_entry entry
      WHERE entry.generation_id = %(generation)s AND entry.chunk_id = chunk.id AND entry.vector IS NOT NULL);

-- name: create_vector_staging
-- Create the temporary table that vectors are copied into.
CREATE TEMPORARY TABLE IF NOT EXISTS new_embedding (text_hash bytea, vector halfvec) ON COMMIT DELETE ROWS;

-- name: copy_vectors
-- Copy vectors into the temporary table.
COPY pg_temp.new_embedding (text_hash, vector) FROM STDIN (FORMAT binary);

-- name: keep_vectors
-- Insert the copied vectors that are not stored yet, in the order of their keys: two workers may have equal texts.
INSERT INTO embedding (model, text_hash, vector)
SELECT %(model)s, text_hash, vector FROM pg_temp.new_embedding ORDER BY text_hash
ON CONFLICT (model, text_hash) DO NOTHING;

-- name: published_texts
-- Return the number of distinct texts among the entries of a generation.
SELECT text_count FROM generation WHERE id = %(generation)s;

-- name: analyze_embeddings
-- Analyze the tables of this stage for the planner; see analyze_raw_files.
ANALYZE embedding (model, text_hash);

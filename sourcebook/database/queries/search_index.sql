-- name: withdraw_removed_documents
-- Delete the entries of removed documents, and return their chunks; `newest` says whether a chunk is of the newest ones.
-- Newest chunks and vectors stay, so that documents can return without work; the caller deletes older published chunks.
WITH gone AS (
    SELECT indexed.document_id,
           indexed.published_hash = indexed.input_hash
           AND indexed.published_config IS NOT DISTINCT FROM indexed.config_hash AS newest
    FROM indexed_document indexed
    JOIN document ON document.id = indexed.document_id
    WHERE document.removed_at IS NOT NULL
      AND indexed.generation_id = %(generation)s AND indexed.published_hash IS NOT NULL
      AND (%(changed)s::bigint[] IS NULL OR indexed.document_id = ANY(%(changed)s))
), withdrawn AS (
    UPDATE indexed_document indexed
    SET published_hash = NULL, published_config = NULL, published_version = NULL, published_title = NULL,
        published_language = NULL, published_at = NULL, published_chunks = NULL, published_digest = NULL,
        awaits_vectors = false
    FROM gone
    WHERE indexed.document_id = gone.document_id AND indexed.generation_id = %(generation)s
)
DELETE FROM search_entry entry
USING gone
WHERE entry.generation_id = %(generation)s AND entry.document_id = gone.document_id
RETURNING entry.chunk_id, gone.newest;

-- name: documents_to_publish
-- Return documents whose chunks are cut from their newest content, are embedded and are not published with vectors yet.
-- Columns: the document; whether it has new chunks; whether the lexemes of kept ones change with its title, its language or
-- how words are read; whether entries wait for their vectors.
SELECT indexed.document_id,
       indexed.published_hash IS DISTINCT FROM indexed.input_hash
       OR indexed.published_config IS DISTINCT FROM indexed.config_hash,
       indexed.published_hash IS NOT NULL
       AND (indexed.published_title, indexed.published_language, indexed.words_version)
           IS DISTINCT FROM (document.title, document.language, words_version()),
       indexed.awaits_vectors
FROM indexed_document indexed
JOIN document ON document.id = indexed.document_id
WHERE indexed.generation_id = %(generation)s AND indexed.failure IS NULL
  AND (%(changed)s::bigint[] IS NULL OR indexed.document_id = ANY(%(changed)s))
  AND document.removed_at IS NULL
  AND indexed.input_hash = document.content_hash
  AND (indexed.published_hash IS DISTINCT FROM indexed.input_hash
       OR indexed.published_config IS DISTINCT FROM indexed.config_hash
       OR indexed.published_version IS DISTINCT FROM document.version
       OR indexed.published_title IS DISTINCT FROM document.title
       OR indexed.published_language IS DISTINCT FROM document.language
       OR indexed.words_version IS DISTINCT FROM words_version()
       OR indexed.awaits_vectors)
  AND NOT EXISTS (
      SELECT FROM chunk
      WHERE chunk.generation_id = indexed.generation_id AND chunk.document_id = indexed.document_id
        AND chunk.embedding_hash IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM search_entry entry
            WHERE entry.generation_id = %(generation)s AND entry.chunk_id = chunk.id
              AND (entry.vector IS NOT NULL
                   OR indexed.published_hash IS DISTINCT FROM indexed.input_hash
                   OR indexed.published_config IS DISTINCT FROM indexed.config_hash))
        AND NOT EXISTS (
            SELECT FROM embedding
            WHERE embedding.model = %(model)s AND embedding.text_hash = chunk.embedding_hash))
ORDER BY indexed.document_id;

-- name: new_documents
-- Return the documents, of a collection or a shard, that the active generation has published nothing of, and their size.
-- Those with ids up to one are left out.
SELECT document.id, length(parsed.markdown)
FROM document
JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
JOIN collection ON collection.name = document.collection
LEFT JOIN indexed_document indexed
    ON indexed.document_id = document.id AND indexed.generation_id = collection.active_generation_id
WHERE document.collection = %(collection)s AND document.id > %(after)s AND document.removed_at IS NULL
  AND indexed.published_hash IS NULL AND indexed.failure IS NULL
  AND CASE WHEN %(shards)s::integer IS NULL THEN true
      ELSE item_bucket(root_item(%(collection)s, document.uri)) * %(shards)s / 4096 + 1 = %(shard)s END
ORDER BY document.id;

-- name: keep_chunks
-- Keep the published row of each chunk whose text is unchanged, and return the ids of these rows.
-- The kept row takes the position of the prepared chunk, which is deleted. Nothing is kept of a damaged document, nor
-- where a passage gets a vector or loses it, or waits for one.
WITH numbered AS (
    SELECT chunk.*, entry.chunk_id IS NOT NULL AS published, entry.vector IS NOT NULL AS has_vector,
           row_number() OVER (
               PARTITION BY chunk.document_id, chunk.hash, entry.chunk_id IS NOT NULL ORDER BY chunk.ordinal) AS nth
    FROM chunk
    LEFT JOIN search_entry entry ON entry.generation_id = %(generation)s AND entry.chunk_id = chunk.id
    WHERE chunk.generation_id = %(generation)s AND chunk.document_id = ANY(%(documents)s)
      AND NOT EXISTS (
          SELECT FROM indexed_document indexed
          WHERE indexed.generation_id = %(generation)s AND indexed.document_id = chunk.document_id
            AND indexed.damage IS NOT NULL)
), pair AS (
    SELECT published.id AS published_id, prepared.id AS prepared_id, prepared.ordinal, prepared.anchor,
           prepared.page, prepared.start_char, prepared.end_char, prepared.start_seconds, prepared.end_seconds, prepared.parts
    FROM numbered published
    JOIN numbered prepared USING (document_id, hash, nth)
    WHERE published.published AND NOT prepared.published
      AND published.has_vector = (prepared.embedding_hash IS NOT NULL)
), moved AS (
    UPDATE chunk
    SET ordinal = pair.ordinal, anchor = pair.anchor, page = pair.page, start_char = pair.start_char,
        end_char = pair.end_char, start_seconds = pair.start_seconds, end_seconds = pair.end_seconds, parts = pair.parts
    FROM pair WHERE chunk.id = pair.published_id
), dropped AS (
    DELETE FROM chunk USING pair WHERE chunk.id = pair.prepared_id
)
SELECT published_id FROM pair;

-- name: delete_replaced_entries
-- Delete the entries of published chunks that the new version does not have.
DELETE FROM search_entry
WHERE generation_id = %(generation)s AND document_id = ANY(%(documents)s) AND NOT chunk_id = ANY(%(kept)s)
RETURNING chunk_id;

-- name: delete_chunks
-- Delete chunks by id.
DELETE FROM chunk WHERE id = ANY(%(chunks)s);

-- name: insert_entries
-- Insert the entries of the chunks that have none; in a partition itself, no trigger of `search_entry` follows.
-- An entry without a vector is in no graph; attach_vectors gives it one where it waits for it.
INSERT INTO {table} (generation_id, chunk_id, document_id, vector, lexemes, configuration, in_graph)
SELECT chunk.generation_id, chunk.id, chunk.document_id, embedding.vector,
       entry_lexemes(
           text_search_configuration(document.language),
           document.title, chunk.heading_path, chunk.text),
       text_search_configuration(document.language)::text, %(in_graph)s OR embedding.vector IS NULL
FROM chunk
JOIN document ON document.id = chunk.document_id
LEFT JOIN embedding ON embedding.model = %(model)s AND embedding.text_hash = chunk.embedding_hash
WHERE chunk.generation_id = %(generation)s AND chunk.document_id = ANY(%(documents)s)
  AND (embedding.vector IS NOT NULL OR chunk.embedding_hash IS NULL OR %(words_first)s)
  AND NOT EXISTS (
      SELECT FROM search_entry entry WHERE entry.generation_id = %(generation)s AND entry.chunk_id = chunk.id)
ORDER BY chunk.id;

-- name: attach_vectors
-- Give entries in a partition the vectors that they wait for; no trigger of `search_entry` follows, as no word changes.
UPDATE {table} entry SET vector = embedding.vector, in_graph = %(in_graph)s
FROM chunk
JOIN embedding ON embedding.model = %(model)s AND embedding.text_hash = chunk.embedding_hash
WHERE entry.document_id = ANY(%(documents)s) AND entry.vector IS NULL AND chunk.id = entry.chunk_id;

-- name: refresh_entry_lexemes
-- Update the lexemes of kept entries where the title or language of their document, or how words are read, changed.
UPDATE search_entry entry
SET configuration = text_search_configuration(document.language)::text,
    lexemes = entry_lexemes(
        text_search_configuration(document.language),
        document.title, chunk.heading_path, chunk.text),
    in_graph = %(in_graph)s OR entry.vector IS NULL
FROM chunk
JOIN document ON document.id = chunk.document_id
JOIN indexed_document indexed
    ON indexed.document_id = document.id AND indexed.generation_id = %(generation)s
WHERE entry.generation_id = %(generation)s AND entry.chunk_id = chunk.id
  AND chunk.document_id = ANY(%(documents)s)
  AND indexed.published_hash IS NOT NULL
  AND (indexed.published_title, indexed.published_language, indexed.words_version)
      IS DISTINCT FROM (document.title, document.language, words_version());

-- name: record_published_documents
-- Mark documents as published in their current version, with the sums of their entries, and whether any waits for a vector.
UPDATE indexed_document indexed
SET published_hash = indexed.input_hash, published_config = indexed.config_hash,
    published_version = document.version, published_title = document.title,
    published_language = document.language, words_version = words_version(), published_at = now(), damage = NULL,
    awaits_vectors = coalesce(published.awaits_vectors, false),
    published_chunks = coalesce(published.entries, 0), published_digest = coalesce(published.digest, 0),
    prepared_digest = coalesce(published.prepared, 0)  -- a kept row is not the one that was cut in its place
FROM document
LEFT JOIN (
    SELECT entry.document_id, count(*) AS entries, sum(entry_seal(entry, chunk)) AS digest,
           sum(chunk_seal(chunk)) AS prepared,
           bool_or(entry.vector IS NULL AND chunk.embedding_hash IS NOT NULL) AS awaits_vectors
    FROM search_entry entry JOIN chunk ON chunk.id = entry.chunk_id
    WHERE entry.generation_id = %(generation)s AND entry.document_id = ANY(%(documents)s)
    GROUP BY 1
) published ON published.document_id = document.id
WHERE document.id = indexed.document_id
  AND indexed.generation_id = %(generation)s AND indexed.document_id = ANY(%(documents)s);

-- name: count_entries
-- Return the number of entries of a generation.
SELECT entry_count FROM generation WHERE id = %(generation)s;

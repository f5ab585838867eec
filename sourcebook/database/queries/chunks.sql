-- name: unprepared_documents
-- Return documents whose chunks are missing, or cut from other content or by other rules.
SELECT document.id, length(parsed.markdown) AS size
FROM document
JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
LEFT JOIN indexed_document indexed
    ON indexed.document_id = document.id AND indexed.generation_id = %(generation)s
WHERE document.collection = %(collection)s AND document.removed_at IS NULL
  AND (%(changed)s::bigint[] IS NULL OR document.id = ANY(%(changed)s))
  AND (indexed.document_id IS NULL
       OR indexed.input_hash <> document.content_hash
       OR indexed.config_hash <> %(config_hash)s
       OR (%(only_failed)s AND indexed.failure IS NOT NULL)
       OR (%(force)s AND (cardinality(%(documents)s::text[]) = 0 OR document.uri = ANY(%(documents)s))))
ORDER BY document.id;

-- name: contents_to_cut
-- Return the sound parsed contents of documents.
SELECT document.id AS document_id, document.uri, document.content_hash,
       parsed.markdown, parsed.blocks, parsed.title, parsed.page_count, parsed.language
FROM document
JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
WHERE document.id = ANY(%(documents)s) AND parsed.seal = parsed_content_seal(parsed);

-- name: published_chunk_hashes
-- Return the hashes of the published chunks of documents.
SELECT chunk.document_id, chunk.hash
FROM chunk
JOIN search_entry entry ON entry.chunk_id = chunk.id AND entry.generation_id = %(generation)s
WHERE chunk.generation_id = %(generation)s AND chunk.document_id = ANY(%(documents)s);

-- name: drop_prepared_chunks
-- Delete the chunks of documents that are not published.
DELETE FROM chunk
WHERE generation_id = %(generation)s AND document_id = ANY(%(documents)s)
  AND NOT EXISTS (
      SELECT FROM search_entry entry WHERE entry.generation_id = %(generation)s AND entry.chunk_id = chunk.id);

-- name: copy_chunks
-- Copy chunks into the table.
COPY chunk (generation_id, document_id, ordinal, text, context, heading_path, anchor, page, start_char, end_char,
            token_count, hash, embedding_hash, start_seconds, end_seconds, parts)
FROM STDIN (FORMAT binary);

-- name: record_prepared_documents
-- Record from which content and by which rules the chunks of documents were cut, or why they cannot be stored.
INSERT INTO indexed_document
    (generation_id, document_id, input_hash, config_hash, chunk_count, uncovered, prepared_digest, failure, failure_class)
SELECT %(generation)s, document_id, input_hash, %(config_hash)s, chunk_count, uncovered, coalesce(cut.digest, 0),
       failure, failure_class
FROM unnest(%(documents)s::bigint[], %(input_hashes)s::bytea[], %(chunk_counts)s::int[], %(uncovered)s::int[],
            %(failures)s::text[], %(failure_classes)s::text[])
    AS prepared (document_id, input_hash, chunk_count, uncovered, failure, failure_class)
LEFT JOIN (
    SELECT chunk.document_id, sum(chunk_seal(chunk)) AS digest
    FROM chunk
    WHERE chunk.generation_id = %(generation)s AND chunk.document_id = ANY(%(documents)s)
      AND NOT EXISTS (
          SELECT FROM search_entry entry WHERE entry.generation_id = %(generation)s AND entry.chunk_id = chunk.id)
    GROUP BY 1
) cut USING (document_id)
ON CONFLICT (generation_id, document_id) DO UPDATE SET
    input_hash = excluded.input_hash, config_hash = excluded.config_hash,
    chunk_count = excluded.chunk_count, uncovered = excluded.uncovered, prepared_digest = excluded.prepared_digest,
    failure = excluded.failure, failure_class = excluded.failure_class,
    published_config = NULL;           -- the published chunks are no longer the prepared ones

-- name: record_refused_passages
-- Record why prepared documents cannot be embedded or published, and return their URIs with the reasons.
UPDATE indexed_document indexed
SET failure = refused.failure, failure_class = refused.failure_class
FROM unnest(%(documents)s::bigint[], %(failures)s::text[], %(failure_classes)s::text[])
    AS refused (document_id, failure, failure_class)
JOIN document ON document.id = refused.document_id
WHERE indexed.generation_id = %(generation)s AND indexed.document_id = refused.document_id
RETURNING document.uri, refused.failure, refused.failure_class;

-- name: mark_refused_documents
-- Mark documents that the database refused in a generation, so that they are tried again.
INSERT INTO changed_document (collection, document_id)
SELECT document.collection, document.id
FROM indexed_document indexed JOIN document ON document.id = indexed.document_id
WHERE indexed.generation_id = %(generation)s AND indexed.failure IS NOT NULL
  AND (cardinality(%(documents)s::text[]) = 0 OR document.uri = ANY(%(documents)s));

-- name: count_chunks
-- Return the number of chunks of a generation's live documents: entries of the unchanged, chunks of the changed ones.
SELECT CASE WHEN %(changed)s::bigint[] IS NULL THEN 0
       ELSE (SELECT entry_count FROM generation WHERE id = %(generation)s)
          - (SELECT count(*) FROM search_entry entry
             WHERE entry.generation_id = %(generation)s AND entry.document_id = ANY(%(changed)s)) END
     + (SELECT coalesce(sum(indexed.chunk_count), 0)
        FROM indexed_document indexed JOIN document ON document.id = indexed.document_id
        WHERE indexed.generation_id = %(generation)s AND document.removed_at IS NULL
          AND (%(changed)s::bigint[] IS NULL OR indexed.document_id = ANY(%(changed)s)));

-- name: analyze_chunks
-- Analyze the tables of this stage for the planner; see analyze_raw_files.
ANALYZE chunk (id, generation_id, document_id, ordinal, hash, embedding_hash), indexed_document;

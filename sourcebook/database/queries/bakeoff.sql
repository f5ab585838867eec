-- name: sampled_collections
-- Copy a collection, and those that the sources of documents belong to, without their generations.
COPY (
    SELECT name, settings, removed_at, declared_in, written_settings FROM collection
    WHERE name = %(collection)s
       OR name IN (SELECT source.collection FROM document JOIN source ON source.id = document.source_id
                   WHERE document.id = ANY(%(documents)s))
) TO STDOUT (FORMAT binary);

-- name: copy_collections
-- Copy collections into the table.
COPY collection (name, settings, removed_at, declared_in, written_settings) FROM STDIN (FORMAT binary);

-- name: sampled_source
-- Copy the sources of documents.
COPY (
    SELECT {columns} FROM source
    WHERE id IN (SELECT source_id FROM document WHERE id = ANY(%(documents)s))
) TO STDOUT (FORMAT binary);

-- name: sampled_parsed_content
-- Copy the contents of documents.
COPY (
    SELECT {columns} FROM parsed_content parsed
    WHERE EXISTS (SELECT FROM document
                  WHERE document.content_sha256 = parsed.sha256 AND document.content_parser = parsed.parser
                    AND document.id = ANY(%(documents)s))
) TO STDOUT (FORMAT binary);

-- name: sampled_document
-- Copy documents.
COPY (SELECT {columns} FROM document WHERE id = ANY(%(documents)s)) TO STDOUT (FORMAT binary);

-- name: sampled_provider_model
-- Copy the models of providers.
COPY (SELECT {columns} FROM provider_model) TO STDOUT (FORMAT binary);

-- name: documents_with_content
-- Return the live documents of a collection that have a text, with their URIs.
SELECT document.id, document.uri
FROM document
JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
WHERE document.collection = %(collection)s AND document.removed_at IS NULL AND parsed.markdown <> '';

-- name: replace_content
-- Replace the text of a document, and take its title out where it was the question.
WITH replaced AS (
    UPDATE parsed_content parsed SET markdown = %(markdown)s, blocks = %(blocks)s, title = %(title)s
    FROM document
    WHERE document.id = %(document)s
      AND parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
)
UPDATE document SET title = NULL WHERE id = %(document)s AND %(is_untitled)s;

-- name: hashes_without_vector
-- Return the hashes of a generation's texts for which there is no vector.
SELECT DISTINCT chunk.embedding_hash FROM chunk
WHERE chunk.generation_id = %(generation)s AND chunk.embedding_hash IS NOT NULL
  AND NOT EXISTS (
      SELECT FROM embedding WHERE embedding.model = %(model)s AND embedding.text_hash = chunk.embedding_hash);

-- name: copy_kept_vectors
-- Copy the vectors of texts by a model.
COPY (
    SELECT text_hash, vector FROM embedding WHERE model = %(model)s AND text_hash = ANY(%(hashes)s)
) TO STDOUT (FORMAT binary);

-- name: hashes_of_documents
-- Return the hashes of the texts of some documents in a generation.
SELECT DISTINCT embedding_hash FROM chunk
WHERE generation_id = %(generation)s AND document_id = ANY(%(documents)s) AND embedding_hash IS NOT NULL;

-- name: size_of_generation
-- Return passages, bytes of vectors and of texts, and distinct texts and their tokens of a generation.
SELECT count(*), coalesce(sum(pg_column_size(entry.vector)), 0), coalesce(sum(octet_length(chunk.text)), 0),
       count(DISTINCT chunk.embedding_hash), coalesce(sum(chunk.token_count), 0)
FROM chunk JOIN search_entry entry ON entry.chunk_id = chunk.id AND entry.generation_id = chunk.generation_id
WHERE chunk.generation_id = %(generation)s;

-- name: scratch_usage
-- Return what models were used for.
SELECT collection, provider, model, operation, texts, cached, tokens, seconds FROM usage WHERE texts > cached OR tokens > 0;

-- name: has_judgments
-- Return whether people have judged a document of a collection right.
SELECT EXISTS (SELECT FROM judgment WHERE collection = %(collection)s AND grade > 0);

-- name: places_of_passages
-- Return the document and the position of each passage of a generation, its place in the text, and its tokens.
SELECT chunk.document_id, chunk.ordinal, chunk.start_char, chunk.end_char, chunk.token_count
FROM chunk JOIN search_entry entry ON entry.chunk_id = chunk.id AND entry.generation_id = chunk.generation_id
WHERE chunk.generation_id = %(generation)s;

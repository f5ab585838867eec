-- name: checked_at
-- Return the start of the last checks of a collection without a violation, and the present time.
SELECT checked_at, now() FROM collection WHERE name = %(collection)s;

-- name: documents_to_check
-- Return the documents that were published, removed or changed since a time.
-- A transaction takes effect after the time that it records: the search begins one minute earlier.
SELECT indexed.document_id
FROM collection JOIN indexed_document indexed ON indexed.generation_id = collection.active_generation_id
WHERE collection.name = %(collection)s AND indexed.published_at >= %(since)s - interval '1 minute'
UNION
SELECT id FROM document WHERE collection = %(collection)s AND removed_at >= %(since)s - interval '1 minute'
UNION
SELECT document_id FROM changed_document WHERE collection = %(collection)s;

-- name: record_checks
-- Record the start of checks; NULL where they found a violation in the index, so that the next ones look at everything.
UPDATE collection SET checked_at = %(at)s WHERE name = %(collection)s;

-- name: check_no_failed_items
-- Return how many items and sources have failed, and the first ten with their reasons.
WITH failed AS (
    SELECT uri, error FROM item
    WHERE item.collection = %(collection)s AND uri = ANY(%(problems)s) AND state = 'failed'
    UNION ALL
    SELECT location, listing_error FROM source
    WHERE source.collection = %(collection)s AND removed_at IS NULL AND listing_error IS NOT NULL
)
SELECT count(*), (array_agg(concat_ws(': ', uri, error) ORDER BY uri))[:10] FROM failed;

-- name: check_little_text_is_left_out
-- Return how many documents lose more than a tenth of their characters as running heads, and the first ten.
WITH shortened AS (
    SELECT uri, metadata #> '{left_out,share}' AS share, metadata #>> '{left_out,rows}' AS lines
    FROM document
    WHERE collection = %(collection)s AND removed_at IS NULL AND metadata ? 'left_out'
      AND jsonb_typeof(metadata #> '{left_out,share}') = 'number' AND metadata #> '{left_out,share}' > '0.1'
)
SELECT count(*),
       (array_agg(uri || ': ' || lines || ' rows are left out, ' || round(100 * share::numeric) || ' %% of its text'
                  ORDER BY share DESC, uri))[:10]
FROM shortened;

-- name: check_types_keep_their_promises
-- Return how many documents lack metadata fields that their type promises, and the first ten with the fields.
SELECT count(*),
       (array_agg(concat(uri, ': ', document_type, ' without ', array_to_string(lacking, ', ')) ORDER BY uri))[:10]
FROM document
WHERE collection = %(collection)s AND removed_at IS NULL AND lacking IS NOT NULL;

-- name: check_front_matter_is_read
-- Return how many documents have front matter that cannot be read, and the first ten with the line and the reason.
SELECT count(*), (array_agg(concat(uri, ': ', metadata ->> 'front_matter_error') ORDER BY uri))[:10]
FROM document
WHERE collection = %(collection)s AND removed_at IS NULL AND metadata ? 'front_matter_error';

-- name: check_every_character_is_in_a_passage
-- Return how many documents have characters that are in no passage, and the first ten.
WITH incomplete AS (
    SELECT document.uri, indexed.uncovered
    FROM document
    JOIN collection ON collection.name = document.collection
    JOIN indexed_document indexed
        ON indexed.document_id = document.id AND indexed.generation_id = collection.active_generation_id
    WHERE document.collection = %(collection)s AND document.removed_at IS NULL AND indexed.uncovered > 0
)
SELECT count(*),
       (array_agg(uri || ': ' || uncovered || ' characters are in no passage' ORDER BY uncovered DESC, uri))[:10]
FROM incomplete;

-- name: check_every_live_document_is_searchable
-- Return how many documents are not published whole in their newest version, and the first ten.
WITH unsearchable AS (
    SELECT document.uri
    FROM document
    JOIN collection ON collection.name = document.collection
    LEFT JOIN indexed_document indexed
        ON indexed.document_id = document.id AND indexed.generation_id = collection.active_generation_id
    WHERE document.collection = %(collection)s AND document.removed_at IS NULL AND document.content_hash IS NOT NULL
      AND (%(documents)s::bigint[] IS NULL OR document.id = ANY(%(documents)s))
      AND indexed.failure IS NULL        -- check_no_failed_items names it
      AND (indexed.published_hash IS DISTINCT FROM document.content_hash
           OR indexed.chunk_count <> (
               SELECT count(*) FROM search_entry entry
               WHERE entry.generation_id = indexed.generation_id AND entry.document_id = document.id))
)
SELECT count(*), (array_agg(uri ORDER BY uri))[:10] FROM unsearchable;

-- name: check_no_orphan_or_null_vector
-- Return how many entries have no live chunk or no proper vector, and the first ten of their documents.
WITH wrong AS (
    SELECT coalesce(document.uri, 'chunk ' || entry.chunk_id) AS uri
    FROM search_entry entry
    JOIN generation ON generation.id = entry.generation_id
    LEFT JOIN chunk ON chunk.id = entry.chunk_id AND chunk.generation_id = entry.generation_id
    LEFT JOIN document ON document.id = chunk.document_id AND document.id = entry.document_id
    WHERE generation.collection = %(collection)s
      AND (%(documents)s::bigint[] IS NULL OR entry.document_id = ANY(%(documents)s))
      AND (document.id IS NULL OR document.removed_at IS NOT NULL
           OR (entry.vector IS NULL) <> (chunk.embedding_hash IS NULL)
              AND NOT (entry.vector IS NULL AND EXISTS (
                  SELECT FROM indexed_document indexed
                  WHERE indexed.generation_id = entry.generation_id AND indexed.document_id = entry.document_id
                    AND indexed.awaits_vectors))
           OR vector_dims(entry.vector::vector) <> generation.dimensions
           OR l2_norm(entry.vector) = 0)
)
SELECT count(*), (array_agg(uri ORDER BY uri))[:10] FROM wrong;

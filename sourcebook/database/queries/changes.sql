-- name: other_work_waits
-- Return whether a request of a collection waits, or a file of it, beside those given, whose document is not made.
SELECT EXISTS (SELECT FROM work_request WHERE collection = %(collection)s AND state = 'waiting')
    OR EXISTS (
        SELECT FROM changed_item changed
        JOIN source ON source.collection = changed.collection
        JOIN raw_file ON raw_file.source_id = source.id AND raw_file.uri = changed.uri AND raw_file.failure IS NULL
        WHERE changed.collection = %(collection)s AND NOT changed.uri = ANY(%(own)s::text[]));

-- name: compared_with
-- Return the digest of the parsers that the unmarked items of a collection were compared with.
SELECT compared_with FROM collection WHERE name = %(collection)s;

-- name: marked_items
-- Return the marks on items of a collection.
SELECT id, uri FROM changed_item WHERE collection = %(collection)s;

-- name: failed_documents
-- Return the URIs of failed documents that are due for a retry, and of the messages that hold them.
WITH due AS (
    SELECT uri, input_hash FROM document
    WHERE collection = %(collection)s AND failure IS NOT NULL AND (%(retry_now)s OR is_due(next_retry_at))
)
SELECT uri FROM due
UNION
SELECT message.uri
FROM due
JOIN attachment ON attachment.sha256 = due.input_hash
JOIN document message ON message.content_sha256 = attachment.container_sha256
                     AND message.content_parser = attachment.container_parser
WHERE message.collection = %(collection)s;

-- name: forget_item_marks
-- Delete marks on items.
DELETE FROM changed_item WHERE id = ANY(%(marks)s);

-- name: record_parsers
-- Record the parsers that every unmarked item of a collection was compared with.
WITH shards AS (
    UPDATE shard_state SET compared_with = NULL WHERE collection = %(collection)s AND compared_with IS NOT NULL
)
UPDATE collection SET compared_with = %(parsers)s
WHERE name = %(collection)s AND compared_with IS DISTINCT FROM %(parsers)s;

-- name: prepared_with
-- Return the chunking rules by which the unmarked documents of a generation are published.
SELECT prepared_with FROM generation WHERE id = %(generation)s;

-- name: marked_documents
-- Return the marks on documents of a collection.
SELECT id, document_id FROM changed_document WHERE collection = %(collection)s;

-- name: mark_documents
-- Mark documents whose chunks are cut again although nothing changed.
INSERT INTO changed_document (collection, document_id) SELECT collection, id FROM document WHERE id = ANY(%(documents)s);

-- name: unsettled_documents
-- Return documents that are not published in their newest version, and removed ones that still are, with their URIs.
SELECT document.id, document.uri
FROM document
LEFT JOIN indexed_document indexed
    ON indexed.document_id = document.id AND indexed.generation_id = %(generation)s
WHERE document.collection = %(collection)s
  AND (%(changed)s::bigint[] IS NULL OR document.id = ANY(%(changed)s))
  AND CASE
      WHEN document.removed_at IS NOT NULL THEN indexed.published_hash IS NOT NULL
      WHEN document.content_hash IS NULL THEN false
      WHEN indexed.document_id IS NULL OR indexed.input_hash <> document.content_hash
          OR indexed.config_hash <> %(config_hash)s THEN true
      WHEN indexed.failure IS NOT NULL THEN false  -- until its content or the rules change
      ELSE indexed.published_hash IS DISTINCT FROM indexed.input_hash
          OR indexed.published_config IS DISTINCT FROM indexed.config_hash
          OR indexed.published_version IS DISTINCT FROM document.version
          OR indexed.published_title IS DISTINCT FROM document.title
          OR indexed.published_language IS DISTINCT FROM document.language
          OR indexed.words_version IS DISTINCT FROM words_version()
          OR indexed.awaits_vectors
  END
ORDER BY document.uri;

-- name: forget_document_marks
-- Delete marks on documents that are settled in a generation; all others compare every document the next time.
WITH behind AS (
    UPDATE generation SET prepared_with = NULL
    WHERE collection = %(collection)s AND id <> %(generation)s AND prepared_with IS NOT NULL
), shards_behind AS (
    DELETE FROM shard_preparation prepared USING generation other
    WHERE other.id = prepared.generation_id AND other.collection = %(collection)s AND other.id <> %(generation)s
)
DELETE FROM changed_document
WHERE id = ANY(%(marks)s) AND NOT document_id = ANY(%(unsettled)s);

-- name: record_preparation
-- Record the chunking rules by which every unmarked document of a generation is published.
WITH shards AS (
    DELETE FROM shard_preparation WHERE generation_id = %(generation)s
)
UPDATE generation SET prepared_with = %(config_hash)s
WHERE id = %(generation)s AND prepared_with IS DISTINCT FROM %(config_hash)s;

-- name: read_tally
-- Return the kept count of a collection, and the digest of what is counted.
SELECT coalesce(sum(items), 0)::bigint, coalesce(sum(digest), 0)::text
FROM tally WHERE collection = %(collection)s AND kind = %(kind)s;

-- name: fold_tally
-- Replace the rows of a kept count by their sum, and return it.
WITH folded AS (
    DELETE FROM tally WHERE collection = %(collection)s AND kind = %(kind)s RETURNING items, digest
), kept AS (
    INSERT INTO tally (collection, kind, items, digest)
    SELECT %(collection)s, %(kind)s, sum(items), sum(digest) FROM folded HAVING count(*) > 0
    RETURNING items, digest
)
SELECT coalesce(sum(items), 0)::bigint, coalesce(sum(digest), 0)::text FROM kept;

-- name: recount_tally
-- Replace a kept count by one that is counted now.
WITH folded AS (
    DELETE FROM tally WHERE collection = %(collection)s AND kind = %(kind)s
)
INSERT INTO tally (collection, kind, items, digest)
SELECT %(collection)s, %(kind)s, items, digest FROM counted_items(%(collection)s, %(kind)s);

-- name: recount_texts
-- Count the distinct texts among the entries of a generation.
UPDATE generation SET text_count = (
    SELECT count(DISTINCT chunk.embedding_hash)
    FROM search_entry entry JOIN chunk ON chunk.id = entry.chunk_id
    WHERE entry.generation_id = %(generation)s)
WHERE id = %(generation)s;

-- name: forget_removed_collections
-- Delete the marks and kept counts of collections that were deleted.
WITH items AS (
    DELETE FROM changed_item WHERE collection NOT IN (SELECT name FROM collection)
), documents AS (
    DELETE FROM changed_document WHERE collection NOT IN (SELECT name FROM collection)
), relation_marks AS (
    DELETE FROM relation_mark WHERE collection NOT IN (SELECT name FROM collection)
), foreign_changes AS (
    DELETE FROM foreign_change WHERE collection NOT IN (SELECT name FROM collection)
)
DELETE FROM tally WHERE collection NOT IN (SELECT name FROM collection);

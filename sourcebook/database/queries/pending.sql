-- name: pending_removed_sources
-- Return how many files and pages of removed sources are still live.
SELECT
    (SELECT count(*) FROM raw_file JOIN source ON source.id = raw_file.source_id
     WHERE source.collection = %(collection)s AND source.removed_at IS NOT NULL AND raw_file.removed_at IS NULL)
  + (SELECT count(*) FROM crawled_page page JOIN source ON source.id = page.source_id
     WHERE source.collection = %(collection)s AND source.removed_at IS NOT NULL AND page.removed_at IS NULL);

-- name: pending_document_changes
-- Return how many documents differ from their items, and how many documents have no item any more.
SELECT
    (SELECT count(*) FROM live_item item
     JOIN unnest(%(formats)s::text[], %(parsers)s::text[]) AS wanted (format, parser)
         ON wanted.format = item.format
     LEFT JOIN document ON document.collection = item.collection AND document.uri = item.uri
     WHERE item.collection = %(collection)s
       AND (document.id IS NULL
            OR document.removed_at IS NOT NULL
            OR document.input_hash <> item.sha256
            OR document.config_hash <> wanted.parser
            OR (document.failure IS NOT NULL AND (%(retry_now)s OR document.next_retry_at <= now()))
            OR (document.source_id, document.tags, document.kind)
                IS DISTINCT FROM (item.source_id, item.tags, item.kind)
            OR item.metadata <> document.metadata)),
    (SELECT count(*) FROM document
     WHERE collection = %(collection)s AND removed_at IS NULL
       AND NOT EXISTS (
           SELECT FROM present_item item WHERE item.collection = document.collection AND item.uri = document.uri));

-- name: unpublished_documents
-- Return how many documents chunks, embeddings or the index have to process, and how many they have to withdraw.
SELECT
    (SELECT count(*)
     FROM document
     LEFT JOIN indexed_document indexed
         ON indexed.document_id = document.id AND indexed.generation_id = %(generation)s
     WHERE document.collection = %(collection)s AND document.removed_at IS NULL AND document.content_hash IS NOT NULL
       AND (indexed.document_id IS NULL
            OR indexed.input_hash <> document.content_hash
            OR indexed.config_hash <> %(config_hash)s
            OR indexed.published_hash IS DISTINCT FROM indexed.input_hash
            OR indexed.published_config IS DISTINCT FROM indexed.config_hash
            OR indexed.published_version IS DISTINCT FROM document.version
            OR indexed.published_title IS DISTINCT FROM document.title
            OR indexed.published_language IS DISTINCT FROM document.language)),
    (SELECT count(*)
     FROM indexed_document indexed JOIN document ON document.id = indexed.document_id
     WHERE indexed.generation_id = %(generation)s AND document.removed_at IS NOT NULL
       AND indexed.published_hash IS NOT NULL);

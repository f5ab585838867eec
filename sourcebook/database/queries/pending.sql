-- name: pending_removed_sources
-- Return how many files and pages of removed sources are still live.
SELECT
    (SELECT count(*) FROM raw_file JOIN source ON source.id = raw_file.source_id
     WHERE source.collection = %(collection)s AND source.removed_at IS NOT NULL AND raw_file.removed_at IS NULL)
  + (SELECT count(*) FROM crawled_page page JOIN source ON source.id = page.source_id
     WHERE source.collection = %(collection)s AND source.removed_at IS NOT NULL AND page.removed_at IS NULL);

-- name: pending_document_changes
-- Return how many documents differ from their items, and how many documents have no item any more.
WITH item AS MATERIALIZED (
    SELECT * FROM items_in(%(collection)s, %(uris)s)
)
SELECT
    (SELECT count(*) FROM item
     JOIN unnest(%(formats)s::text[], %(parsers)s::text[]) AS wanted (format, parser)
         ON wanted.format = item.format
     LEFT JOIN document ON document.collection = item.collection AND document.uri = item.uri
     WHERE (document.id IS NULL
            OR document.removed_at IS NOT NULL
            OR document.input_hash <> item.sha256
            OR document.config_hash <> wanted.parser
            OR (document.failure IS NOT NULL AND (%(retry_now)s OR document.next_retry_at <= now()))
            OR (document.source_id, document.tags, document.kind)
                IS DISTINCT FROM (item.source_id, item.tags, item.kind)
            OR item.metadata <> document.metadata)),
    (SELECT count(*) FROM document
     WHERE collection = %(collection)s AND removed_at IS NULL
       AND (%(uris)s::text[] IS NULL OR document.uri = ANY(%(uris)s))
       AND NOT EXISTS (SELECT FROM item WHERE item.uri = document.uri));

-- name: pending_removed_sources
-- Return how many files and pages of removed sources are still live.
SELECT
    (SELECT count(*) FROM raw_file JOIN source ON source.id = raw_file.source_id
     WHERE source.collection = %(collection)s AND source.removed_at IS NOT NULL AND raw_file.removed_at IS NULL)
  + (SELECT count(*) FROM crawled_page page JOIN source ON source.id = page.source_id
     WHERE source.collection = %(collection)s AND source.removed_at IS NOT NULL AND page.removed_at IS NULL);

-- name: pending_document_changes
-- Return how many documents differ from their items, how many have no item any more, and how many of the first are taken.
WITH item AS MATERIALIZED (
    SELECT * FROM items_in(%(collection)s, %(uris)s)
)
SELECT differing.items, gone.documents, differing.taken
FROM
    (SELECT count(*) AS items, count(item.parser) AS taken FROM item
     LEFT JOIN unnest(%(formats)s::text[], %(parsers)s::text[]) AS known (format, parser)
    ON known.format = CASE WHEN item.container IS NULL AND item.kind = 'file' THEN '' ELSE 'within ' END || item.format
     CROSS JOIN LATERAL (SELECT coalesce(item.parser, known.parser) AS parser) AS wanted
     LEFT JOIN document ON document.collection = item.collection AND document.uri = item.uri
     LEFT JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
     WHERE wanted.parser IS NOT NULL
       AND (document.id IS NULL
            OR document.removed_at IS NOT NULL
            OR document.input_hash <> item.sha256
            OR document.config_hash <> wanted.parser
            OR (document.failure IS NULL AND document.content_hash <> parsed.content_hash)
            OR (document.failure IS NOT NULL AND (%(retry_now)s OR is_due(document.next_retry_at)))
            OR (document.source_id, coalesce(document.own_tags, document.tags), document.kind)
                IS DISTINCT FROM (
                    item.source_id,
                    document_tags(item.tags, coalesce(document.own_metadata, document.metadata), document.media_type),
                    item.kind)
            OR item.metadata <> coalesce(document.own_metadata, document.metadata))) differing,
    (SELECT count(*) AS documents FROM document
     WHERE collection = %(collection)s AND removed_at IS NULL
       AND (%(uris)s::text[] IS NULL OR document.uri = ANY(%(uris)s))
       AND NOT EXISTS (SELECT FROM item WHERE item.uri = document.uri)
       AND (document.config_hash <> '' OR EXISTS (  -- or it is announced, and not listed yet
           SELECT FROM raw_file file WHERE file.source_id = document.source_id AND file.uri = document.uri
           UNION ALL SELECT FROM source WHERE id = document.source_id AND removed_at IS NOT NULL))) gone;

-- Items that are being processed; items with the time of their removal; the nights that retention has seen.
-- The items that a stage works on now; a crawl has one row, for its site. A row counts while the session that wrote it
-- lives. Unlogged: nothing of it outlives the server.
CREATE UNLOGGED TABLE processing (
    collection text NOT NULL,
    stage text NOT NULL,
    uri text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    process text NOT NULL,             -- host and id of the process
    run text,                          -- Dagster's run
    backend integer NOT NULL,          -- session: its process in the server, with the time of its start
    backend_start timestamptz,
    PRIMARY KEY (collection, stage, uri)
);

-- The nights on which retention looked for old rows: by the clock alone, one that is ahead makes everything old.
CREATE TABLE retention_night (
    night date PRIMARY KEY
);

CREATE OR REPLACE VIEW item AS
SELECT
    document.id AS document_id, document.collection, document.source_id, document.uri, document.title, document.kind,
    document.media_type, document.language, document.version, document.tags,
    CASE
        WHEN document.removed_at IS NOT NULL THEN 'removed'
        WHEN source_item.failure IS NOT NULL OR document.failure IS NOT NULL THEN 'failed'
        WHEN document.skip_reason IS NOT NULL THEN 'skipped'
        WHEN indexed.published_hash = document.content_hash THEN 'ready'
        ELSE 'pending'
    END AS state,
    coalesce(source_item.failure, document.failure, document.skip_reason) AS error,
    greatest(source_item.next_retry_at, document.next_retry_at) AS next_retry_at,
    greatest(source_item.attempts, document.attempts) AS attempts,
    CASE WHEN document.removed_at IS NULL THEN coalesce(
        source_item.failure_class, CASE WHEN document.failure IS NOT NULL THEN coalesce(document.failure_class, 'other') END)
    END AS failure_class,
    -- A failed item that no time will try again.
    document.removed_at IS NULL AND coalesce(source_item.failure, document.failure) IS NOT NULL
        AND source_item.next_retry_at IS NULL AND document.next_retry_at IS NULL AS parked,
    document.removed_at
FROM document
JOIN collection ON collection.name = document.collection
LEFT JOIN source_item ON source_item.source_id = document.source_id AND source_item.uri = document.uri
LEFT JOIN indexed_document indexed
    ON indexed.document_id = document.id AND indexed.generation_id = collection.active_generation_id
UNION ALL
SELECT
    NULL, source.collection, source_item.source_id, source_item.uri, NULL, source_item.kind, source_item.media_type, NULL, 0,
    source.tags,
    CASE
        WHEN source_item.excluded_at IS NOT NULL THEN 'removed'
        WHEN source_item.failure IS NOT NULL THEN 'failed'
        WHEN source_item.skip_reason IS NOT NULL THEN 'skipped'
        ELSE 'pending'
    END,
    coalesce(source_item.failure, source_item.skip_reason), source_item.next_retry_at, source_item.attempts,
    source_item.failure_class,
    source_item.excluded_at IS NULL AND source_item.failure IS NOT NULL AND source_item.next_retry_at IS NULL,
    source_item.excluded_at
FROM source_item
JOIN source ON source.id = source_item.source_id
WHERE source.removed_at IS NULL
  AND NOT EXISTS (
      SELECT FROM document
      WHERE document.collection = source.collection AND document.uri = source_item.uri
        AND (document.removed_at IS NULL OR source_item.excluded_at IS NOT NULL)
  );

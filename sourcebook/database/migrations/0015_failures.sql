-- Failures as data: the class of every failure beside its sentence, and one rule of when an item is tried again.
ALTER TABLE source ADD COLUMN listing_error_class text;
ALTER TABLE raw_file ADD COLUMN failure_class text;
ALTER TABLE frontier ADD COLUMN failure_class text;
ALTER TABLE transcribed_file ADD COLUMN failure_class text;
ALTER TABLE document ADD COLUMN failure_class text;

CREATE OR REPLACE VIEW source_item AS
SELECT file.source_id, file.uri, CASE WHEN is_recording(file.media_type) THEN 'recording' ELSE 'file' END AS kind,
    file.media_type, coalesce(file.failure, transcribed.failure) AS failure, file.skip_reason, file.excluded_at,
    greatest(file.attempts, transcribed.attempts) AS attempts,
    greatest(file.next_retry_at, transcribed.next_retry_at) AS next_retry_at,
    CASE WHEN file.failure IS NOT NULL THEN coalesce(file.failure_class, 'other')
         WHEN transcribed.failure IS NOT NULL THEN coalesce(transcribed.failure_class, 'other') END AS failure_class
FROM raw_file file
LEFT JOIN transcribed_file transcribed
    ON transcribed.source_id = file.source_id AND transcribed.uri = file.uri AND is_recording(file.media_type)
WHERE file.removed_at IS NULL
UNION ALL
SELECT frontier.source_id, frontier.url, 'page', page.media_type,
    CASE WHEN frontier.state = 'failed' THEN frontier.last_error END,
    CASE WHEN frontier.state = 'refused' THEN frontier.last_error END,
    page.excluded_at, frontier.attempts, frontier.next_attempt_at,
    CASE WHEN frontier.state = 'failed' THEN coalesce(frontier.failure_class, 'other') END
FROM frontier
LEFT JOIN crawled_page page ON page.source_id = frontier.source_id AND page.url = frontier.url
WHERE frontier.state IN ('failed', 'refused') OR page.excluded_at IS NOT NULL
UNION ALL
SELECT source_id, uri, 'file', media_type, NULL, skip_reason, NULL, 0, NULL, NULL
FROM present_attachment
WHERE skip_reason IS NOT NULL;

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
        AND source_item.next_retry_at IS NULL AND document.next_retry_at IS NULL AS parked
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
    source_item.excluded_at IS NULL AND source_item.failure IS NOT NULL AND source_item.next_retry_at IS NULL
FROM source_item
JOIN source ON source.id = source_item.source_id
WHERE source.removed_at IS NULL
  AND NOT EXISTS (
      SELECT FROM document
      WHERE document.collection = source.collection AND document.uri = source_item.uri
        AND (document.removed_at IS NULL OR source_item.excluded_at IS NOT NULL)
  );

-- The time of the next attempt after an attempt that failed: 1, 2, 4 … minutes later, at most a day; with `at_once` the
-- first retry follows at once. NULL parks the item: after `most` attempts in a row, or after those that the collection's
-- setting `retries.attempts` allows.
CREATE FUNCTION next_retry(of_collection text, attempt integer, most integer DEFAULT NULL, at_once boolean DEFAULT false)
RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN attempt >= least(most, coalesce(
            (SELECT (settings #>> '{retries,attempts}')::integer FROM sourcebook.collection WHERE name = of_collection), 15))
            THEN NULL
        WHEN at_once AND attempt = 1 THEN now()
        ELSE now() + least(
            interval '1 minute' * power(2, least(attempt - 1 - at_once::integer, 20)), interval '24 hours')
    END
$$;

-- Views of items: what sources have that becomes a document, and what became of it. Those of a checkout before 0.1.0 are
-- replaced as they are.

-- The pages that become documents: where several URLs of a site have equal content, the canonical URL, or else the one
-- that was found first; `also_at` lists the others.
CREATE OR REPLACE VIEW present_page AS
SELECT collection, url, source_id, sha256, media_type, size, tags, is_html,
    CASE WHEN is_html AND holders > 1 THEN metadata || jsonb_build_object('also_at', array_remove(urls, url))
         WHEN is_html THEN metadata END AS metadata  -- for other documents the parser finds the metadata
FROM (
    SELECT source.collection, page.url, page.source_id, page.sha256, page.media_type, page.size, page.metadata,
        source.tags || ARRAY(SELECT tag FROM unnest(page.tags) AS tag WHERE tag <> ALL(source.tags)) AS tags,
        page.parser IS NOT NULL AS is_html,
        row_number() OVER same_content AS place,
        count(*) OVER everywhere AS holders,
        array_agg(page.url) OVER everywhere AS urls,
        bool_or(page.excluded_at IS NOT NULL) OVER everywhere AS excluded
    FROM crawled_page page
    JOIN source ON source.id = page.source_id
    WHERE page.removed_at IS NULL AND source.removed_at IS NULL
      AND NOT EXISTS (
          SELECT FROM crawled_page canonical
          WHERE canonical.source_id = page.source_id AND canonical.url = page.canonical_url
            AND canonical.url <> page.url AND canonical.canonical_url IS NULL AND canonical.removed_at IS NULL)
    WINDOW
        same_content AS (PARTITION BY page.source_id, page.sha256 ORDER BY page.first_seen_at, length(page.url), page.url),
        everywhere AS (PARTITION BY page.source_id, page.sha256)
) page
WHERE place = 1 AND NOT excluded;

-- The attachments of live messages; if a changed message cannot be read, the attachments of its last readable version.
CREATE OR REPLACE VIEW present_attachment AS
SELECT document.collection, document.uri || '/' || attachment.path AS uri, file.source_id, attachment.sha256,
    attachment.media_type, attachment.size, source.tags || file.tags AS tags, attachment.skip_reason, document.uri AS container, attachment.number
FROM attachment
JOIN document ON document.content_sha256 = attachment.container_sha256
             AND document.content_parser = attachment.container_parser
JOIN source ON source.collection = document.collection
JOIN raw_file file ON file.source_id = source.id AND file.uri = document.uri
WHERE file.removed_at IS NULL
  AND file.skip_reason IS NULL
  AND file.excluded_at IS NULL
  AND source.removed_at IS NULL;

-- The items of sources that become documents, without attachments. An item in two overlapping sources has two rows.
-- `format` selects the parser: the media type, `page` for an HTML page that a crawl has converted to Markdown, or
-- `transcript` for a recording. A document of another collection, which a membership rule takes, is one of `taken`: it
-- has the parsed content of that document, by `parser`.
CREATE OR REPLACE VIEW present_source_item AS
SELECT source.collection, raw_file.uri, raw_file.source_id, raw_file.sha256, raw_file.media_type, raw_file.size,
    source.tags || raw_file.tags AS tags, 'file' AS kind, raw_file.media_type AS format, NULL::jsonb AS metadata,
    NULL AS container, NULL::integer AS number, NULL AS parser
FROM raw_file
JOIN source ON source.id = raw_file.source_id
WHERE raw_file.removed_at IS NULL
  AND raw_file.sha256 IS NOT NULL
  AND raw_file.skip_reason IS NULL
  AND raw_file.excluded_at IS NULL
  AND source.removed_at IS NULL
  AND is_recording(raw_file.media_type) IS NOT TRUE
UNION ALL
SELECT source.collection, file.uri, file.source_id, transcribed.content_hash, file.media_type, file.size,
    source.tags || file.tags,
    'recording', 'transcript',
    recording.metadata || jsonb_strip_nulls(jsonb_build_object('language_probability', transcript.language_probability)),
    NULL, NULL, NULL
FROM transcribed_file transcribed
JOIN raw_file file ON file.source_id = transcribed.source_id AND file.uri = transcribed.uri
JOIN source ON source.id = file.source_id
JOIN recording ON recording.sha256 = transcribed.sha256
JOIN transcript ON transcript.sound_sha256 = transcribed.sound_sha256 AND transcript.engine = transcribed.engine
WHERE file.removed_at IS NULL
  AND file.skip_reason IS NULL
  AND file.excluded_at IS NULL
  AND source.removed_at IS NULL
  AND is_recording(file.media_type)
UNION ALL
SELECT collection, url, source_id, sha256, media_type, size, tags, 'page', CASE WHEN is_html THEN 'page' ELSE media_type END,
    metadata, NULL, NULL, NULL
FROM present_page
UNION ALL
SELECT rule.collection, document.uri, rule.id, document.content_sha256, document.media_type, 0, document.tags, document.kind,
    'taken', document.metadata, NULL, NULL, document.content_parser
FROM source rule
JOIN document ON document.collection = rule.location
WHERE rule.kind = 'collection'
  AND rule.removed_at IS NULL
  AND document.removed_at IS NULL
  AND document.content_hash IS NOT NULL
  AND takes_tags(rule.settings, document.tags);

-- The items of a collection that become documents, with the attachments of messages, one row for each URI: all of them,
-- or those at some URIs, attachments with their message. The first source with an item provides it, and the collection's own
-- before those that it takes. In an object store an attachment and a file may have one URI: the file is chosen.
CREATE FUNCTION items_in(of_collection text, of_uris text[]) RETURNS SETOF present_source_item
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT DISTINCT ON (item.uri) item.*
    FROM (
        SELECT * FROM present_source_item held
        WHERE held.collection = of_collection AND (of_uris IS NULL OR held.uri = ANY(of_uris))
        UNION ALL
        SELECT held.collection, held.uri, held.source_id, held.sha256, held.media_type, held.size, held.tags, 'file',
               held.media_type, NULL, held.container, held.number, NULL
        FROM present_attachment held
        WHERE held.collection = of_collection AND held.skip_reason IS NULL
          AND octet_length(held.uri) <= 2500  -- LONGEST_URI in sourcebook/files/listing.py
          AND (of_uris IS NULL OR held.container = ANY(of_uris) AND held.uri = ANY(of_uris))
    ) item
    ORDER BY item.uri, item.parser IS NOT NULL, item.source_id, item.container NULLS FIRST
$$;

-- The state of each file and of each URL of a site that may be, or may have become, a document.
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

-- The items of `sourcebook documents`: documents, and files and pages that did not become one.
CREATE OR REPLACE VIEW item AS
SELECT
    document.id AS document_id, document.collection, document.source_id, document.uri, document.title, document.kind,
    document.media_type, document.language, document.version, document.tags,
    CASE
        WHEN held.removed_at IS NOT NULL THEN 'removed'
        WHEN source_item.failure IS NOT NULL OR document.failure IS NOT NULL OR indexed.failure IS NOT NULL THEN 'failed'
        WHEN held.skip_reason IS NOT NULL THEN 'skipped'
        WHEN indexed.published_hash = document.content_hash THEN 'ready'
        ELSE 'pending'
    END AS state,
    coalesce(source_item.failure, document.failure, indexed.failure, held.skip_reason) AS error,
    greatest(source_item.next_retry_at, document.next_retry_at) AS next_retry_at,
    greatest(source_item.attempts, document.attempts) AS attempts,
    CASE WHEN held.removed_at IS NULL THEN coalesce(
        source_item.failure_class, CASE WHEN document.failure IS NOT NULL THEN coalesce(document.failure_class, 'other') END,
        indexed.failure_class)
    END AS failure_class,
    -- A failed item that no time will try again.
    held.removed_at IS NULL AND coalesce(source_item.failure, document.failure, indexed.failure) IS NOT NULL
        AND source_item.next_retry_at IS NULL AND document.next_retry_at IS NULL AS parked,
    held.removed_at
FROM document
JOIN collection ON collection.name = document.collection
LEFT JOIN source_item ON source_item.source_id = document.source_id AND source_item.uri = document.uri
-- A document that was announced and never read is what its file is.
CROSS JOIN LATERAL (
    SELECT document.config_hash = '' AND source_item.uri IS NOT NULL AND source_item.excluded_at IS NULL AS is_unread
) announced
CROSS JOIN LATERAL (
    SELECT CASE WHEN announced.is_unread THEN NULL ELSE document.removed_at END AS removed_at,
           coalesce(document.skip_reason, CASE WHEN announced.is_unread THEN source_item.skip_reason END) AS skip_reason
) held
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
        AND (document.removed_at IS NULL OR source_item.excluded_at IS NOT NULL OR document.config_hash = '')
  );

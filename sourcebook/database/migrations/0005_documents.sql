-- Documents as they come: files within files, why there is nothing to read, what chunking forgot.

ALTER TABLE parsed_content ADD COLUMN nothing_to_read text;  -- why there is no text although nothing is wrong
ALTER TABLE indexed_document ADD COLUMN uncovered integer NOT NULL DEFAULT 0;  -- characters of content in no prepared chunk

-- The files within a parsed file, such as those that came with a message. Their bytes stay in there.
CREATE TABLE attachment (
    container_sha256 bytea NOT NULL,
    container_parser text NOT NULL,
    number integer NOT NULL,           -- place in the container, counted from 0
    path text NOT NULL,                -- its name, as the last part of its URI
    media_type text NOT NULL,
    size bigint NOT NULL,
    sha256 bytea NOT NULL,
    skip_reason text,                  -- why it becomes no document
    PRIMARY KEY (container_sha256, container_parser, number),
    FOREIGN KEY (container_sha256, container_parser) REFERENCES parsed_content (sha256, parser) ON DELETE CASCADE
);

DROP VIEW item;
DROP VIEW source_item;
DROP VIEW live_item;
DROP VIEW present_item;

-- What came with the messages that are there: of a message that changed and cannot be read, what the last one read held.
CREATE VIEW present_attachment AS
SELECT document.collection, document.uri || '/' || attachment.path AS uri, file.source_id, attachment.sha256,
    attachment.media_type, attachment.size, source.tags, attachment.skip_reason, document.uri AS container, attachment.number
FROM attachment
JOIN document ON document.content_sha256 = attachment.container_sha256
             AND document.content_parser = attachment.container_parser
JOIN source ON source.collection = document.collection
JOIN raw_file file ON file.source_id = source.id AND file.uri = document.uri
WHERE file.removed_at IS NULL
  AND file.skip_reason IS NULL
  AND file.excluded_at IS NULL
  AND source.removed_at IS NULL;

-- The items that ought to be documents now. One that two overlapping sources hold is there twice.
-- `format` tells the parser: the media type, `page` for an HTML page, of which the crawl kept the main content, or
-- `transcript` for a recording, of which the words are kept.
CREATE VIEW present_item AS
SELECT source.collection, raw_file.uri, raw_file.source_id, raw_file.sha256, raw_file.media_type, raw_file.size,
    source.tags, 'file' AS kind, raw_file.media_type AS format, NULL::jsonb AS metadata,
    NULL AS container, NULL::integer AS number
FROM raw_file
JOIN source ON source.id = raw_file.source_id
WHERE raw_file.removed_at IS NULL
  AND raw_file.sha256 IS NOT NULL
  AND raw_file.skip_reason IS NULL
  AND raw_file.excluded_at IS NULL
  AND source.removed_at IS NULL
  AND is_recording(raw_file.media_type) IS NOT TRUE
UNION ALL
SELECT source.collection, file.uri, file.source_id, transcribed.content_hash, file.media_type, file.size, source.tags,
    'recording', 'transcript',
    recording.metadata || jsonb_strip_nulls(jsonb_build_object('language_probability', transcript.language_probability)),
    NULL, NULL
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
    metadata, NULL, NULL
FROM present_page
UNION ALL
SELECT collection, uri, source_id, sha256, media_type, size, tags, 'file', media_type, NULL, container, number
FROM present_attachment
WHERE skip_reason IS NULL;

-- The same, one row a collection and URI: the first source that holds an item provides it. An object store may hold both
-- a message and a file under the name of what came with it: the file it is.
CREATE VIEW live_item AS
SELECT DISTINCT ON (collection, uri) * FROM present_item ORDER BY collection, uri, source_id, container NULLS FIRST;

-- How each file and each URL of a site stands that may be, or may have become, a document.
CREATE VIEW source_item AS
SELECT file.source_id, file.uri, CASE WHEN is_recording(file.media_type) THEN 'recording' ELSE 'file' END AS kind,
    file.media_type, coalesce(file.failure, transcribed.failure) AS failure, file.skip_reason, file.excluded_at,
    greatest(file.attempts, transcribed.attempts) AS attempts,
    greatest(file.next_retry_at, transcribed.next_retry_at) AS next_retry_at
FROM raw_file file
LEFT JOIN transcribed_file transcribed
    ON transcribed.source_id = file.source_id AND transcribed.uri = file.uri AND is_recording(file.media_type)
WHERE file.removed_at IS NULL
UNION ALL
SELECT frontier.source_id, frontier.url, 'page', page.media_type,
    CASE WHEN frontier.state = 'failed' THEN frontier.last_error END,
    CASE WHEN frontier.state = 'refused' THEN frontier.last_error END,
    page.excluded_at, frontier.attempts, frontier.next_attempt_at
FROM frontier
LEFT JOIN crawled_page page ON page.source_id = frontier.source_id AND page.url = frontier.url
WHERE frontier.state IN ('failed', 'refused') OR page.excluded_at IS NOT NULL
UNION ALL
SELECT source_id, uri, 'file', media_type, NULL, skip_reason, NULL, 0, NULL
FROM present_attachment
WHERE skip_reason IS NOT NULL;

-- Everything a person may ask about: documents, and files and pages that did not become one.
CREATE VIEW item AS
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
    greatest(source_item.attempts, document.attempts) AS attempts
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
    coalesce(source_item.failure, source_item.skip_reason), source_item.next_retry_at, source_item.attempts
FROM source_item
JOIN source ON source.id = source_item.source_id
WHERE source.removed_at IS NULL
  AND NOT EXISTS (
      SELECT FROM document
      WHERE document.collection = source.collection AND document.uri = source_item.uri
        AND (document.removed_at IS NULL OR source_item.excluded_at IS NOT NULL)
  );

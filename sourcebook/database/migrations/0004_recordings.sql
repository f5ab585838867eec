-- Recordings: what files of sound hold, what was said in them, and views that know the third kind of item.

-- What a file of sound or video holds, by the file's bytes: told without transcribing it.
CREATE TABLE recording (
    sha256 bytea PRIMARY KEY,
    probe text NOT NULL,               -- what looked at it
    sound_sha256 bytea NOT NULL,       -- of the encoded sound alone: other tags or another container change nothing
    duration double precision NOT NULL,  -- seconds
    title text,                        -- from its tags
    metadata jsonb NOT NULL
);

-- What was said in a sound: transcribed once, whatever files hold it.
CREATE TABLE transcript (
    sound_sha256 bytea NOT NULL,
    engine text NOT NULL,              -- engine, weights, language and decoding options
    language text,                     -- NULL where nobody speaks
    language_probability real,
    finished_at timestamptz,           -- NULL until its last window is there
    PRIMARY KEY (sound_sha256, engine)
);

-- A part of a transcript, written as soon as it is done: a run that is killed goes on behind the last one.
CREATE TABLE transcript_window (
    sound_sha256 bytea NOT NULL,
    engine text NOT NULL,
    starts_at double precision NOT NULL,  -- seconds
    ends_at double precision NOT NULL,
    segments jsonb NOT NULL,           -- rows of start, end, text, average log-probability, no-speech probability
    PRIMARY KEY (sound_sha256, engine, starts_at),
    FOREIGN KEY (sound_sha256, engine) REFERENCES transcript (sound_sha256, engine) ON DELETE CASCADE
);

-- Which transcript a file has. One row a file of sound or video.
CREATE TABLE transcribed_file (
    source_id bigint NOT NULL,
    uri text NOT NULL,
    input_hash bytea NOT NULL,         -- sha256 of the bytes of the last attempt
    config_hash text NOT NULL,         -- engine of the last attempt
    sha256 bytea REFERENCES recording (sha256),  -- the recording of the last success
    sound_sha256 bytea,                -- with engine: its transcript
    engine text,
    content_hash bytea,                -- sha256 over title, language and segments of the last success
    failure text,
    attempts integer NOT NULL DEFAULT 0,
    next_retry_at timestamptz,
    PRIMARY KEY (source_id, uri),
    FOREIGN KEY (source_id, uri) REFERENCES raw_file (source_id, uri) ON DELETE CASCADE,
    FOREIGN KEY (sound_sha256, engine) REFERENCES transcript (sound_sha256, engine),
    CHECK ((content_hash IS NULL) = (sha256 IS NULL) AND (content_hash IS NULL) = (engine IS NULL))
);
CREATE INDEX transcribed_file_sha256 ON transcribed_file (sha256);
CREATE INDEX transcribed_file_transcript ON transcribed_file (sound_sha256, engine);

ALTER TABLE document DROP CONSTRAINT document_kind_check;
ALTER TABLE document ADD CONSTRAINT document_kind_check CHECK (kind IN ('file', 'page', 'recording'));

ALTER TABLE chunk ADD COLUMN start_seconds double precision;  -- of a recording: when the passage begins and ends
ALTER TABLE chunk ADD COLUMN end_seconds double precision;

DROP VIEW item, source_item, live_item, present_item;

-- Whether a file of this type is a recording, which is transcribed and not parsed.
CREATE FUNCTION is_recording(media_type text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN media_type LIKE 'audio/%' OR media_type LIKE 'video/%';

-- The items that ought to be documents now. One that two overlapping sources hold is there twice.
-- `format` tells the parser: the media type, `page` for an HTML page, of which the crawl kept the main content, or
-- `transcript` for a recording, of which the words are kept.
CREATE VIEW present_item AS
SELECT source.collection, raw_file.uri, raw_file.source_id, raw_file.sha256, raw_file.media_type, raw_file.size,
    source.tags, 'file' AS kind, raw_file.media_type AS format, NULL::jsonb AS metadata
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
    recording.metadata || jsonb_strip_nulls(jsonb_build_object('language_probability', transcript.language_probability))
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
    metadata
FROM present_page;

-- The same, one row a collection and URI: the first source that holds an item provides it.
CREATE VIEW live_item AS
SELECT DISTINCT ON (collection, uri) * FROM present_item ORDER BY collection, uri, source_id;

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
WHERE frontier.state IN ('failed', 'refused') OR page.excluded_at IS NOT NULL;

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

-- name: redaction_settings
-- Return the settings of redaction of a collection.
SELECT nullif(settings -> 'redaction', 'null') FROM collection WHERE name = %(collection)s;

-- name: facts_of_pages
-- Return source, URL, title and metadata of the crawled pages of a collection.
SELECT page.source_id, page.url, page.title, page.metadata
FROM crawled_page page JOIN source ON source.id = page.source_id
WHERE source.collection = %(collection)s;

-- name: replace_facts_of_pages
-- Set the title and the metadata of a crawled page.
UPDATE crawled_page SET title = %(title)s, metadata = %(metadata)s WHERE source_id = %(number)s AND url = %(place)s;

-- name: facts_of_recordings
-- Return the hash, title and metadata of the recordings of a collection.
SELECT DISTINCT 0, recording.sha256, recording.title, recording.metadata
FROM recording
JOIN raw_file ON raw_file.sha256 = recording.sha256
JOIN source ON source.id = raw_file.source_id
WHERE source.collection = %(collection)s;

-- name: replace_facts_of_recordings
-- Set the title and the metadata of a recording.
UPDATE recording SET title = %(title)s, metadata = %(metadata)s WHERE sha256 = %(place)s;

-- name: forget_whole_contents
-- Delete the parsed contents of a collection's items that were made by other rules of redaction and that nothing uses.
DELETE FROM parsed_content parsed
USING document kept
WHERE kept.collection = %(collection)s AND kept.content_sha256 = parsed.sha256
  AND parsed.parser NOT LIKE %(redacted)s
  AND NOT EXISTS (
    SELECT FROM document
    WHERE document.content_sha256 = parsed.sha256 AND document.content_parser = parsed.parser)
  AND NOT EXISTS (
    SELECT FROM crawled_page page WHERE page.sha256 = parsed.sha256 AND page.parser = parsed.parser);

-- name: forget_whole_transcripts
-- Delete the transcripts of a collection's recordings that were made by other rules of redaction and that nothing uses.
DELETE FROM transcript
USING transcribed_file kept
JOIN source ON source.id = kept.source_id
WHERE source.collection = %(collection)s AND kept.sound_sha256 = transcript.sound_sha256
  AND transcript.finished_at IS NOT NULL AND transcript.engine NOT LIKE %(redacted)s
  AND NOT EXISTS (
    SELECT FROM transcribed_file transcribed
    WHERE transcribed.sound_sha256 = transcript.sound_sha256 AND transcribed.engine = transcript.engine);

-- name: forget_unheld_lexemes
-- Delete the words that no entry holds, counts of audiences included, where a collection stores placeholders.
WITH redacting AS (
    SELECT FROM collection
    WHERE collection.name = %(collection)s AND collection.settings #>> '{redaction,at}' = 'ingest'
), of_audiences AS (
    DELETE FROM lexeme_audience
    WHERE lexeme_audience.generation_id = %(generation)s AND lexeme_audience.entries = 0
      AND EXISTS (SELECT FROM redacting)
)
DELETE FROM lexeme
WHERE lexeme.generation_id = %(generation)s AND lexeme.entries = 0 AND EXISTS (SELECT FROM redacting);

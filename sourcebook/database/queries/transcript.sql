-- name: has_recordings
-- Whether transcription has anything to do with a collection.
SELECT EXISTS (
    SELECT FROM raw_file file JOIN source ON source.id = file.source_id
    WHERE source.collection = %(collection)s AND file.removed_at IS NULL AND is_recording(file.media_type));

-- name: speech_settings
SELECT settings -> 'speech' FROM collection WHERE name = %(collection)s;

-- name: stale_recordings
-- Recordings without a transcript of their present bytes by the present engine, or that are due for another try.
SELECT file.source_id, file.uri, file.sha256, file.size, file.modified, transcribed.content_hash
FROM raw_file file
JOIN source ON source.id = file.source_id
LEFT JOIN transcribed_file transcribed ON transcribed.source_id = file.source_id AND transcribed.uri = file.uri
LEFT JOIN transcript ON transcript.sound_sha256 = transcribed.sound_sha256 AND transcript.engine = transcribed.engine
WHERE source.collection = %(collection)s AND source.removed_at IS NULL
  AND file.removed_at IS NULL AND file.sha256 IS NOT NULL AND file.skip_reason IS NULL AND file.excluded_at IS NULL
  AND is_recording(file.media_type)
  AND (cardinality(%(documents)s::text[]) = 0 OR file.uri = ANY(%(documents)s))
  AND (cardinality(%(locations)s::text[]) = 0 OR source.location = ANY(%(locations)s))
  AND CASE
      WHEN %(only_failed)s THEN
          transcribed.failure IS NOT NULL OR transcribed.uri IS NULL OR transcribed.input_hash <> file.sha256
      ELSE transcribed.uri IS NULL
          OR transcribed.input_hash <> file.sha256
          OR transcribed.config_hash <> %(engine)s
          OR (transcribed.engine IS NOT NULL AND transcript.finished_at IS NULL)  -- it was being made anew
          OR (transcribed.failure IS NOT NULL AND transcribed.next_retry_at <= now())
          OR %(force)s
  END
ORDER BY file.uri, file.source_id;

-- name: recordings
SELECT sha256, sound_sha256, duration, title, metadata FROM recording
WHERE sha256 = ANY(%(sha256s)s) AND probe = %(probe)s;

-- name: record_recording
INSERT INTO recording (sha256, probe, sound_sha256, duration, title, metadata)
VALUES (%(sha256)s, %(probe)s, %(sound_sha256)s, %(duration)s, %(title)s, %(metadata)s)
ON CONFLICT (sha256) DO UPDATE SET
    probe = excluded.probe, sound_sha256 = excluded.sound_sha256, duration = excluded.duration, title = excluded.title,
    metadata = excluded.metadata;

-- name: forget_transcript
-- Its windows only: files may have it, and keep what they have until it is finished again.
WITH forgotten AS (
    DELETE FROM transcript_window WHERE sound_sha256 = %(sound_sha256)s AND engine = %(engine)s
)
UPDATE transcript SET finished_at = NULL WHERE sound_sha256 = %(sound_sha256)s AND engine = %(engine)s;

-- name: transcript_state
SELECT transcript.finished_at IS NOT NULL AS finished, transcript.language, transcript.language_probability,
       coalesce((SELECT max(ends_at) FROM transcript_window part
                 WHERE part.sound_sha256 = transcript.sound_sha256 AND part.engine = transcript.engine), 0) AS heard
FROM transcript
WHERE sound_sha256 = %(sound_sha256)s AND engine = %(engine)s;

-- name: record_transcript
INSERT INTO transcript (sound_sha256, engine, language, language_probability)
VALUES (%(sound_sha256)s, %(engine)s, %(language)s, %(language_probability)s)
ON CONFLICT (sound_sha256, engine) DO UPDATE SET
    language = excluded.language, language_probability = excluded.language_probability;

-- name: record_window
INSERT INTO transcript_window (sound_sha256, engine, starts_at, ends_at, segments)
VALUES (%(sound_sha256)s, %(engine)s, %(starts_at)s, %(ends_at)s, %(segments)s)
ON CONFLICT (sound_sha256, engine, starts_at) DO UPDATE SET ends_at = excluded.ends_at, segments = excluded.segments;

-- name: finish_transcript
UPDATE transcript SET finished_at = now() WHERE sound_sha256 = %(sound_sha256)s AND engine = %(engine)s;

-- name: transcript_segments
SELECT part.segments FROM transcript_window part
WHERE part.sound_sha256 = %(sound_sha256)s AND part.engine = %(engine)s
ORDER BY part.starts_at;

-- name: record_transcribed_file
INSERT INTO transcribed_file
    (source_id, uri, input_hash, config_hash, sha256, sound_sha256, engine, content_hash)
VALUES (%(source_id)s, %(uri)s, %(sha256)s, %(engine)s, %(sha256)s, %(sound_sha256)s, %(engine)s, %(content_hash)s)
ON CONFLICT (source_id, uri) DO UPDATE SET
    input_hash = excluded.input_hash, config_hash = excluded.config_hash, sha256 = excluded.sha256,
    sound_sha256 = excluded.sound_sha256, engine = excluded.engine, content_hash = excluded.content_hash,
    failure = NULL, attempts = 0, next_retry_at = NULL;

-- name: record_transcription_failure
-- The attempt is recorded; what an earlier success made stays, and stays searchable.
INSERT INTO transcribed_file AS known (source_id, uri, input_hash, config_hash, failure, attempts, next_retry_at)
VALUES (%(source_id)s, %(uri)s, %(sha256)s, %(engine)s, %(failure)s, 1, now() + interval '1 minute')
ON CONFLICT (source_id, uri) DO UPDATE SET
    input_hash = excluded.input_hash, config_hash = excluded.config_hash, failure = excluded.failure,
    attempts = known.attempts + 1,
    next_retry_at = now() + least(interval '1 minute' * power(2, least(known.attempts, 20)), interval '24 hours');

-- name: count_transcribed
SELECT count(*) FROM transcribed_file transcribed
JOIN raw_file file ON file.source_id = transcribed.source_id AND file.uri = transcribed.uri
JOIN source ON source.id = file.source_id
WHERE source.collection = %(collection)s AND source.removed_at IS NULL AND file.removed_at IS NULL
  AND transcribed.content_hash IS NOT NULL;

-- name: transcripts_version
SELECT encode(sha256(convert_to(coalesce(string_agg(
    transcribed.uri || ' ' || encode(transcribed.content_hash, 'hex'), E'\n' ORDER BY transcribed.uri, source.location),
    ''), 'UTF8')), 'hex')
FROM transcribed_file transcribed
JOIN raw_file file ON file.source_id = transcribed.source_id AND file.uri = transcribed.uri
JOIN source ON source.id = file.source_id
WHERE source.collection = %(collection)s AND source.removed_at IS NULL AND file.removed_at IS NULL
  AND transcribed.content_hash IS NOT NULL;

-- name: transcripts_of_files
-- What the documents of recordings are made of: their titles, languages and segments.
SELECT transcribed.source_id, transcribed.uri, recording.title, transcript.language, transcript.language_probability,
       coalesce((SELECT jsonb_agg(segment ORDER BY part.starts_at, place)
                 FROM transcript_window part
                 CROSS JOIN LATERAL jsonb_array_elements(part.segments) WITH ORDINALITY AS spoken (segment, place)
                 WHERE part.sound_sha256 = transcribed.sound_sha256 AND part.engine = transcribed.engine), '[]') AS segments
FROM transcribed_file transcribed
JOIN unnest(%(source_ids)s::bigint[], %(uris)s::text[]) AS wanted (source_id, uri)
    ON wanted.source_id = transcribed.source_id AND wanted.uri = transcribed.uri
JOIN recording ON recording.sha256 = transcribed.sha256
JOIN transcript ON transcript.sound_sha256 = transcribed.sound_sha256 AND transcript.engine = transcribed.engine;

-- name: transcript_of_document
-- The segments a document of a recording was made of.
SELECT transcribed.sound_sha256, transcribed.engine
FROM document
JOIN transcribed_file transcribed ON transcribed.source_id = document.source_id AND transcribed.uri = document.uri
WHERE document.id = %(document_id)s AND transcribed.content_hash = document.input_hash;

-- name: delete_unreferenced_transcripts
DELETE FROM transcript
WHERE NOT EXISTS (
    SELECT FROM transcribed_file transcribed
    WHERE transcribed.sound_sha256 = transcript.sound_sha256 AND transcribed.engine = transcript.engine)
  -- One that is not finished, of a recording that is there, is being made.
  AND (finished_at IS NOT NULL OR NOT EXISTS (
    SELECT FROM recording JOIN raw_file ON raw_file.sha256 = recording.sha256
    WHERE recording.sound_sha256 = transcript.sound_sha256));

-- name: delete_unreferenced_recordings
DELETE FROM recording
WHERE NOT EXISTS (SELECT FROM transcribed_file transcribed WHERE transcribed.sha256 = recording.sha256)
  AND NOT EXISTS (SELECT FROM raw_file WHERE raw_file.sha256 = recording.sha256);

-- name: unfinished_windows
-- Return how many windows of an engine's unfinished transcripts are stored: a run that gave way has made some.
SELECT count(*) FROM transcript_window JOIN transcript USING (sound_sha256, engine)
WHERE engine = %(engine)s AND finished_at IS NULL;

-- name: has_recordings
-- Return whether a collection has recordings.
SELECT EXISTS (
    SELECT FROM raw_file file JOIN source ON source.id = file.source_id
    WHERE source.collection = %(collection)s AND file.removed_at IS NULL AND is_recording(file.media_type));

-- name: speech_settings
-- Return the speech settings of a collection.
SELECT settings -> 'speech' FROM collection WHERE name = %(collection)s;

-- name: stale_recordings
-- Return recordings without a transcript of their current bytes by the current engine, and those due for a retry.
SELECT file.source_id, file.uri, file.sha256, file.size, file.modified, file.touched, transcribed.content_hash
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
          OR (transcribed.engine IS NOT NULL AND transcript.finished_at IS NULL)  -- it is being made again
          OR (transcribed.failure IS NOT NULL AND is_due(transcribed.next_retry_at))
          OR %(force)s
  END
ORDER BY file.uri, file.source_id;

-- name: recordings
-- Return what is known of recordings by the hashes of their files.
SELECT sha256, sound_sha256, duration, title, metadata FROM recording
WHERE sha256 = ANY(%(sha256s)s) AND probe = %(probe)s AND seal = recording_seal(recording);

-- name: record_recording
-- Insert or update the duration, title and metadata of a recording.
INSERT INTO recording (sha256, probe, sound_sha256, duration, title, metadata)
VALUES (%(sha256)s, %(probe)s, %(sound_sha256)s, %(duration)s, %(title)s, %(metadata)s)
ON CONFLICT (sha256) DO UPDATE SET
    probe = excluded.probe, sound_sha256 = excluded.sound_sha256, duration = excluded.duration, title = excluded.title,
    metadata = excluded.metadata;

-- name: forget_transcript
-- Delete the windows of a transcript; files that refer to it keep its row until it is finished again.
WITH forgotten AS (
    DELETE FROM transcript_window WHERE sound_sha256 = %(sound_sha256)s AND engine = %(engine)s
)
UPDATE transcript
SET finished_at = NULL, windows = NULL,
    language = CASE WHEN %(with_language)s THEN NULL ELSE language END,
    language_probability = CASE WHEN %(with_language)s THEN NULL ELSE language_probability END
WHERE sound_sha256 = %(sound_sha256)s AND engine = %(engine)s;

-- name: transcript_state
-- Return how far a transcript has come, in seconds of sound, and its language.
SELECT transcript.finished_at IS NOT NULL AS finished, NOT transcript_is_whole(transcript) AS damaged, transcript.language, transcript.language_probability,
       coalesce((SELECT max(ends_at) FROM transcript_window part
                 WHERE part.sound_sha256 = transcript.sound_sha256 AND part.engine = transcript.engine), 0) AS heard
FROM transcript
WHERE sound_sha256 = %(sound_sha256)s AND engine = %(engine)s;

-- name: record_transcript
-- Insert a transcript or update its language.
INSERT INTO transcript (sound_sha256, engine, language, language_probability)
VALUES (%(sound_sha256)s, %(engine)s, %(language)s, %(language_probability)s)
ON CONFLICT (sound_sha256, engine) DO UPDATE SET
    language = excluded.language, language_probability = excluded.language_probability;

-- name: record_window
-- Insert or replace the segments of one window of sound.
INSERT INTO transcript_window (sound_sha256, engine, starts_at, ends_at, segments)
VALUES (%(sound_sha256)s, %(engine)s, %(starts_at)s, %(ends_at)s, %(segments)s)
ON CONFLICT (sound_sha256, engine, starts_at) DO UPDATE SET ends_at = excluded.ends_at, segments = excluded.segments;

-- name: finish_transcript
-- Mark a transcript as finished.
UPDATE transcript SET finished_at = now(), windows = (
    SELECT count(*) FROM transcript_window part
    WHERE part.sound_sha256 = transcript.sound_sha256 AND part.engine = transcript.engine)
WHERE sound_sha256 = %(sound_sha256)s AND engine = %(engine)s;

-- name: transcript_windows
-- Return the windows of a transcript in order: their start in seconds, and their segments.
SELECT starts_at, segments FROM transcript_window
WHERE sound_sha256 = %(sound_sha256)s AND engine = %(engine)s
ORDER BY starts_at;

-- name: replace_window
-- Replace the segments of a window.
UPDATE transcript_window SET segments = %(segments)s
WHERE sound_sha256 = %(sound_sha256)s AND engine = %(engine)s AND starts_at = %(starts_at)s
  AND segments IS DISTINCT FROM %(segments)s;

-- name: transcript_segments
-- Return the segments of a transcript, one array per window, in order of time.
SELECT part.segments FROM transcript_window part
WHERE part.sound_sha256 = %(sound_sha256)s AND part.engine = %(engine)s
ORDER BY part.starts_at;

-- name: record_transcribed_file
-- Record the transcript of a file and clear its failure.
INSERT INTO transcribed_file
    (source_id, uri, input_hash, config_hash, sha256, sound_sha256, engine, content_hash)
VALUES (%(source_id)s, %(uri)s, %(sha256)s, %(engine)s, %(sha256)s, %(sound_sha256)s, %(engine)s, %(content_hash)s)
ON CONFLICT (source_id, uri) DO UPDATE SET
    input_hash = excluded.input_hash, config_hash = excluded.config_hash, sha256 = excluded.sha256,
    sound_sha256 = excluded.sound_sha256, engine = excluded.engine, content_hash = excluded.content_hash,
    failure = NULL, failure_class = NULL, attempts = 0, next_retry_at = NULL;

-- name: record_transcription_failure
-- Record a failed attempt; an earlier transcript stays and stays searchable.
-- A failure is retried after 1, 2, 4 … minutes, a temporary one first at once, until it is parked.
INSERT INTO transcribed_file AS known
    (source_id, uri, input_hash, config_hash, failure, failure_class, attempts, next_retry_at)
SELECT %(source_id)s, %(uri)s, %(sha256)s, %(engine)s, %(failure)s, %(failure_class)s, 1,
       next_retry(source.collection, 1, %(most_attempts)s, %(temporary)s)
FROM source WHERE source.id = %(source_id)s
ON CONFLICT (source_id, uri) DO UPDATE SET
    input_hash = excluded.input_hash, config_hash = excluded.config_hash, failure = excluded.failure,
    failure_class = excluded.failure_class,
    (attempts, next_retry_at) = (
        SELECT attempt, next_retry(
            (SELECT collection FROM source WHERE id = excluded.source_id), attempt, %(most_attempts)s, %(temporary)s)
        FROM (SELECT CASE WHEN (known.input_hash, known.config_hash) = (excluded.input_hash, excluded.config_hash)
                          THEN known.attempts + 1 ELSE 1 END AS attempt) counted);

-- name: count_transcribed
-- Return the number of live recordings of a collection that have a transcript.
SELECT count(*) FROM transcribed_file transcribed
JOIN raw_file file ON file.source_id = transcribed.source_id AND file.uri = transcribed.uri
JOIN source ON source.id = file.source_id
WHERE source.collection = %(collection)s AND source.removed_at IS NULL AND file.removed_at IS NULL
  AND transcribed.content_hash IS NOT NULL;

-- name: transcripts_version
-- Return a digest over the (URI, content hash) pairs of the transcripts of a collection.
SELECT encode(sha256(convert_to(coalesce(string_agg(
    transcribed.uri || ' ' || encode(transcribed.content_hash, 'hex'), E'\n' ORDER BY transcribed.uri, source.location),
    ''), 'UTF8')), 'hex')
FROM transcribed_file transcribed
JOIN raw_file file ON file.source_id = transcribed.source_id AND file.uri = transcribed.uri
JOIN source ON source.id = file.source_id
WHERE source.collection = %(collection)s AND source.removed_at IS NULL AND file.removed_at IS NULL
  AND transcribed.content_hash IS NOT NULL;

-- name: transcripts_of_files
-- Return title, language, segments and chapters of the transcripts of given files.
SELECT transcribed.source_id, transcribed.uri, recording.title, transcript.language, transcript.language_probability,
       recording.metadata -> 'chapters' AS chapters,
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
-- Return the transcript that a document, or the one that it is taken from, was made from.
SELECT transcribed.sound_sha256, transcribed.engine
FROM document
JOIN transcribed_file transcribed ON transcribed.uri = document.uri AND transcribed.content_hash = document.input_hash
WHERE document.id = %(document_id)s
LIMIT 1;

-- name: analyze_transcripts
-- Analyze the tables of this stage for the planner; see analyze_raw_files.
ANALYZE recording, transcript, transcript_window, transcribed_file;

-- name: exclude_files
-- Mark a file as excluded although its source still has it: no listing brings it back. Or undo it.
UPDATE raw_file
SET excluded_at = CASE WHEN %(is_excluded)s THEN coalesce(excluded_at, now()) END
FROM source JOIN collection ON collection.name = source.collection AND collection.removed_at IS NULL
WHERE source.id = raw_file.source_id
  AND raw_file.uri = %(uri)s
  AND (%(collection)s::text IS NULL OR source.collection = %(collection)s)
RETURNING source.collection;

-- name: exclude_pages
-- Mark a page as excluded although its site still has it: no crawl brings it back. Or undo it.
UPDATE crawled_page page
SET excluded_at = CASE WHEN %(is_excluded)s THEN coalesce(excluded_at, now()) END
FROM source JOIN collection ON collection.name = source.collection AND collection.removed_at IS NULL
WHERE source.id = page.source_id
  AND page.url = %(uri)s
  AND (%(collection)s::text IS NULL OR source.collection = %(collection)s)
RETURNING source.collection;

-- name: remove_excluded_document
-- Mark a document as removed, with the attachments of a message, and return their ids.
UPDATE document
SET removed_at = coalesce(document.removed_at, now()), failure = NULL, failure_class = NULL,
    attempts = 0, next_retry_at = NULL, updated_at = now()
WHERE collection = %(collection)s
  AND uri IN (
      SELECT %(uri)s
      UNION ALL
      SELECT message.uri || '/' || attachment.path
      FROM document message
      JOIN attachment ON attachment.container_sha256 = message.content_sha256
                     AND attachment.container_parser = message.content_parser
      WHERE message.collection = %(collection)s AND message.uri = %(uri)s)
RETURNING document.id;

-- name: container_of
-- Return the message that an attachment belongs to.
SELECT container FROM present_attachment
WHERE uri = ANY(%(uris)s) AND (%(collection)s::text IS NULL OR collection = %(collection)s)
LIMIT 1;

-- name: takers_of
-- Return collections, and those that have the document at a URI from one of them by a membership rule, or by several.
WITH RECURSIVE taker AS (
    SELECT unnest(%(collections)s::text[]) AS name
    UNION
    SELECT rule.collection
    FROM taker
    JOIN source rule ON rule.kind = 'collection' AND rule.location = taker.name
    JOIN document ON document.source_id = rule.id AND document.uri = %(uri)s
)
SELECT name FROM taker ORDER BY name;

-- name: giver_of
-- Return the collection that a collection has a document from, by a membership rule.
SELECT rule.location
FROM document JOIN source rule ON rule.id = document.source_id AND rule.kind = 'collection'
WHERE document.collection = %(collection)s AND document.uri = ANY(%(uris)s)
LIMIT 1;

-- name: document_at
-- Return the id of the document at a URI of a collection.
SELECT id FROM document WHERE collection = %(collection)s AND uri = %(uri)s;

-- name: document_place
-- Return the collection and URI of a document.
SELECT document.collection, document.uri
FROM document JOIN collection ON collection.name = document.collection AND collection.removed_at IS NULL
WHERE document.id = %(id)s;

-- name: known_uri
-- Return the first of several URIs that is known: of a live document, a removed one, or any file or page.
SELECT known.uri
FROM (SELECT source_id, uri FROM raw_file UNION ALL SELECT source_id, url FROM crawled_page) known
JOIN source ON source.id = known.source_id
JOIN collection ON collection.name = source.collection AND collection.removed_at IS NULL
LEFT JOIN document ON document.collection = source.collection AND document.uri = known.uri
WHERE known.uri = ANY(%(uris)s) AND (%(collection)s::text IS NULL OR source.collection = %(collection)s)
ORDER BY document.id IS NULL, document.removed_at IS NOT NULL, array_position(%(uris)s, known.uri)
LIMIT 1;

-- name: count_purgeable
-- Return how many rows of each kind a purge would delete: those removed before a time, and those that only they need.
WITH kept_document AS (
    SELECT document.id, document.source_id, document.content_sha256, document.content_parser
    FROM document
    JOIN collection ON collection.name = document.collection AND (collection.removed_at < %(before)s) IS NOT TRUE
    WHERE (document.removed_at < %(before)s) IS NOT TRUE
), kept_text AS (
    SELECT DISTINCT generation.model, chunk.embedding_hash
    FROM chunk
    JOIN generation ON generation.id = chunk.generation_id
    JOIN document ON document.id = chunk.document_id AND (document.removed_at < %(before)s) IS NOT TRUE
    JOIN collection ON collection.name = document.collection AND (collection.removed_at < %(before)s) IS NOT TRUE
), doomed_source AS (
    SELECT source.id
    FROM source JOIN collection ON collection.name = source.collection
    WHERE collection.removed_at < %(before)s
       OR (source.removed_at < %(before)s AND source.id NOT IN (SELECT source_id FROM kept_document))
), kept_file AS (
    SELECT source_id, uri, sha256 FROM raw_file
    WHERE (removed_at < %(before)s) IS NOT TRUE AND source_id NOT IN (SELECT id FROM doomed_source)
)
SELECT
    (SELECT count(*) FROM collection WHERE removed_at < %(before)s) AS collections,
    (SELECT count(*) FROM doomed_source) AS sources,
    (SELECT count(*) FROM raw_file
     WHERE removed_at < %(before)s OR source_id IN (SELECT id FROM doomed_source)) AS files,
    (SELECT count(*) FROM crawled_page
     WHERE removed_at < %(before)s OR source_id IN (SELECT id FROM doomed_source)) AS pages,
    (SELECT count(*) FROM document JOIN collection ON collection.name = document.collection
     WHERE document.removed_at < %(before)s OR collection.removed_at < %(before)s) AS documents,
    (SELECT count(*) FROM chunk
     JOIN document ON document.id = chunk.document_id
     JOIN collection ON collection.name = document.collection
     WHERE document.removed_at < %(before)s OR collection.removed_at < %(before)s) AS chunks,
    (SELECT count(*) FROM parsed_content) - (SELECT count(*) FROM (
        SELECT content_sha256, content_parser FROM kept_document WHERE content_sha256 IS NOT NULL
        UNION
        SELECT sha256, parser FROM crawled_page
        WHERE parser IS NOT NULL AND (removed_at < %(before)s) IS NOT TRUE AND source_id NOT IN (SELECT id FROM doomed_source)
    ) kept_content) AS parsed_contents,
    (SELECT count(*) FROM transcript
     WHERE NOT EXISTS (
         SELECT FROM transcribed_file transcribed
         JOIN kept_file USING (source_id, uri)
         WHERE transcribed.sound_sha256 = transcript.sound_sha256 AND transcribed.engine = transcript.engine)
       AND (finished_at IS NOT NULL OR NOT EXISTS (
         SELECT FROM recording JOIN kept_file ON kept_file.sha256 = recording.sha256
         WHERE recording.sound_sha256 = transcript.sound_sha256))
    ) AS transcripts,
    (SELECT count(*) FROM embedding
     WHERE NOT EXISTS (
         SELECT FROM kept_text
         WHERE kept_text.model = embedding.model AND kept_text.embedding_hash = embedding.text_hash)
    ) AS embeddings,
    (SELECT count(*) FROM upload JOIN collection ON collection.name = upload.collection
     WHERE upload.removed_at < %(before)s OR collection.removed_at < %(before)s) AS uploads;

-- name: generations_of_removed_collections
-- Return the generations of collections that were removed before a time.
SELECT generation.id, generation.collection, generation.chunking, generation.embedding, generation.model,
       generation.dimensions
FROM generation
JOIN collection ON collection.name = generation.collection
WHERE collection.removed_at < %(before)s AND (%(collection)s::text IS NULL OR collection.name = %(collection)s)
ORDER BY generation.id;

-- name: leave_generations_of_removed_collections
-- Let the generations of collections that were removed before a time be retired, as those that nobody searches.
UPDATE collection SET active_generation_id = NULL, building_generation_id = NULL
WHERE removed_at < %(before)s AND (%(collection)s::text IS NULL OR name = %(collection)s)
  AND (active_generation_id IS NOT NULL OR building_generation_id IS NOT NULL);

-- name: delete_removed_collections
-- Delete collections that were removed before a time.
DELETE FROM collection
WHERE removed_at < %(before)s AND (%(collection)s::text IS NULL OR name = %(collection)s);

-- name: delete_removed_documents
-- Delete documents that were removed before a time.
DELETE FROM document
WHERE removed_at < %(before)s AND (%(collection)s::text IS NULL OR collection = %(collection)s);

-- name: delete_removed_sources
-- Delete sources that were removed before a time; one that still has documents waits for the ingest that removes them.
DELETE FROM source
WHERE removed_at < %(before)s AND (%(collection)s::text IS NULL OR collection = %(collection)s)
  AND NOT EXISTS (SELECT FROM document WHERE document.source_id = source.id);

-- name: delete_removed_files
-- Delete files that were removed before a time, with who saw them, and records with what was kept of them.
-- An excluded file that its source still has keeps its row: it must not return.
WITH records AS (
    DELETE FROM source_record
    WHERE removed_at < %(before)s
      AND (%(collection)s::text IS NULL OR source_id IN (SELECT id FROM source WHERE collection = %(collection)s))
), permissions AS (
    DELETE FROM item_permission item USING raw_file, source
    WHERE source.id = item.source_id AND source.kind = 'files' AND raw_file.source_id = item.source_id
      AND raw_file.uri = item.uri AND raw_file.removed_at < %(before)s
      AND (%(collection)s::text IS NULL OR source.collection = %(collection)s)
)
DELETE FROM raw_file
WHERE removed_at < %(before)s
  AND (%(collection)s::text IS NULL OR source_id IN (SELECT id FROM source WHERE collection = %(collection)s));

-- name: delete_removed_pages
-- Delete pages that were removed before a time.
-- Their URLs stay in the frontier, so that links to them are not requested each time.
DELETE FROM crawled_page
WHERE removed_at < %(before)s
  AND (%(collection)s::text IS NULL OR source_id IN (SELECT id FROM source WHERE collection = %(collection)s));

-- name: delete_unreferenced_contents
-- Delete parsed contents that no document and no page uses.
DELETE FROM parsed_content parsed
WHERE NOT EXISTS (
    SELECT FROM document
    WHERE document.content_sha256 = parsed.sha256 AND document.content_parser = parsed.parser)
  AND NOT EXISTS (
    SELECT FROM crawled_page page WHERE page.sha256 = parsed.sha256 AND page.parser = parsed.parser);

-- name: delete_unreferenced_transcripts
-- Delete transcripts that no file uses and that are not being made.
DELETE FROM transcript
WHERE NOT EXISTS (
    SELECT FROM transcribed_file transcribed
    WHERE transcribed.sound_sha256 = transcript.sound_sha256 AND transcribed.engine = transcript.engine)
  -- An unfinished transcript of an existing recording is being made.
  AND (finished_at IS NOT NULL OR NOT EXISTS (
    SELECT FROM recording JOIN raw_file ON raw_file.sha256 = recording.sha256
    WHERE recording.sound_sha256 = transcript.sound_sha256));

-- name: delete_unreferenced_recordings
-- Delete recordings that no file uses.
DELETE FROM recording
WHERE NOT EXISTS (SELECT FROM transcribed_file transcribed WHERE transcribed.sha256 = recording.sha256)
  AND NOT EXISTS (SELECT FROM raw_file WHERE raw_file.sha256 = recording.sha256);

-- name: delete_unreferenced_embeddings
-- Delete vectors that no chunk uses.
DELETE FROM embedding
WHERE NOT EXISTS (
    SELECT FROM chunk
    JOIN generation ON generation.id = chunk.generation_id AND generation.model = embedding.model
    WHERE chunk.embedding_hash = embedding.text_hash);

-- name: every_collection
-- Return the names of all collections, also removed ones.
SELECT name FROM collection ORDER BY name;

-- name: record_retention_night
-- Record that retention looks for old rows tonight, and forget nights that a clock that was ahead has recorded.
WITH ahead AS (
    DELETE FROM retention_night WHERE night > current_date + 1 OR night < current_date - 30
)
INSERT INTO retention_night (night) VALUES (current_date) ON CONFLICT DO NOTHING;

-- name: retention_ages
-- Return each collection with the age in seconds of its setting `retention.removed`; NULL where it has none.
-- A collection that was deleted over the API is not kept: its age is 0.
SELECT name, CASE WHEN declared_in = 'api' AND removed_at IS NOT NULL THEN 0
                  ELSE (settings #>> '{retention,removed}')::double precision END
FROM collection ORDER BY name;

-- name: forgotten_before
-- Return the time before which a row must have been removed to be deleted at an age; NULL where too few nights are known.
SELECT CASE WHEN %(nights)s = 0 THEN now() - make_interval(secs => %(seconds)s) ELSE (
    SELECT least(now() - make_interval(secs => %(seconds)s), night::timestamptz)
    FROM retention_night WHERE night < current_date
    ORDER BY night DESC OFFSET greatest(%(nights)s - 1, 0) LIMIT 1) END;

-- name: drop_partition
-- Drop the partition of a collection that was removed after the purge began; searches wait for the end of the purge.
DROP TABLE IF EXISTS {partition};

-- name: collection_sources
-- Return the folders, stores, repositories, records and uploads of a collection, or those at the given locations.
SELECT id, location, include, exclude, max_bytes,
       coalesce((collection.settings #>> '{speech,max_bytes}')::bigint, %(max_recording_bytes)s) AS max_recording_bytes,
       listing_error, coalesce((source.settings ->> 'follow_links')::boolean, false) AS follow_links,
       kind = 'uploads' AS is_uploads, source.settings ? 'url' AS is_repository, source.settings ->> 'path' AS folder,
       source.settings ? 'records' AS is_records, record_state, git_mirror, git_commit, git_error, git_error_class, collection.declared_in = 'api' AS is_fixed,
       coalesce(source.permissions ? 'by_item', false) AS has_permissions,
       CASE WHEN source.permissions ->> 'by_item' = 'acl' THEN coalesce(source.permissions -> 'grantees', '{}') END AS grantees,
       coalesce(source.permissions ->> 'by_item' = 'acl' AND coalesce(next_fetch_at <= now(), true), false) AS wants_acls
FROM source JOIN collection ON collection.name = source.collection
WHERE source.collection = %(collection)s AND (source.removed_at IS NULL OR %(with_removed)s)
  AND kind IN ('files', 'uploads') AND (%(source_id)s::bigint IS NULL OR id = %(source_id)s)
  AND (cardinality(%(locations)s::text[]) = 0 OR location = ANY(%(locations)s))
ORDER BY id;

-- name: record_acls
-- Record that the ACLs of all objects of a source were asked for, and when they are again.
UPDATE source SET next_fetch_at = now() + (settings ->> 'acl_refresh')::interval WHERE id = %(source_id)s;

-- name: listed_folders
-- Return the folders of a source with their settled listings.
SELECT uri, digest, files, revision FROM listed_folder WHERE source_id = %(source_id)s;

-- name: listed_folders_among
-- Return some folders of a source with their settled listings.
SELECT uri, digest, files, revision FROM listed_folder WHERE source_id = %(source_id)s AND uri = ANY(%(folders)s);

-- name: known_files
-- Return every file that the ledger knows of some folders of a source, also removed ones.
SELECT uri, size, modified,
       removed_at IS NULL AS live,
       failure IS NOT NULL AND (%(retry_now)s OR is_due(next_retry_at)) AS retry_due,
       failure IS NOT NULL AS failed,
       (extract(epoch FROM hashed_at) * 1000000000)::bigint AS hashed_ns,
       skip_reason, media_type, sha256, touched
FROM raw_file
WHERE source_id = %(source_id)s AND folder_of(uri) = ANY(%(folders)s);

-- name: settle_folders
-- Record listings of folders that agree with the inventory.
-- A row of theirs that changed since their revision was read leaves them unsettled.
INSERT INTO listed_folder AS known (source_id, uri, digest, files, revision)
SELECT %(source_id)s, uri, digest, files, coalesce(revision, nextval('listed_folder_revision_seq'))
FROM unnest(%(uris)s::text[], %(digests)s::bytea[], %(files)s::integer[], %(revisions)s::bigint[])
    AS seen (uri, digest, files, revision)
ORDER BY uri
ON CONFLICT (source_id, uri) DO UPDATE SET digest = excluded.digest, files = excluded.files
    WHERE known.revision = excluded.revision;

-- name: forget_folders
-- Delete folders without files, unless a row of theirs changed since their revision was read, or changes now.
DELETE FROM listed_folder folder
USING (
    SELECT known.uri
    FROM listed_folder known
    JOIN unnest(%(uris)s::text[], %(revisions)s::bigint[]) AS seen (uri, revision) USING (uri, revision)
    WHERE known.source_id = %(source_id)s
    FOR UPDATE OF known SKIP LOCKED
) empty
WHERE folder.source_id = %(source_id)s AND folder.uri = empty.uri;

-- name: record_files
-- Insert or update the rows of files that are new, changed, returned, failed or skipped.
INSERT INTO raw_file AS known
    (source_id, uri, size, modified, sha256, media_type, hashed_at, skip_reason, failure, failure_class, touched,
     attempts, next_retry_at)
SELECT %(source_id)s, uri, size, modified, sha256, media_type, to_timestamp(hashed_at), skip_reason, failure,
       failure_class, touched, CASE WHEN failure IS NULL THEN 0 ELSE 1 END,
       CASE WHEN failure IS NOT NULL THEN next_retry(source.collection, 1) END
FROM unnest(
    %(uris)s::text[], %(sizes)s::bigint[], %(modified)s::text[], %(sha256s)s::bytea[], %(media_types)s::text[],
    %(hashed_at)s::double precision[], %(skip_reasons)s::text[], %(failures)s::text[],
    %(failure_classes)s::text[], %(touched)s::text[]
) AS seen (uri, size, modified, sha256, media_type, hashed_at, skip_reason, failure, failure_class, touched)
JOIN source ON source.id = %(source_id)s
ON CONFLICT (source_id, uri) DO UPDATE SET
    size = excluded.size,
    modified = excluded.modified,
    -- A file that cannot be read now keeps its last hash and type: it is not gone.
    sha256 = CASE WHEN excluded.failure IS NULL THEN excluded.sha256 ELSE known.sha256 END,
    media_type = CASE WHEN excluded.failure IS NULL THEN excluded.media_type ELSE known.media_type END,
    hashed_at = excluded.hashed_at,
    changed_at = CASE WHEN excluded.sha256 IS DISTINCT FROM known.sha256 THEN now() ELSE known.changed_at END,
    removed_at = NULL,
    skip_reason = excluded.skip_reason,
    failure = excluded.failure,
    failure_class = excluded.failure_class,
    touched = excluded.touched,
    (attempts, next_retry_at) = (
        SELECT attempt, CASE WHEN attempt > 0 THEN next_retry(
            (SELECT collection FROM source WHERE id = excluded.source_id), attempt) END
        FROM (SELECT CASE WHEN excluded.failure IS NULL THEN 0
                          WHEN (known.size, known.modified) = (excluded.size, excluded.modified) THEN known.attempts + 1
                          ELSE 1 END AS attempt) counted)
RETURNING uri;

-- name: tag_files
-- Replace the tags of files that are uploads.
UPDATE raw_file SET tags = ARRAY(SELECT jsonb_array_elements_text(tagged.tags))
FROM unnest(%(uris)s::text[]) WITH ORDINALITY AS given (uri, place)
JOIN jsonb_array_elements(%(tags)s) WITH ORDINALITY AS tagged (tags, place) USING (place)
WHERE raw_file.source_id = %(source_id)s AND raw_file.uri = given.uri;

-- name: confirm_files
-- Mark files as unchanged after a second look at their content.
-- From then on equal times and an equal inode mean equal content.
UPDATE raw_file SET hashed_at = to_timestamp(confirmed.hashed_at), touched = nullif(confirmed.touched, '')
FROM (
    SELECT known.uri, seen.hashed_at, seen.touched
    FROM unnest(%(uris)s::text[], %(hashed_at)s::double precision[], %(touched)s::text[])
        AS seen (uri, hashed_at, touched)
    JOIN raw_file known ON known.source_id = %(source_id)s AND known.uri = seen.uri
    ORDER BY known.uri
    FOR UPDATE OF known                -- in one order, as a sensor and the workers of shards may confirm the same files
) confirmed
WHERE raw_file.source_id = %(source_id)s AND raw_file.uri = confirmed.uri;

-- name: remove_files
-- Mark files of a source as removed.
UPDATE raw_file
SET removed_at = now(), failure = NULL, failure_class = NULL, attempts = 0, next_retry_at = NULL
WHERE source_id = %(source_id)s AND uri = ANY(%(uris)s) AND removed_at IS NULL;

-- name: remove_files_of_removed_sources
-- Mark the files of removed sources as removed.
UPDATE raw_file
SET removed_at = now(), failure = NULL, failure_class = NULL, attempts = 0, next_retry_at = NULL
FROM source
WHERE source.id = raw_file.source_id AND source.collection = %(collection)s AND source.removed_at IS NOT NULL
  AND raw_file.removed_at IS NULL;

-- name: lost_documents
-- Return the collection of a source, its rules of removal, the number of documents, and those that missing files lose.
-- A document whose content a file has that is there is not lost. While a loss is held back, later documents do not count.
WITH live AS (
    SELECT file.uri, file.sha256, missing.uri IS NOT NULL AS is_missing
    FROM raw_file file
    JOIN document ON document.source_id = file.source_id AND document.uri = file.uri AND document.removed_at IS NULL
    LEFT JOIN unnest(%(missing)s::text[]) AS missing (uri) ON missing.uri = file.uri
    WHERE file.source_id = %(source_id)s AND file.removed_at IS NULL AND document.content_hash IS NOT NULL
), present AS (
    SELECT DISTINCT other.sha256
    FROM source JOIN source beside ON beside.collection = source.collection AND beside.removed_at IS NULL
    JOIN raw_file other ON other.source_id = beside.id AND other.removed_at IS NULL
    WHERE source.id = %(source_id)s AND other.sha256 IN (SELECT sha256 FROM live WHERE is_missing)
      AND NOT (beside.id = source.id AND other.uri = ANY(%(missing)s))
)
SELECT source.collection, collection.settings -> 'removals',
       coalesce(source.held_of, (SELECT count(*) FROM live))::integer,
       ARRAY(SELECT uri FROM live LEFT JOIN present USING (sha256) WHERE is_missing AND present.sha256 IS NULL)
FROM source JOIN collection ON collection.name = source.collection
WHERE source.id = %(source_id)s;

-- name: known_uploads
-- Return the names of the uploads of a source, also of those that were removed.
SELECT DISTINCT upload.name FROM source JOIN upload ON upload.collection = source.collection
WHERE source.id = %(source_id)s;

-- name: record_listing
-- Record when a source was listed, or why it could not be listed completely, or why it was not believed.
UPDATE source
SET listed_at = CASE WHEN %(error)s::text IS NULL THEN now() ELSE listed_at END, listing_error = %(error)s,
    listing_error_class = %(failure_class)s,
    held_of = CASE WHEN %(error)s::text IS NULL OR %(held_of)s::integer IS NOT NULL THEN %(held_of)s ELSE held_of END
WHERE id = %(source_id)s;

-- name: record_web_view
-- Record where the files of a folder are shown on the web, or that they are nowhere.
UPDATE source SET web_view = %(view)s::jsonb WHERE id = %(source_id)s AND web_view IS DISTINCT FROM %(view)s::jsonb;

-- name: analyze_raw_files
-- Analyze the tables of this stage for the planner.
-- Without this, the first passes over a new knowledge base are planned for an empty one, long before autovacuum runs.
ANALYZE raw_file, source, listed_folder;

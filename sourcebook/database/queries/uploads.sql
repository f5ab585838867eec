-- name: uploaded_files
-- Return the present uploads of a source with the stores of their bytes, or those of some bytes.
SELECT upload.name, upload.sha256, content.bytes, upload.tags, content.store
FROM source
JOIN upload ON upload.collection = source.collection AND upload.removed_at IS NULL
JOIN upload_content content ON content.sha256 = upload.sha256
WHERE source.id = %(source_id)s AND (%(sha256)s::bytea IS NULL OR upload.sha256 = %(sha256)s)
ORDER BY upload.name;

-- name: announce_upload_bytes
-- Record where bytes are about to be stored, so that bytes without an upload are found and deleted.
INSERT INTO upload_content (sha256, bytes, store)
SELECT * FROM unnest(%(sha256s)s::bytea[], %(sizes)s::bigint[], %(stores)s::text[])
    AS given (sha256, bytes, store)
ORDER BY sha256
ON CONFLICT (sha256) DO UPDATE SET store = excluded.store, stored_at = now();

-- name: share_upload_bytes
-- Let no bytes be deleted until the transaction ends.
SELECT pg_advisory_xact_lock_shared(%(lock)s);

-- name: hold_upload_bytes
-- Let no bytes be stored until the transaction ends.
SELECT pg_advisory_xact_lock(%(lock)s);

-- name: hold_collection
-- Return whether a collection is live; it is neither deleted nor changed until the transaction ends.
SELECT true FROM collection WHERE name = %(collection)s AND removed_at IS NULL FOR SHARE;

-- name: make_uploads_source
-- Insert the source of the uploads of a collection, which no configuration names; one that was removed returns.
INSERT INTO source (collection, kind, location, include, exclude, tags, max_bytes, permissions)
SELECT %(collection)s, 'uploads', %(location)s, '{**/*}', '{}', '{}', %(max_bytes)s, %(permissions)s
WHERE NOT EXISTS (SELECT FROM source WHERE collection = %(collection)s AND kind = 'uploads')
ON CONFLICT (collection, kind, location) DO NOTHING;

-- name: lock_uploads_source
-- Keep the source of uploads locked: further uploads to the collection wait for the end of the transaction.
SELECT id, location FROM source WHERE collection = %(collection)s AND kind = 'uploads' FOR UPDATE;

-- name: tag_upload
-- Replace the tags of the present version of an upload.
UPDATE upload SET tags = %(tags)s WHERE collection = %(collection)s AND name = %(name)s AND removed_at IS NULL;

-- name: end_upload
-- Mark the present version of an upload as removed.
UPDATE upload SET removed_at = now() WHERE collection = %(collection)s AND name = %(name)s AND removed_at IS NULL;

-- name: add_upload
-- Insert the next version of an upload.
INSERT INTO upload (collection, name, version, sha256, tags, uploaded_by)
SELECT %(collection)s, %(name)s, coalesce(max(version), 0) + 1, %(sha256)s, %(tags)s, %(actor)s
FROM upload WHERE collection = %(collection)s AND name = %(name)s;

-- name: uploads
-- Return the present uploads of collections, by collection and name.
SELECT upload.collection, upload.name, upload.version, encode(upload.sha256, 'hex') AS sha256, content.bytes, upload.tags,
       upload.uploaded_by, upload.uploaded_at, upload.removed_at, source.location
FROM upload
JOIN upload_content content ON content.sha256 = upload.sha256
JOIN source ON source.collection = upload.collection AND source.kind = 'uploads'
JOIN collection ON collection.name = upload.collection AND collection.removed_at IS NULL
WHERE upload.removed_at IS NULL
  AND (%(collections)s::text[] IS NULL OR upload.collection = ANY(%(collections)s))
  AND (%(after_collection)s::text IS NULL
       OR (upload.collection, upload.name) > (%(after_collection)s, %(after_name)s::text))
ORDER BY upload.collection, upload.name
LIMIT %(limit)s;

-- name: upload_versions
-- Return every version of an upload that is kept, the newest first, or only the present one.
SELECT upload.collection, upload.name, upload.version, encode(upload.sha256, 'hex') AS sha256, content.bytes, upload.tags,
       upload.uploaded_by, upload.uploaded_at, upload.removed_at, source.location
FROM upload
JOIN upload_content content ON content.sha256 = upload.sha256
JOIN source ON source.collection = upload.collection AND source.kind = 'uploads'
WHERE upload.collection = %(collection)s AND upload.name = %(name)s AND (upload.removed_at IS NULL OR NOT %(is_live)s)
ORDER BY upload.version DESC;

-- name: delete_removed_uploads
-- Delete versions of uploads that were removed before a time; their bytes go after them.
DELETE FROM upload
WHERE removed_at < %(before)s AND (%(collection)s::text IS NULL OR collection = %(collection)s);

-- name: unreferenced_upload_bytes
-- Return bytes that no upload needs, with their stores.
SELECT sha256, store FROM upload_content content
WHERE NOT EXISTS (SELECT FROM upload WHERE upload.sha256 = content.sha256);

-- name: forget_upload_bytes
-- Delete the records of bytes that were deleted.
DELETE FROM upload_content WHERE sha256 = ANY(%(sha256s)s::bytea[]);

-- name: upload_stores
-- Return the stores that have bytes.
SELECT DISTINCT store FROM upload_content;

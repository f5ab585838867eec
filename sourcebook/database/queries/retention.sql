-- name: forget_collections
-- Delete collections that were removed before a time.
DELETE FROM collection WHERE removed_at < %(before)s;

-- name: generations_to_forget
-- Return the generations of collections that were removed before a time.
SELECT generation.id, generation.collection, generation.chunking, generation.embedding, generation.model,
       generation.dimensions
FROM generation
JOIN collection ON collection.name = generation.collection
WHERE collection.removed_at < %(before)s
ORDER BY generation.id;

-- name: forget_documents
-- Delete documents that were removed before a time.
DELETE FROM document WHERE removed_at < %(before)s;

-- name: forget_sources
-- Delete sources that were removed before a time; one that still has documents waits for the ingest that removes them.
DELETE FROM source
WHERE removed_at < %(before)s AND NOT EXISTS (SELECT FROM document WHERE document.source_id = source.id);

-- name: forget_files
-- Delete files that were removed before a time. An excluded file that its source still has keeps its row.
DELETE FROM raw_file WHERE removed_at < %(before)s;

-- name: forget_pages
-- Delete pages that were removed before a time.
DELETE FROM crawled_page WHERE removed_at < %(before)s;

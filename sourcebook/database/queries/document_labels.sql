-- name: lock_labels
-- Return the tags and metadata that were given to a document by hand, and lock its row until the transaction ends.
SELECT document.collection, document.uri, document.given_tags, document.given_metadata, document.given_title
FROM document JOIN collection ON collection.name = document.collection AND collection.removed_at IS NULL
WHERE document.id = %(document)s
FOR NO KEY UPDATE OF document;

-- name: give_labels
-- Give a document tags, metadata and a title by hand, or take them from it (NULL); they are laid over its own.
UPDATE document
SET given_tags = %(tags)s, given_metadata = %(metadata)s, given_title = %(title)s, title = coalesce(own_title, title),
    tags = coalesce(own_tags, tags), metadata = coalesce(own_metadata, metadata), updated_at = now()
WHERE id = %(document)s;

-- name: curate_document
-- Hide a document from search (0), boost it, or take that back (1).
UPDATE document
SET boost = %(boost)s, curated_at = CASE WHEN %(boost)s::real <> 1 THEN now() END,
    curated_by = CASE WHEN %(boost)s::real <> 1 THEN %(actor)s::text END,
    curated_because = CASE WHEN %(boost)s::real <> 1 THEN %(reason)s::text END
WHERE id = %(document)s;

-- name: announce_document
-- Insert the document of a file that is about to be read, where there is none; return its id.
WITH announced AS (
    INSERT INTO document (collection, source_id, uri, kind, media_type, tags, title, input_hash, config_hash)
    SELECT source.collection, source.id, %(uri)s, %(kind)s, %(media_type)s, source.tags || %(tags)s::text[], %(title)s, '', ''
    FROM source
    WHERE source.collection = %(collection)s AND source.location = %(location)s AND source.removed_at IS NULL
      AND NOT EXISTS (SELECT FROM document WHERE collection = %(collection)s AND uri = %(uri)s)
    LIMIT 1
    ON CONFLICT (collection, uri) DO NOTHING
    RETURNING id)
SELECT id FROM announced UNION ALL SELECT id FROM document WHERE collection = %(collection)s AND uri = %(uri)s LIMIT 1;

-- name: give_title
-- Give a document a title by hand.
UPDATE document SET given_title = %(title)s, title = coalesce(own_title, title), updated_at = now()
WHERE id = %(document)s AND given_title IS DISTINCT FROM %(title)s;

-- name: withdraw_document
-- Mark a document as removed that was announced and never read.
UPDATE document SET removed_at = now()
WHERE collection = %(collection)s AND uri = %(uri)s AND config_hash = '' AND removed_at IS NULL;

-- name: ids_of_documents
-- Return collection, URI and id of the documents at some URIs.
SELECT collection, uri, id FROM document
WHERE collection = ANY(%(collections)s::text[]) AND uri = ANY(%(uris)s::text[]);

-- name: lock_labels
-- Return the tags and metadata that were given to a document by hand, and lock its row until the transaction ends.
SELECT document.collection, document.uri, document.given_tags, document.given_metadata
FROM document JOIN collection ON collection.name = document.collection AND collection.removed_at IS NULL
WHERE document.id = %(document)s
FOR NO KEY UPDATE OF document;

-- name: give_labels
-- Give a document tags and metadata by hand, or take them from it (NULL); they are laid over its own.
UPDATE document
SET given_tags = %(tags)s, given_metadata = %(metadata)s,
    tags = coalesce(own_tags, tags), metadata = coalesce(own_metadata, metadata), updated_at = now()
WHERE id = %(document)s;

-- name: exclude_many_files
-- Mark files of a collection as excluded, or undo it, and return their URIs.
UPDATE raw_file
SET excluded_at = CASE WHEN %(is_excluded)s THEN coalesce(excluded_at, now()) END
FROM source
WHERE source.id = raw_file.source_id AND source.collection = %(collection)s AND raw_file.uri = ANY(%(uris)s)
RETURNING raw_file.uri;

-- name: exclude_many_pages
-- Mark pages of a collection as excluded, or undo it, and return their URIs.
UPDATE crawled_page page
SET excluded_at = CASE WHEN %(is_excluded)s THEN coalesce(excluded_at, now()) END
FROM source
WHERE source.id = page.source_id AND source.collection = %(collection)s AND page.url = ANY(%(uris)s)
RETURNING page.url;

-- name: remove_many_documents
-- Mark documents as removed, with attachments of messages, also in the collections that take them; return them.
WITH RECURSIVE taker AS (
    SELECT %(collection)s::text AS collection, unnest(%(uris)s::text[]) AS uri
    UNION
    SELECT rule.collection, document.uri
    FROM taker
    JOIN source rule ON rule.kind = 'collection' AND rule.location = taker.collection
    JOIN document ON document.source_id = rule.id AND document.uri = taker.uri
), gone AS (
    SELECT collection, uri, true AS is_named FROM taker
    UNION ALL
    SELECT message.collection, message.uri || '/' || attachment.path, false
    FROM taker
    JOIN document message ON message.collection = taker.collection AND message.uri = taker.uri
    JOIN attachment ON attachment.container_sha256 = message.content_sha256
                   AND attachment.container_parser = message.content_parser
)
UPDATE document
SET removed_at = coalesce(document.removed_at, now()), failure = NULL, failure_class = NULL,
    attempts = 0, next_retry_at = NULL, updated_at = now()
FROM gone
WHERE document.collection = gone.collection AND document.uri = gone.uri
RETURNING document.collection, document.uri, document.id, gone.is_named;

-- name: tag_many_documents
-- Give documents a tag by hand, or take it back, and return those that are changed: of 50 tags none has one more.
UPDATE document
SET given_tags = labels.tags, given_metadata = labels.metadata, title = coalesce(own_title, title),
    tags = coalesce(own_tags, document.tags), metadata = coalesce(own_metadata, document.metadata), updated_at = now()
FROM (
    SELECT id, CASE WHEN made.tags <> '{}' OR held <> '{}' THEN made.tags END AS tags,
           CASE WHEN made.tags <> '{}' OR held <> '{}' THEN held END AS metadata
    FROM (
        SELECT id, coalesce(given_metadata, '{}') AS held,
               array_remove(coalesce(given_tags, '{}'), %(tag)s::text)
               || CASE WHEN %(is_given)s THEN ARRAY[%(tag)s::text] ELSE '{}' END AS tags
        FROM document WHERE collection = %(collection)s AND uri = ANY(%(uris)s)
        FOR UPDATE) made
    WHERE cardinality(made.tags) <= %(most)s
) labels
WHERE document.id = labels.id
RETURNING document.collection, document.uri, document.id;

-- name: record_many_events
-- Record what was done to documents of collections, each by itself.
INSERT INTO audit_event (happened_at, actor, action, subject, details)
SELECT now(), %(actor)s, %(action)s, 'collection ' || document.collection,
       jsonb_build_object('uri', document.uri, 'id', document.id) || %(details)s::jsonb
FROM unnest(%(collections)s::text[], %(uris)s::text[], %(ids)s::bigint[]) document (collection, uri, id);

-- name: document_ids
-- Return the ids of documents of a collection by their URIs.
SELECT uri, id FROM document WHERE collection = %(collection)s AND uri = ANY(%(uris)s);

-- The audit of reading: who asked for what, and which documents the answers showed.

-- name: audited_collections
-- Return the collections that keep an audit of reading.
SELECT name FROM collection WHERE settings #>> '{retention,audit}' IS NOT NULL;

-- name: record_reading
-- Record an answer, a row for each collection that still keeps an audit.
INSERT INTO audit_reading (collection, actor, principals, operation, question, documents, uris)
SELECT shown.collection, %(actor)s, %(principals)s, %(operation)s, %(question)s, shown.documents, shown.uris
FROM jsonb_to_recordset(%(shown)s) AS shown (collection text, documents bigint[], uris text[])
JOIN collection ON collection.name = shown.collection
WHERE collection.settings #>> '{retention,audit}' IS NOT NULL;

-- name: delete_old_readings
-- Delete readings that are older than their collection keeps them; all where it keeps no audit any more.
DELETE FROM audit_reading USING collection
WHERE collection.name = audit_reading.collection
  AND coalesce(audit_reading.happened_at
               < now() - make_interval(secs => (collection.settings #>> '{retention,audit}')::double precision), true);

-- name: forget_readings
-- Delete the audit of reading of collections; of every collection where none is named.
DELETE FROM audit_reading
WHERE cardinality(%(collections)s::text[]) = 0 OR collection = ANY(%(collections)s);

-- name: readings
-- Return readings, the newest first; a document is meant by its id, its URI or the end of it.
SELECT id, happened_at, collection, actor, principals, operation, question, documents, uris
FROM audit_reading
WHERE (cardinality(%(collections)s::text[]) = 0 OR collection = ANY(%(collections)s))
  AND (%(principal)s::text IS NULL OR actor = %(principal)s OR principals @> ARRAY[%(principal)s::text])
  AND (%(document)s::bigint IS NULL OR documents @> ARRAY[%(document)s::bigint])
  AND (%(uri)s::text IS NULL OR EXISTS (
      SELECT FROM unnest(uris) AS shown (uri)
      WHERE shown.uri = %(uri)s OR right(shown.uri, length(%(uri)s) + 1) = '/' || %(uri)s))
  AND (%(age)s::interval IS NULL OR happened_at > now() - %(age)s::interval)
  AND id < coalesce(%(before)s::bigint, 9223372036854775807)
ORDER BY id DESC LIMIT %(limit)s;

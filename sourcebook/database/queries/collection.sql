-- name: collections
SELECT collection.name, generation.chunking, generation.embedding
FROM collection LEFT JOIN generation ON generation.id = collection.active_generation_id
WHERE collection.removed_at IS NULL
ORDER BY collection.name;

-- name: record_collection
INSERT INTO collection (name, settings) VALUES (%(name)s, %(settings)s)
ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, applied_at = now(), removed_at = NULL
    WHERE (collection.settings, collection.removed_at) IS DISTINCT FROM (excluded.settings, NULL);

-- name: record_source
-- A site whose settings changed is looked at again at once.
INSERT INTO source (collection, kind, location, include, exclude, tags, max_bytes, settings)
VALUES (%(collection)s, %(kind)s, %(location)s, %(include)s, %(exclude)s, %(tags)s, %(max_bytes)s, %(settings)s)
ON CONFLICT (collection, kind, location) DO UPDATE SET
    include = excluded.include, exclude = excluded.exclude, tags = excluded.tags, max_bytes = excluded.max_bytes,
    settings = excluded.settings, removed_at = NULL,
    next_crawl_at = CASE WHEN source.kind = 'site' THEN now() END
    WHERE (source.include, source.exclude, source.tags, source.max_bytes, source.settings, source.removed_at)
        IS DISTINCT FROM
        (excluded.include, excluded.exclude, excluded.tags, excluded.max_bytes, excluded.settings, NULL);

-- name: remove_sources
UPDATE source SET removed_at = now()
WHERE collection = %(collection)s AND removed_at IS NULL
  AND NOT location = ANY(CASE kind WHEN 'files' THEN %(folders)s::text[] ELSE %(sites)s::text[] END);

-- name: remove_collections
UPDATE collection SET removed_at = now()
WHERE removed_at IS NULL AND NOT name = ANY(%(names)s)
RETURNING name;

-- name: pending_removed_sources
SELECT
    (SELECT count(*) FROM raw_file JOIN source ON source.id = raw_file.source_id
     WHERE source.collection = %(collection)s AND source.removed_at IS NOT NULL AND raw_file.removed_at IS NULL)
  + (SELECT count(*) FROM crawled_page page JOIN source ON source.id = page.source_id
     WHERE source.collection = %(collection)s AND source.removed_at IS NOT NULL AND page.removed_at IS NULL);

-- name: collection_status
SELECT collection.name,
       (SELECT count(*) FROM document WHERE document.collection = collection.name AND document.removed_at IS NULL)
           AS documents,
       (SELECT count(*) FROM search_entry entry WHERE entry.generation_id = generation.id) AS chunks,
       (SELECT count(DISTINCT chunk.embedding_hash)
        FROM search_entry entry JOIN chunk ON chunk.id = entry.chunk_id
        WHERE entry.generation_id = generation.id) AS embeddings,
       (SELECT count(*) FROM item WHERE item.collection = collection.name AND item.state = 'failed') AS failed,
       (SELECT count(*) FROM item WHERE item.collection = collection.name AND item.state = 'skipped') AS skipped,
       (SELECT count(*) FROM document WHERE document.collection = collection.name AND document.removed_at IS NOT NULL)
           AS removed,
       generation.id AS generation,
       generation.embedding ->> 'model' AS embedding_model
FROM collection LEFT JOIN generation ON generation.id = collection.active_generation_id
WHERE collection.removed_at IS NULL AND (cardinality(%(names)s::text[]) = 0 OR collection.name = ANY(%(names)s))
ORDER BY collection.name;

-- name: collection_problems
-- Everything of a collection that is not searchable as it lies there, with the reason.
SELECT uri, state, error, attempts, next_retry_at FROM item
WHERE collection = %(collection)s AND state IN ('failed', 'skipped')
UNION ALL
SELECT location, 'failed', listing_error, 0, NULL FROM source
WHERE collection = %(collection)s AND removed_at IS NULL AND listing_error IS NOT NULL
ORDER BY uri;

-- name: count_failed
SELECT (SELECT count(*) FROM item WHERE item.collection = %(collection)s AND state = 'failed')
     + (SELECT count(*) FROM source
        WHERE source.collection = %(collection)s AND removed_at IS NULL AND listing_error IS NOT NULL);

-- name: items
SELECT item.document_id, item.collection, item.uri, item.title, item.kind, item.media_type, item.language,
       item.version, item.tags,
       coalesce((SELECT count(*) FROM search_entry entry
                 JOIN collection ON collection.active_generation_id = entry.generation_id
                 WHERE collection.name = item.collection AND entry.document_id = item.document_id), 0) AS chunks,
       item.state, item.error
FROM item
JOIN collection ON collection.name = item.collection AND collection.removed_at IS NULL
WHERE (cardinality(%(collections)s::text[]) = 0 OR item.collection = ANY(%(collections)s))
  AND CASE WHEN %(failed)s THEN item.state IN ('failed', 'skipped') ELSE item.state <> 'removed' OR %(removed)s END
ORDER BY item.collection, item.uri;

-- name: find_documents
-- By id or URI; a URI may be in several collections.
SELECT item.document_id, item.collection, item.uri, item.title, item.kind, item.media_type, item.language,
       item.version, item.tags, item.state, item.error, document.metadata, parsed.markdown AS text
FROM item
JOIN document ON document.id = item.document_id
LEFT JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
WHERE (document.id = %(id)s OR document.uri = %(uri)s)
ORDER BY item.state = 'removed', item.collection;

-- name: document_chunks
SELECT chunk.ordinal, chunk.text, chunk.heading_path, chunk.anchor, chunk.page, chunk.start_seconds, chunk.end_seconds,
       chunk.start_char, chunk.end_char, chunk.token_count
FROM search_entry entry
JOIN chunk ON chunk.id = entry.chunk_id
JOIN document ON document.id = entry.document_id
JOIN collection ON collection.name = document.collection AND collection.active_generation_id = entry.generation_id
WHERE entry.document_id = %(document_id)s
ORDER BY chunk.ordinal;

-- name: collection_settings
SELECT settings FROM collection WHERE name = %(collection)s AND removed_at IS NULL;

-- name: totals
-- What each asset holds of a collection: raw files, crawled pages, transcripts, documents, chunks, embeddings, entries,
-- entries that are kept up.
SELECT
    (SELECT count(*) FROM raw_file JOIN source ON source.id = raw_file.source_id
     WHERE source.collection = collection.name AND raw_file.removed_at IS NULL AND source.removed_at IS NULL),
    (SELECT count(*) FROM crawled_page page JOIN source ON source.id = page.source_id
     WHERE source.collection = collection.name AND page.removed_at IS NULL AND source.removed_at IS NULL),
    (SELECT count(*) FROM transcribed_file transcribed
     JOIN raw_file ON raw_file.source_id = transcribed.source_id AND raw_file.uri = transcribed.uri
     JOIN source ON source.id = raw_file.source_id
     WHERE source.collection = collection.name AND raw_file.removed_at IS NULL AND source.removed_at IS NULL
       AND transcribed.content_hash IS NOT NULL),
    (SELECT count(*) FROM document WHERE document.collection = collection.name AND document.removed_at IS NULL),
    entries.chunks, entries.texts, entries.chunks, entries.chunks
FROM collection
CROSS JOIN LATERAL (
    SELECT count(*) AS chunks, count(DISTINCT chunk.embedding_hash) AS texts
    FROM search_entry entry JOIN chunk ON chunk.id = entry.chunk_id
    WHERE entry.generation_id = collection.active_generation_id
) entries
WHERE collection.name = %(collection)s;

-- name: source_listings
SELECT kind, location, listed_at, listing_error, next_crawl_at,
       CASE WHEN kind = 'site' THEN (
           SELECT count(*) FROM crawled_page page WHERE page.source_id = source.id AND page.removed_at IS NULL) END AS pages,
       CASE WHEN kind = 'site' THEN (
           SELECT count(*) FROM frontier WHERE frontier.source_id = source.id AND state IN ('queued', 'fetching')) END AS queued,
       CASE WHEN kind = 'site' THEN (
           SELECT count(*) FROM frontier WHERE frontier.source_id = source.id AND state = 'beyond') END AS beyond
FROM source
WHERE collection = %(collection)s AND removed_at IS NULL
ORDER BY id;

-- name: unread_sites
SELECT location || ': ' || listing_error FROM source
WHERE collection = %(collection)s AND kind = 'site' AND removed_at IS NULL AND listing_error IS NOT NULL
ORDER BY id;

-- name: has_sites
-- Whether a crawl has anything to do with a collection: it has sites, or pages of one that left it.
SELECT EXISTS (
    SELECT FROM source
    WHERE collection = %(collection)s AND kind = 'site'
      AND (removed_at IS NULL OR EXISTS (
          SELECT FROM crawled_page page WHERE page.source_id = source.id AND page.removed_at IS NULL)));

-- name: unlisted_sources
-- Sources that could not be listed, in the form of items.
SELECT NULL::bigint AS document_id, source.collection, source.location AS uri, NULL AS title, 'source' AS kind,
       NULL AS media_type, NULL AS language, 0 AS version, 0 AS chunks, 'failed' AS state, source.listing_error AS error
FROM source
JOIN collection ON collection.name = source.collection AND collection.removed_at IS NULL
WHERE source.removed_at IS NULL AND source.listing_error IS NOT NULL
  AND (cardinality(%(collections)s::text[]) = 0 OR source.collection = ANY(%(collections)s))
ORDER BY source.collection, source.location;

-- name: items_without_document
-- Files that never became a document, and why.
SELECT collection, state, error
FROM item
WHERE document_id IS NULL AND uri = %(uri)s AND (%(collection)s::text IS NULL OR collection = %(collection)s)
ORDER BY collection;

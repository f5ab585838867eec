-- name: collection_progress
-- Return the marks on items and documents of each collection that wait for an ingest, and when its sources were compared.
SELECT collection.name,
       (SELECT count(DISTINCT uri) FROM changed_item mark WHERE mark.collection = collection.name) AS waiting_items,
       (SELECT count(DISTINCT document_id) FROM changed_document mark WHERE mark.collection = collection.name)
           AS waiting_documents,
       freshness.compared_at, freshness.behind_since
FROM collection LEFT JOIN freshness ON freshness.collection = collection.name
WHERE collection.name = ANY(%(names)s)
ORDER BY collection.name;

-- name: kept_generations
-- Return the generations of collections by their kept counts, of each collection the active one first.
SELECT generation.id, generation.collection, generation.embedding ->> 'model' AS model, generation.dimensions,
       generation.entry_count AS passages, generation.created_at, generation.failure,
       CASE WHEN generation.id = collection.active_generation_id THEN 'active'
            WHEN generation.id = collection.building_generation_id THEN 'building'
            WHEN generation.retired_at IS NOT NULL THEN 'surplus'
            ELSE 'kept' END AS state
FROM generation JOIN collection ON collection.name = generation.collection
WHERE generation.collection = ANY(%(names)s)
ORDER BY generation.collection, generation.id IS NOT DISTINCT FROM collection.active_generation_id DESC, generation.id DESC;

-- name: kept_sources
-- Return the sources of collections as they were listed last.
SELECT collection, kind, location, listed_at, listing_error, coalesce(next_crawl_at, next_fetch_at) AS next_look_at
FROM source
WHERE collection = ANY(%(names)s) AND removed_at IS NULL
ORDER BY collection, id;

-- name: collection_growth
-- Return by how much documents and passages grew on each day in UTC, kept removed ones included.
SELECT (change.happened_at AT TIME ZONE 'UTC')::date AS day, sum(change.documents)::bigint AS documents,
       sum(change.passages)::bigint AS passages
FROM (
    SELECT document.created_at AS happened_at, 1 AS documents,
           CASE WHEN document.removed_at IS NULL THEN coalesce(indexed.published_chunks, 0) ELSE 0 END AS passages
    FROM document
    JOIN collection ON collection.name = document.collection
    LEFT JOIN indexed_document indexed
        ON indexed.document_id = document.id AND indexed.generation_id = collection.active_generation_id
    WHERE document.collection = %(collection)s
    UNION ALL
    SELECT removed_at, -1, 0 FROM document WHERE collection = %(collection)s AND removed_at IS NOT NULL
) AS change
GROUP BY day ORDER BY day;

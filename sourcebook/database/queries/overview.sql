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
SELECT collection, kind, location, listed_at, listing_error, next_crawl_at
FROM source
WHERE collection = ANY(%(names)s) AND removed_at IS NULL
ORDER BY collection, id;

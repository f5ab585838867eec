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
    WHERE document.collection = ANY(%(names)s::text[])
    UNION ALL
    SELECT removed_at, -1, 0 FROM document WHERE collection = ANY(%(names)s::text[]) AND removed_at IS NOT NULL
) AS change
GROUP BY day ORDER BY day;

-- name: document_choices
-- Return the most frequent values of kind, type, media type, language and tag among the latest documents of collections.
WITH latest AS MATERIALIZED (
    SELECT kind, document_type, media_type, language, tags FROM document
    WHERE collection = ANY(%(names)s::text[]) AND removed_at IS NULL
    ORDER BY id DESC LIMIT %(latest)s
), counted AS (
    SELECT facet.name, facet.value, count(*) AS documents,
           row_number() OVER (PARTITION BY facet.name ORDER BY count(*) DESC, facet.value) AS place
    FROM latest
    CROSS JOIN LATERAL (
        VALUES ('kind', kind), ('type', document_type), ('media_type', media_type), ('language', language)
        UNION ALL SELECT 'tag', unnest(tags)
    ) AS facet (name, value)
    WHERE facet.value IS NOT NULL
    GROUP BY facet.name, facet.value
)
SELECT name, value, documents FROM counted WHERE place <= %(most)s ORDER BY name, value;

-- name: titles_with
-- Return some of the latest documents of collections whose title has a text in it, those first that begin with it.
SELECT id, collection, title
FROM (
    SELECT id, collection, title FROM document
    WHERE collection = ANY(%(names)s::text[]) AND removed_at IS NULL
    ORDER BY id DESC LIMIT %(latest)s
) AS latest
WHERE position(lower(%(text)s::text) IN lower(title)) > 0
ORDER BY position(lower(%(text)s::text) IN lower(title)) > 1, length(title), title, id
LIMIT %(most)s;

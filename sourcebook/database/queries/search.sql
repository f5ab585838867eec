-- name: search_scope
-- The active generations of the collections asked for; every collection where none is named.
SELECT collection.name, generation.id, generation.model, generation.embedding, generation.dimensions,
       generation.configurations::text[]
FROM collection
LEFT JOIN generation ON generation.id = collection.active_generation_id
WHERE collection.removed_at IS NULL
  AND (%(collections)s::text[] IS NULL OR collection.name = ANY(%(collections)s))
ORDER BY collection.name;

-- name: nearest_entries
-- KNN stands alone; whatever is joined comes after it.
WITH nearest AS MATERIALIZED (
    SELECT chunk_id, vector::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions}) AS distance
    FROM search_entry
    WHERE generation_id = ANY(%(generations)s)
    ORDER BY vector::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions})
    LIMIT %(depth)s
)
SELECT chunk_id, distance FROM nearest ORDER BY distance, chunk_id;

-- name: keyword_query
-- Any of the query's lexemes, under every configuration that the scope's documents were indexed with.
SELECT coalesce(string_agg(
    '(' || replace(plainto_tsquery(configuration::regconfig, %(query)s)::text, ' & ', ' | ') || ')', ' | '), '')
FROM unnest(%(configurations)s::text[]) AS configuration
WHERE numnode(plainto_tsquery(configuration::regconfig, %(query)s)) > 0;

-- name: matching_entries
WITH matching AS MATERIALIZED (
    SELECT chunk_id, lexemes
    FROM search_entry
    WHERE generation_id = ANY(%(generations)s) AND lexemes @@ %(candidates)s::tsquery
)
SELECT chunk_id, ts_rank(lexemes, %(query)s::tsquery, 1) AS rank
FROM matching
ORDER BY rank DESC, chunk_id
LIMIT %(depth)s;

-- name: results
SELECT chunk.id AS chunk_id, document.id AS document_id, document.collection, document.uri, indexed.published_title AS title,
       chunk.heading_path, chunk.anchor, chunk.page, chunk.ordinal, chunk.text, indexed.published_version AS version
FROM search_entry entry
JOIN chunk ON chunk.id = entry.chunk_id
JOIN indexed_document indexed
    ON indexed.generation_id = entry.generation_id AND indexed.document_id = entry.document_id
JOIN document ON document.id = entry.document_id
WHERE entry.generation_id = ANY(%(generations)s) AND entry.chunk_id = ANY(%(chunks)s);

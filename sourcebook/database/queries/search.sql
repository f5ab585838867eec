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
    SELECT chunk_id, vector::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions}) AS distance
    FROM search_entry
    WHERE generation_id = ANY(%(generations)s)
    ORDER BY vector::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})
    LIMIT %(depth)s
)
SELECT chunk_id, distance FROM nearest ORDER BY distance, chunk_id;

-- name: keyword_query
-- The query's lexemes under every configuration of the scope's documents, as two tsqueries of alternatives: all of them
-- to rank by, and those to look for. Ranking costs by the entry, and a word that is nearly everywhere finds nearly
-- everything: the rarest words are looked for, as many as together stand in about so many entries as may be ranked, at least one.
-- How common a word is, ANALYZE has counted; where it has not, every word is looked for.
WITH word AS (
    SELECT DISTINCT unnest(tsvector_to_array(to_tsvector(configuration::regconfig, %(query)s))) AS word
    FROM unnest(%(configurations)s::text[]) AS configuration
), common AS (
    SELECT element.word, sum(element.share * pg_class.reltuples) AS entries
    FROM pg_class
    JOIN pg_stats ON pg_stats.schemaname = 'sourcebook' AND pg_stats.tablename = pg_class.relname
    CROSS JOIN LATERAL unnest(most_common_elems::text::text[], most_common_elem_freqs) AS element (word, share)
    WHERE pg_class.oid = ANY(%(partitions)s::regclass[]) AND attname = 'lexemes' AND element.word IS NOT NULL
    GROUP BY element.word
), counted AS (
    SELECT '''' || replace(replace(word, '\', '\\'), '''', '''''') || '''' AS quoted,
           sum(coalesce(entries, 0)) OVER rarest_first AS entries_so_far,
           row_number() OVER rarest_first AS nth
    FROM word LEFT JOIN common USING (word)
    WINDOW rarest_first AS (ORDER BY coalesce(entries, 0), word)
)
SELECT string_agg(quoted, ' | ' ORDER BY nth),
       string_agg(quoted, ' | ' ORDER BY nth) FILTER (WHERE nth = 1 OR entries_so_far <= %(most)s)
FROM counted;

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
       chunk.heading_path, chunk.anchor, chunk.page, chunk.start_seconds, chunk.end_seconds, chunk.ordinal, chunk.text,
       indexed.published_version AS version
FROM search_entry entry
JOIN chunk ON chunk.id = entry.chunk_id
JOIN indexed_document indexed
    ON indexed.generation_id = entry.generation_id AND indexed.document_id = entry.document_id
JOIN document ON document.id = entry.document_id
WHERE entry.generation_id = ANY(%(generations)s) AND entry.chunk_id = ANY(%(chunks)s);

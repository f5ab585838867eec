-- The vector leg. {condition} is what an entry must fulfil, on columns that all of these call `entry`: generation_id,
-- chunk_id, document_id and lexemes. Vectors have length 1, so the negative inner product orders as the cosine does.

-- name: vector_indexes
-- How many entries each of these generations has, and whether an HNSW index serves it.
SELECT generation.id, generation.entry_count,
       EXISTS (SELECT FROM pg_index
               WHERE pg_index.indexrelid = to_regclass('sourcebook.search_entry_' || generation.id || '_vector')
                 AND pg_index.indisvalid)
FROM generation
WHERE generation.id = ANY(%(generations)s::bigint[]);

-- name: nearest_exactly
-- Without the cast to its dimensions, no HNSW index is for this column: every entry is compared.
SELECT entry.chunk_id, entry.vector <#> %(vector)s::halfvec AS distance
FROM search_entry entry
WHERE entry.generation_id = ANY(%(generations)s::bigint[]) AND {condition}
ORDER BY distance, entry.chunk_id
LIMIT %(depth)s;

-- name: nearest_of_few
-- The same over no more than `most` entries; `entries` is one more where more fulfil the condition, and the rest void.
SELECT matching.chunk_id, matching.distance, count(*) OVER () AS entries
FROM (
    SELECT entry.chunk_id, entry.vector <#> %(vector)s::halfvec AS distance
    FROM search_entry entry
    WHERE entry.generation_id = ANY(%(generations)s::bigint[]) AND {condition}
    LIMIT %(most)s + 1
) matching
ORDER BY matching.distance, matching.chunk_id
LIMIT %(depth)s;

-- name: estimate_entries
-- How many entries fulfil the condition, as the planner believes: nothing is read.
EXPLAIN (FORMAT json)
SELECT FROM search_entry entry WHERE entry.generation_id = ANY(%(generations)s::bigint[]) AND {condition};

-- name: nearest_by_index
-- KNN stands alone, so that it walks the HNSW index of each partition; what comes out of it, nearest first, is looked
-- at until `depth` entries fulfil the condition, or `budget` entries were seen.
SELECT entry.chunk_id, entry.distance
FROM (
    SELECT generation_id, chunk_id, document_id, lexemes,
           vector::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions}) AS distance
    FROM search_entry
    WHERE generation_id = ANY(%(generations)s::bigint[])
    ORDER BY vector::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})
    LIMIT %(budget)s
) entry
WHERE {condition}
ORDER BY entry.distance
LIMIT %(depth)s;

-- Vector search. {condition} is a condition on an entry, which the statements call `entry`: columns generation_id,
-- chunk_id, document_id and lexemes. Vectors have length 1, so the negative inner product orders as the cosine does.
-- Passages of generated indexes have no vector, and no index of vectors has them.

-- name: vector_indexes
-- Return the number of entries of each generation, and the names of its HNSW indexes.
SELECT generation.id, generation.entry_count,
       ARRAY(SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
             WHERE indrelid = to_regclass('sourcebook.search_entry_' || generation.id) AND indisvalid
               AND relname LIKE 'search\_entry\_%%\_vector%%')
FROM generation
WHERE generation.id = ANY(%(generations)s::bigint[]);

-- name: nearest_exactly
-- Return the nearest entries by an exact scan: the expression lacks the cast that an HNSW index needs.
SELECT entry.chunk_id, entry.vector <#> %(vector)s::halfvec AS distance
FROM search_entry entry
WHERE entry.generation_id = ANY(%(generations)s::bigint[]) AND entry.vector IS NOT NULL AND {condition}
ORDER BY distance, entry.chunk_id
LIMIT %(depth)s;

-- name: nearest_of_few
-- Return the nearest of at most `most` entries that fulfil the condition, and their number.
-- The number is `most` + 1 where more entries fulfil the condition; the rows are then void.
SELECT matching.chunk_id, matching.distance, count(*) OVER () AS entries
FROM (
    SELECT entry.chunk_id, entry.vector <#> %(vector)s::halfvec AS distance
    FROM search_entry entry
    WHERE entry.generation_id = ANY(%(generations)s::bigint[]) AND entry.vector IS NOT NULL AND {condition}
    LIMIT %(most)s + 1
) matching
ORDER BY matching.distance, matching.chunk_id
LIMIT %(depth)s;

-- name: estimate_entries
-- Return the planner's estimate of the number of entries that fulfil the condition; reads none.
EXPLAIN (FORMAT json)
SELECT FROM search_entry entry WHERE entry.generation_id = ANY(%(generations)s::bigint[]) AND {condition};

-- name: nearest_by_index
-- Return the nearest entries that fulfil the condition, from an HNSW index and among the entries outside it.
-- Columns: the entry, its distance, and whether it is in the index.
-- The KNN subquery stands alone so that it walks the index of each partition. Its rows are tested, nearest first, until
-- `depth` of them fulfil the condition or `budget` of them were visited. The entries outside the index are few.
(SELECT entry.chunk_id, entry.distance, true AS in_graph
FROM (
    SELECT generation_id, chunk_id, document_id, lexemes,
           vector::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions}) AS distance
    FROM search_entry
    WHERE generation_id = ANY(%(generations)s::bigint[]) AND in_graph
    ORDER BY vector::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})
    LIMIT %(budget)s
) entry
WHERE entry.distance IS NOT NULL AND {condition}
ORDER BY entry.distance
LIMIT %(depth)s)
UNION ALL
(SELECT entry.chunk_id, entry.vector <#> %(vector)s::halfvec AS distance, false
FROM search_entry entry
WHERE entry.generation_id = ANY(%(generations)s::bigint[]) AND NOT entry.in_graph AND entry.vector IS NOT NULL
  AND {condition}
ORDER BY distance, entry.chunk_id
LIMIT %(depth)s);

-- name: nearest_in_parts
-- Return the nearest entries that fulfil the condition, from the HNSW indexes of several parts; see nearest_by_index.
-- {{walks}} are joined walks: in the order of exact distances they are merged as they are read, else sorted.
(SELECT entry.chunk_id, entry.distance, true AS in_graph
FROM ({walks}) entry
WHERE entry.distance IS NOT NULL AND {condition}
ORDER BY entry.distance
LIMIT %(depth)s)
UNION ALL
(SELECT entry.chunk_id, entry.vector <#> %(vector)s::halfvec AS distance, false
FROM search_entry entry
WHERE entry.generation_id = ANY(%(generations)s::bigint[]) AND NOT entry.in_graph AND entry.vector IS NOT NULL
  AND {condition}
ORDER BY distance, entry.chunk_id
LIMIT %(depth)s);

-- name: walk_part
-- Walk the HNSW index of the vectors of one part.
(SELECT generation_id, chunk_id, document_id, lexemes,
        vector::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions}) AS distance
 FROM search_entry
 WHERE generation_id = ANY(%(generations)s::bigint[]) AND in_graph
   AND hashint8extended(chunk_id, 0) & {mask} = {part}
 ORDER BY vector::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})
 LIMIT %(budget)s)

-- name: walk_bits
-- Walk the HNSW index of the signs of one part; the distance is that of the vectors.
(SELECT generation_id, chunk_id, document_id, lexemes, vector <#> %(vector)s::halfvec AS distance
 FROM search_entry
 WHERE generation_id = ANY(%(generations)s::bigint[]) AND in_graph
   AND hashint8extended(chunk_id, 0) & {mask} = {part}
 ORDER BY binary_quantize(vector::halfvec({dimensions}))::bit({dimensions})
          <~> binary_quantize(%(vector)s::halfvec({dimensions}))::bit({dimensions})
 LIMIT %(budget)s)

-- name: set_breadth
-- Set the breadth of walks until the transaction ends.
SELECT set_config('hnsw.ef_search', %(breadth)s::text, true);

-- name: query_words
-- Return the lexemes of a query with document frequencies, ids by generation, and occurrences in the query.
SELECT token, entries, ids, all_entries, occurrences FROM query_words(%(text)s, %(generations)s);

-- name: required_terms
-- Return each required or excluded term as a tsquery, by its place in the list.
-- A tsquery has the lexemes of its term under every configuration, those of words at their distances. Terms with only
-- stop words for more than half of the entries are missing.
WITH known AS (
    SELECT name, sum(entries) AS entries
    FROM text_configuration WHERE generation_id = ANY(%(generations)s) AND entries > 0 GROUP BY name
)
SELECT term.place, string_agg(DISTINCT '(' || phrase.query || ')', ' | ')
FROM unnest(%(texts)s::text[], %(labels)s::text[]) WITH ORDINALITY AS term (text, label, place)
CROSS JOIN known
CROSS JOIN LATERAL (
    SELECT string_agg(operator || quoted_lexeme(lexeme) || term.label, '' ORDER BY place, lexeme) AS query
    FROM (
        SELECT lexeme, place,
               CASE WHEN row_number() OVER in_order = 1 THEN '' WHEN is_further THEN ' & '
                    ELSE ' <' || place - lag(place) OVER in_order || '> ' END AS operator
        FROM query_lexemes(known.name::regconfig, term.text)
        WINDOW in_order AS (ORDER BY place, lexeme)
    ) word
) phrase
GROUP BY term.place
HAVING sum(known.entries) FILTER (WHERE phrase.query IS NOT NULL) * 2 >= sum(known.entries)
ORDER BY term.place;

-- name: words_with_dash
-- Return those words of a list that a passage in scope matches by a pattern, among the first that hold them.
SELECT asked.word
FROM unnest(%(words)s::text[], %(lexemes)s::text[], %(patterns)s::text[]) AS asked (word, lexemes, pattern)
WHERE EXISTS (
    SELECT FROM (
        SELECT entry.chunk_id FROM search_entry entry
        WHERE entry.generation_id = ANY(%(generations)s) AND entry.lexemes @@ asked.lexemes::tsquery
        LIMIT 200
    ) held
    JOIN chunk ON chunk.id = held.chunk_id
    WHERE chunk.text ~ asked.pattern);

-- name: best_keyword_entries
-- Return the entries with the highest BM25 scores, of those that stand under some counts where these are given.
-- Entries in no block are scored one by one, entries in blocks where they can be among the best. It is one statement
-- because entries move into blocks at any time.
WITH loose AS MATERIALIZED (
    SELECT chunk_id, distance
    FROM (
        SELECT chunk_id, weights <#> %(query)s::sparsevec AS distance
        FROM keyword_entry WHERE generation_id = %(generation)s AND block IS NULL
          AND (%(counts)s::integer[] IS NULL OR count_id = ANY(%(counts)s::integer[]))
        OFFSET 0
    ) entry
    WHERE distance < 0
    ORDER BY distance, chunk_id
    LIMIT %(depth)s
), in_blocks AS MATERIALIZED (
    SELECT chunk_id, weights <#> %(query)s::sparsevec AS distance
    FROM keyword_entry
    WHERE generation_id = %(generation)s
      AND chunk_id IN (
          SELECT block_candidates(%(generation)s, %(lexemes)s::integer[], %(idfs)s::real[], %(depth)s,
                                  %(further)s::integer, %(counts)s::integer[]))
)
SELECT chunk_id, -distance AS score
FROM (SELECT * FROM loose UNION ALL SELECT * FROM in_blocks) found
WHERE distance < 0
ORDER BY distance, chunk_id
LIMIT %(depth)s

-- name: matched_words
-- Return which words of the query each entry of a list holds, and its document.
WITH asked AS MATERIALIZED (
    SELECT token, quoted_lexeme(token)::tsquery AS query FROM unnest(%(tokens)s::text[]) AS token
)
SELECT entry.chunk_id, ARRAY(SELECT token FROM asked WHERE entry.lexemes @@ query) AS tokens, entry.document_id
FROM search_entry entry
WHERE entry.generation_id = ANY(%(generations)s) AND entry.chunk_id = ANY(%(chunks)s);

-- name: holders_of_words
-- Return which entries of a list hold any of some words: one test for each, where matched_words has one for each word.
WITH asked AS MATERIALIZED (
    SELECT string_agg(quoted_lexeme(token), ' | ')::tsquery AS query FROM unnest(%(tokens)s::text[]) AS token
)
SELECT entry.chunk_id
FROM (
    SELECT chunk_id, lexemes FROM search_entry
    WHERE generation_id = ANY(%(generations)s) AND chunk_id = ANY(%(chunks)s)
    OFFSET 0
) entry
JOIN asked ON entry.lexemes @@ asked.query;

-- name: matching_of_best
-- Return the entries with the highest BM25 scores among the best ones that fulfil a condition, and how many were tested.
-- {{best}} is best_keyword_entries. The planner does not see the list that is tested, for each of whose members it would
-- look into its statistics.
WITH best AS MATERIALIZED ({best}), matching AS MATERIALIZED (
    SELECT entry.chunk_id FROM search_entry entry
    WHERE entry.generation_id = %(generation)s AND entry.chunk_id = ANY(ARRAY(SELECT chunk_id FROM best))
      AND ({condition})
)
SELECT chunk_id, score, (SELECT count(*) FROM best) AS tested
FROM best JOIN matching USING (chunk_id)
ORDER BY score DESC, chunk_id
LIMIT %(wanted)s;

-- name: best_matching_keyword_entries
-- Return the entries with the highest BM25 scores among those that fulfil a condition; each of those is scored.
-- They are looked up as one list, which reads each page of the index once.
SELECT chunk_id, -distance AS score
FROM (
    SELECT chunk_id, weights <#> %(query)s::sparsevec AS distance
    FROM keyword_entry
    WHERE generation_id = %(generation)s AND chunk_id = ANY(ARRAY(
        SELECT entry.chunk_id FROM search_entry entry WHERE entry.generation_id = %(generation)s AND ({condition})))
    OFFSET 0
) entry
WHERE distance < 0
ORDER BY distance, chunk_id
LIMIT %(depth)s;

-- name: lexemes_named
-- Return the held lexemes of a list.
SELECT token, sum(entries)::bigint AS entries, jsonb_object_agg(generation_id, id) AS ids
FROM lexeme
WHERE generation_id = ANY(%(generations)s) AND token = ANY(%(tokens)s) AND entries > 0
GROUP BY token;

-- name: lexemes_beginning_or_ending
-- Return the held lexemes of a range of lengths that begin with one text, end with another, or are a third.
SELECT token, sum(entries)::bigint AS entries, jsonb_object_agg(generation_id, id) AS ids
FROM lexeme
WHERE generation_id = ANY(%(generations)s) AND entries > 0
  AND (token ^@ %(beginning)s OR reverse(token) COLLATE "C" ^@ reverse(%(ending)s) OR token = %(other)s)
  AND length(token) BETWEEN %(shortest)s AND %(longest)s
GROUP BY token;

-- name: lexemes_containing
-- Return the held lexemes that contain one of some texts, of each text the most common first.
-- Reads the whole vocabulary, once for all texts.
SELECT part, token, entries, ids
FROM (
    SELECT part, token, sum(entries)::bigint AS entries, jsonb_object_agg(generation_id, id) AS ids,
           row_number() OVER (PARTITION BY part ORDER BY sum(entries) DESC, token) AS place
    FROM (
        SELECT * FROM lexeme
        WHERE generation_id = ANY(%(generations)s) AND entries > 0
          AND octet_length(token) > (SELECT min(octet_length(part)) FROM unnest(%(parts)s::text[]) AS part)
        OFFSET 0
    ) held
    JOIN (SELECT part FROM unnest(%(parts)s::text[]) AS part OFFSET 0) asked ON octet_length(part) < octet_length(token)
    WHERE strpos(token, part) > 0
    GROUP BY part, token
) found
WHERE place <= %(most)s
ORDER BY part, place;

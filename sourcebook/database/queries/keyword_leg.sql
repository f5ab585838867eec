-- name: query_words
-- The lexemes of a query, how many entries each stands for, and its number in each generation; and how many entries
-- there are. Every text-search configuration in scope reads the query for the entries made with it; readings of one
-- place are one word, as rare as all of them together. Where a configuration holds it for a stop word, all of its
-- entries count as holding it: else `the` would be a rare word among English texts for a few of unknown language. What
-- is a stop word for more than half of the entries is one for all. A reading that no entry holds is left out where
-- another one is held.
WITH known AS (
    SELECT name, sum(entries) AS entries
    FROM text_configuration WHERE generation_id = ANY(%(generations)s) AND entries > 0 GROUP BY name
), reading AS MATERIALIZED (
    SELECT known.name, found.lexeme AS token, place
    FROM known
    CROSS JOIN LATERAL unnest(search_lexemes(known.name::regconfig, %(text)s)) AS found (lexeme, positions, weights)
    CROSS JOIN LATERAL unnest(positions) AS place
), lexeme_read AS MATERIALIZED (
    SELECT read.token, coalesce(sum(lexeme.entries), 0) AS entries,
           coalesce(jsonb_object_agg(lexeme.generation_id, lexeme.id) FILTER (WHERE lexeme.entries > 0), '{}') AS ids
    FROM (SELECT DISTINCT token FROM reading) read
    LEFT JOIN LATERAL (  -- word by word: the planner takes a query for longer than it is, and reads the whole vocabulary
        SELECT generation_id, id, entries FROM lexeme
        WHERE generation_id = ANY(%(generations)s) AND token = read.token
        OFFSET 0
    ) lexeme ON true
    GROUP BY read.token
), word AS (
    SELECT here.place,
           (SELECT coalesce(sum(known.entries), 0) FROM known
            WHERE NOT EXISTS (SELECT FROM reading WHERE reading.place = here.place AND reading.name = known.name)
           ) AS stopped,
           (SELECT sum(entries) FROM lexeme_read
            WHERE token IN (SELECT token FROM reading WHERE reading.place = here.place)) AS held
    FROM (SELECT DISTINCT place FROM reading) here
), every AS (
    SELECT sum(entry_count) AS entries FROM generation WHERE id = ANY(%(generations)s)
)
SELECT lexeme_read.token, least(min(word.stopped + word.held), every.entries)::bigint AS entries, lexeme_read.ids,
       every.entries::bigint AS all_entries
FROM reading
JOIN word USING (place)
JOIN lexeme_read USING (token)
CROSS JOIN every
WHERE word.stopped * 2 <= every.entries AND (lexeme_read.ids <> '{}' OR word.held = 0)
GROUP BY lexeme_read.token, lexeme_read.ids, every.entries
ORDER BY lexeme_read.token;

-- name: demanded_words
-- Phrases as tsqueries, by place: the lexemes of each under every configuration, in the distances they stand at. Those
-- that have only stop words for more than half of the entries are left out.
WITH known AS (
    SELECT name, sum(entries) AS entries
    FROM text_configuration WHERE generation_id = ANY(%(generations)s) AND entries > 0 GROUP BY name
)
SELECT demand.place, string_agg(DISTINCT '(' || phrase.query || ')', ' | ')
FROM unnest(%(demands)s::text[], %(labels)s::text[]) WITH ORDINALITY AS demand (text, label, place)
CROSS JOIN known
CROSS JOIN LATERAL (
    SELECT string_agg(operator || quoted_lexeme(lexeme) || demand.label, '' ORDER BY position, lexeme) AS query
    FROM (
        SELECT lexeme, position,
               coalesce(' <' || position - lag(position) OVER (ORDER BY position, lexeme) || '> ', '') AS operator
        FROM unnest(search_lexemes(known.name::regconfig, demand.text)) AS found (lexeme, positions, weights)
        CROSS JOIN LATERAL unnest(positions) AS position
    ) word
) phrase
GROUP BY demand.place
HAVING sum(known.entries) FILTER (WHERE phrase.query IS NOT NULL) * 2 >= sum(known.entries)
ORDER BY demand.place;

-- name: best_keyword_entries
-- The entries with the highest scores, all of which the query's words decide: those in no block are scored one by one,
-- of those in blocks the ones that can be among the best. One statement, as entries move into blocks at any time.
WITH loose AS MATERIALIZED (
    SELECT chunk_id, distance
    FROM (
        SELECT chunk_id, weights <#> %(query)s::sparsevec AS distance
        FROM keyword_entry WHERE generation_id = %(generation)s AND block IS NULL
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
          SELECT block_candidates(%(generation)s, %(lexemes)s::integer[], %(idfs)s::real[], %(depth)s))
)
SELECT chunk_id, -distance AS score
FROM (SELECT * FROM loose UNION ALL SELECT * FROM in_blocks) found
WHERE distance < 0
ORDER BY distance, chunk_id
LIMIT %(depth)s;

-- name: matching_among
-- Which of these entries fulfil a condition.
SELECT entry.chunk_id FROM search_entry entry
WHERE entry.generation_id = %(generation)s AND entry.chunk_id = ANY(%(chunks)s) AND ({condition});

-- name: best_matching_keyword_entries
-- The same among the entries that fulfil a condition, each of them scored.
WITH matching AS MATERIALIZED (
    SELECT entry.chunk_id FROM search_entry entry WHERE entry.generation_id = %(generation)s AND ({condition})
)
SELECT chunk_id, -distance AS score
FROM (
    SELECT chunk_id, weights <#> %(query)s::sparsevec AS distance
    FROM matching JOIN keyword_entry USING (chunk_id)
    WHERE generation_id = %(generation)s
    OFFSET 0
) entry
WHERE distance < 0
ORDER BY distance, chunk_id
LIMIT %(depth)s;

-- name: entries_by_full_text_rank
-- What PostgreSQL's own ranking makes of the same words: kept for comparison, no search uses it.
SELECT chunk_id, ts_rank('{1, 1, 1, 1}', lexemes, %(query)s::tsquery, 1) AS score
FROM search_entry
WHERE generation_id = %(generation)s AND lexemes @@ %(query)s::tsquery
ORDER BY score DESC, chunk_id
LIMIT %(depth)s;

-- name: lexemes_named
SELECT token, sum(entries)::bigint AS entries, jsonb_object_agg(generation_id, id) AS ids
FROM lexeme
WHERE generation_id = ANY(%(generations)s) AND token = ANY(%(tokens)s) AND entries > 0
GROUP BY token;

-- name: lexemes_beginning_or_ending
-- The words that begin with one text or end with another, of a length from .. to.
SELECT token, sum(entries)::bigint AS entries, jsonb_object_agg(generation_id, id) AS ids
FROM lexeme
WHERE generation_id = ANY(%(generations)s) AND entries > 0
  AND (token ^@ %(beginning)s OR reverse(token) COLLATE "C" ^@ reverse(%(ending)s))
  AND length(token) BETWEEN %(shortest)s AND %(longest)s
GROUP BY token;

-- name: lexemes_containing
-- The words that a text is part of, the most common first. Reads the whole vocabulary: for words that no entry holds.
SELECT token, sum(entries)::bigint AS entries, jsonb_object_agg(generation_id, id) AS ids
FROM lexeme
WHERE generation_id = ANY(%(generations)s) AND entries > 0 AND strpos(token, %(part)s) > 0
GROUP BY token
ORDER BY entries DESC, token
LIMIT %(most)s;

-- name: all_searchable_entries
SELECT sum(entry_count)::bigint FROM generation WHERE id = ANY(%(generations)s);

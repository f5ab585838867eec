-- Published passages with their documents, by the ids of their chunks. One plan is made per session: a page reads few
-- rows of three tables with twenty indexes, and planning it each time took four times as long as running it. Tables may
-- grow before they are analysed, so no plan of a session that began with empty ones may scan them.
-- Volatile, so that it reads as of now: a stable one that waits for the end of a restore would read the new tables as of
-- the moment before, when they were not there.
CREATE FUNCTION passages_of(chunks bigint[]) RETURNS TABLE (
    chunk_id bigint, generation_id bigint, document_id bigint, collection text, uri text, title text, language text,
    version integer, kind text, media_type text, tags text[], metadata jsonb, link text, heading_path text[],
    anchor text, page integer, start_char integer, end_char integer, start_seconds double precision,
    end_seconds double precision, ordinal integer, text text, sections jsonb)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT chunk.id, chunk.generation_id, document.id, document.collection, document.uri,
           indexed.published_title, indexed.published_language, indexed.published_version,
           document.kind, document.media_type, document.tags, document.metadata,
           CASE WHEN starts_with(document.uri, 'git+') THEN web_link(document.uri, document.source_id) END,
           chunk.heading_path, chunk.anchor, chunk.page, chunk.start_char, chunk.end_char,
           chunk.start_seconds, chunk.end_seconds, chunk.ordinal, chunk.text, chunk.parts
    FROM chunk
    JOIN indexed_document indexed
        ON indexed.generation_id = chunk.generation_id AND indexed.document_id = chunk.document_id
    JOIN document ON document.id = chunk.document_id
    WHERE chunk.id = ANY(chunks);
END
$$;

-- Lexemes of a query with document frequencies, ids by generation, and occurrences in the query.
-- Each text-search configuration in scope reads the query for the entries made with it. Lexemes of one position are one
-- word, as rare as all of them together. Where a configuration has the word as a stop word, all of its entries count as
-- holding it: otherwise `the` would be a rare word among English texts because of a few texts of unknown language. A
-- stop word for more than half of the entries is left out, and so is a lexeme that no entry holds where another lexeme
-- of its position is held.
-- One plan is made per session, as for passages_of: planning took as long as running.
CREATE FUNCTION query_words(content text, generations bigint[]) RETURNS TABLE (
    token text, entries bigint, ids jsonb, all_entries bigint, occurrences bigint)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH known AS (
        SELECT name, sum(entries) AS entries
        FROM text_configuration WHERE generation_id = ANY(generations) AND entries > 0 GROUP BY name
    ), reading AS MATERIALIZED (
        SELECT known.name, found.lexeme AS token, place
        FROM known
        CROSS JOIN LATERAL unnest(search_lexemes(known.name::regconfig, content)) AS found (lexeme, positions, weights)
        CROSS JOIN LATERAL unnest(positions) AS place
    ), lexeme_read AS MATERIALIZED (
        SELECT read.token, coalesce(sum(lexeme.entries), 0) AS entries,
               coalesce(jsonb_object_agg(lexeme.generation_id, lexeme.id) FILTER (WHERE lexeme.entries > 0), '{}') AS ids
        FROM (SELECT DISTINCT token FROM reading) read
        LEFT JOIN LATERAL (  -- word by word: the planner overestimates the query and would read the whole vocabulary
            SELECT generation_id, id, entries FROM lexeme
            WHERE generation_id = ANY(generations) AND token = read.token
            OFFSET 0
        ) lexeme ON true
        GROUP BY read.token
    ), word AS (
        SELECT place, (SELECT sum(entries) FROM known) - sum(known.entries) AS stopped
        FROM (SELECT DISTINCT place, name FROM reading) here JOIN known USING (name)
        GROUP BY place
    ), holding AS (
        SELECT place, sum(lexeme_read.entries) AS held
        FROM (SELECT DISTINCT place, token FROM reading) here JOIN lexeme_read USING (token)
        GROUP BY place
    ), every AS (
        SELECT sum(entry_count) AS entries FROM generation WHERE id = ANY(generations)
    )
    SELECT lexeme_read.token, least(min(word.stopped + held), every.entries)::bigint AS entries, lexeme_read.ids,
           every.entries::bigint AS all_entries, count(DISTINCT place) AS occurrences
    FROM reading
    JOIN word USING (place)
    JOIN holding USING (place)
    JOIN lexeme_read USING (token)
    CROSS JOIN every
    WHERE word.stopped * 2 <= every.entries AND (lexeme_read.ids <> '{}' OR held = 0)
    GROUP BY lexeme_read.token, lexeme_read.ids, every.entries
    ORDER BY lexeme_read.token;
END
$$;

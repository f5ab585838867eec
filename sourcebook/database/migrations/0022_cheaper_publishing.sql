-- Publishing without what costs and changes nothing: statements without rows, accents in plain letters, numeric
-- arithmetic, a scan of the new entries for each new text, a look at the generation for each row of a block.
-- The lexemes of a text in the text-search configuration of its language. Before stemming, variants of a letter are
-- normalised (NFKC: ligatures, full-width letters, combining accents) and invisible characters are removed (soft
-- hyphens, zero-width spaces); after stemming, which may need them, accents are folded. Letters with marks that are
-- letters of their own in the language stay.
CREATE OR REPLACE FUNCTION search_lexemes(configuration regconfig, content text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    found tsvector;
BEGIN
    -- Of ASCII no stemmer makes an accent that is folded, but the Serbian one, which writes `dj` as `đ`.
    IF octet_length(content) = length(content) AND configuration::text <> 'serbian' THEN
        RETURN to_tsvector(configuration, content);
    END IF;
    content := paired_letters(translate(normalize(content, NFKC), U&'\00AD\200B\2060\FEFF', ''));
    IF configuration::text IN ('english', 'simple') THEN  -- whose stemmers know no accents: `résumé` is `resume`
        content := without_accents(content);
    END IF;
    found := to_tsvector(configuration, content);
    IF found::text !~ '[\u00c0-\u03ffёЁ\u1e00-\u1fff]' OR configuration::text IN
        ('danish', 'estonian', 'finnish', 'hungarian', 'norwegian', 'swedish', 'turkish') THEN
        RETURN found;
    END IF;
    RETURN (
        SELECT coalesce(string_agg(
            quoted_lexeme(without_accents(lexeme)) || ':' || array_to_string(positions, ','), ' '), '')::tsvector
        FROM unnest(found));
END
$$;

-- The weight of each lexeme in entries of a generation.
CREATE OR REPLACE FUNCTION keyword_postings(of_generation bigint, chunks bigint[])
RETURNS TABLE (chunk_id bigint, length integer, lexeme_id integer, weight real)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT word.chunk_id, word.length, lexeme.id,
           (word.frequency * 22 / 10::float8  -- 2.2 is a numeric, with which arithmetic takes ten times as long
            / (word.frequency + 1.2::float8 * (0.25::float8 + 0.75::float8 * word.length / generation.average_length)))::real
    FROM (
        SELECT entry.chunk_id, word.lexeme, cardinality(word.positions) AS frequency,
               (sum(cardinality(word.positions)) OVER (PARTITION BY entry.chunk_id))::integer AS length
        FROM search_entry entry CROSS JOIN LATERAL unnest(entry.lexemes) AS word
        WHERE entry.generation_id = of_generation AND entry.chunk_id = ANY(chunks)
    ) word
    JOIN generation ON generation.id = of_generation
    JOIN lexeme ON lexeme.generation_id = of_generation AND lexeme.token = word.lexeme;
END;

-- Keep the vocabulary and the weights in step with the published entries, in the transaction that publishes or removes
-- them.
CREATE OR REPLACE FUNCTION follow_search_entries() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    part record;
BEGIN
    -- Planning the statements below costs a millisecond, which a statement without rows need not pay.
    IF TG_OP = 'INSERT' THEN
        IF NOT EXISTS (SELECT FROM added) THEN
            RETURN NULL;
        END IF;
    ELSIF NOT EXISTS (SELECT FROM gone) THEN
        RETURN NULL;
    END IF;
    -- The generation's row comes first: who holds it is alone with the rest, and so nobody waits in a circle.
    IF TG_OP <> 'INSERT' THEN
        UPDATE generation SET entry_count = entry_count - lost.entries, total_length = total_length - lost.length
        FROM (SELECT generation_id, count(*) AS entries, sum(words.length) AS length
              FROM gone
              CROSS JOIN LATERAL (SELECT coalesce(sum(cardinality(positions)), 0) AS length FROM unnest(lexemes)) words
              GROUP BY 1) lost
        WHERE id = lost.generation_id;
        UPDATE lexeme SET entries = lexeme.entries - word.entries
        FROM (SELECT generation_id, word.lexeme AS token, count(*) AS entries
              FROM gone CROSS JOIN LATERAL unnest(lexemes) AS word GROUP BY 1, 2) word
        WHERE lexeme.generation_id = word.generation_id AND lexeme.token = word.token;
        UPDATE text_configuration known SET entries = known.entries - lost.entries
        FROM (SELECT generation_id, configuration, count(*) AS entries FROM gone GROUP BY 1, 2) lost
        WHERE known.generation_id = lost.generation_id AND known.name = lost.configuration;
        WITH lost AS (
            DELETE FROM keyword_entry USING gone
            WHERE keyword_entry.generation_id = gone.generation_id AND keyword_entry.chunk_id = gone.chunk_id
            RETURNING keyword_entry.generation_id, keyword_entry.block
        )
        UPDATE keyword_block_size held SET entries = held.entries - lost.entries
        FROM (SELECT generation_id, block, count(*) AS entries FROM lost WHERE block IS NOT NULL GROUP BY 1, 2) lost
        WHERE held.generation_id = lost.generation_id AND held.block = lost.block;
    END IF;
    IF TG_OP = 'DELETE' THEN
        -- Texts whose last entry is gone. The chunks are still there: they are deleted after their entries.
        UPDATE generation SET text_count = text_count - lost.texts
        FROM (
            SELECT generation_id, count(*) AS texts
            FROM (SELECT DISTINCT gone.generation_id, chunk.embedding_hash
                  FROM gone JOIN chunk ON chunk.id = gone.chunk_id) text
            WHERE (  -- with LIMIT, so that one entry is looked for and not all of them joined
                SELECT true FROM chunk other
                JOIN search_entry entry ON entry.generation_id = other.generation_id AND entry.chunk_id = other.id
                WHERE other.embedding_hash = text.embedding_hash AND other.generation_id = text.generation_id
                LIMIT 1) IS NULL
            GROUP BY 1
        ) lost
        WHERE id = lost.generation_id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        UPDATE generation
        SET entry_count = entry_count + won.entries, total_length = total_length + won.length,
            average_length = coalesce(average_length, nullif(won.length, 0)::real / won.entries),
            averaged_entries = CASE WHEN average_length IS NULL THEN won.entries ELSE averaged_entries END
        FROM (SELECT generation_id, count(*) AS entries, sum(words.length) AS length
              FROM added
              CROSS JOIN LATERAL (SELECT coalesce(sum(cardinality(positions)), 0) AS length FROM unnest(lexemes)) words
              GROUP BY 1) won
        WHERE id = won.generation_id;
        WITH word AS (
            SELECT generation_id, word.lexeme AS token, count(*) AS entries
            FROM added CROSS JOIN LATERAL unnest(lexemes) AS word GROUP BY 1, 2
        ), known AS (
            UPDATE lexeme SET entries = lexeme.entries + word.entries
            FROM word WHERE lexeme.generation_id = word.generation_id AND lexeme.token = word.token
        )
        INSERT INTO lexeme (generation_id, token, entries)
        SELECT generation_id, token, entries FROM word
        WHERE NOT EXISTS (
            SELECT FROM lexeme WHERE lexeme.generation_id = word.generation_id AND lexeme.token = word.token);
        INSERT INTO text_configuration AS known (generation_id, name, entries)
        SELECT generation_id, configuration, count(*) FROM added GROUP BY 1, 2
        ON CONFLICT (generation_id, name) DO UPDATE SET entries = known.entries + excluded.entries;
        FOR part IN SELECT generation_id, array_agg(chunk_id) AS chunks FROM added GROUP BY 1 LOOP
            INSERT INTO keyword_entry (generation_id, chunk_id, length, weights)
            SELECT part.generation_id, chunk_id, length, weights FROM keyword_weights(part.generation_id, part.chunks);
            IF TG_OP = 'INSERT' THEN
                -- Texts that had no entry before.
                UPDATE generation SET text_count = text_count + (
                    SELECT count(*)
                    FROM (SELECT DISTINCT embedding_hash FROM chunk WHERE id = ANY(part.chunks)) text
                    WHERE (
                        SELECT true FROM chunk other
                        JOIN search_entry entry ON entry.generation_id = part.generation_id AND entry.chunk_id = other.id
                        WHERE other.embedding_hash = text.embedding_hash AND other.generation_id = part.generation_id
                          AND other.id <> ALL(part.chunks)  -- of the array, which is hashed: `added` would be scanned
                        LIMIT 1) IS NULL)
                WHERE id = part.generation_id;
            END IF;
        END LOOP;
    END IF;
    RETURN NULL;
END
$$;

ALTER TABLE keyword_block DROP CONSTRAINT keyword_block_generation_id_fkey;

-- Delete the blocks of deleted generations. A foreign key would do it, too, and look up each of a block's 30,000 rows.
CREATE FUNCTION follow_generations() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    DELETE FROM keyword_block USING gone WHERE keyword_block.generation_id = gone.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER generations_gone AFTER DELETE ON generation REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION follow_generations();

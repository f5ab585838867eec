-- Passages of generated indexes have no vector: the keyword leg alone finds them.

ALTER TABLE chunk ALTER COLUMN embedding_hash DROP NOT NULL;
CREATE INDEX chunk_without_vector ON chunk (generation_id, document_id) WHERE embedding_hash IS NULL;
ALTER TABLE search_entry ALTER COLUMN vector DROP NOT NULL;

-- Keep the vocabulary and the weights in step with the published entries, in the transaction that publishes or removes
-- them. A passage without a vector is no text of the model.
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
                  FROM gone JOIN chunk ON chunk.id = gone.chunk_id WHERE chunk.embedding_hash IS NOT NULL) text
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
                    FROM (SELECT DISTINCT embedding_hash FROM chunk
                          WHERE id = ANY(part.chunks) AND embedding_hash IS NOT NULL) text
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

-- What follows the published entries of a generation in the transaction that publishes or removes them: its counts, its
-- vocabulary and its weights. A trigger hands its function the rows as `changed`, and 1 where they were added, -1 where
-- they are gone. Planning a statement costs up to a millisecond, which a change of no rows need not pay.

-- Count entries and their length in lexemes. The generation's row comes first: who holds it is alone with the rest, and
-- so nobody waits in a circle. The first entries decide on the average length, until index_upkeep renews it.
CREATE FUNCTION count_entries() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    step integer := TG_ARGV[0];
BEGIN
    IF EXISTS (SELECT FROM changed) THEN
        UPDATE generation
        SET entry_count = entry_count + step * part.entries, total_length = total_length + step * part.length,
            average_length = CASE WHEN average_length IS NULL AND step > 0
                THEN open_average(id, part.entries, part.length) ELSE average_length END,
            averaged_entries = CASE WHEN average_length IS NULL AND step > 0
                THEN part.entries ELSE averaged_entries END
        FROM (SELECT generation_id, count(*) AS entries, sum(words.length) AS length
              FROM changed
              CROSS JOIN LATERAL (SELECT coalesce(sum(cardinality(positions)), 0) AS length FROM unnest(lexemes)) words
              GROUP BY 1) part
        WHERE id = part.generation_id;
    END IF;
    RETURN NULL;
END
$$;

-- Count the entries of each lexeme.
CREATE FUNCTION count_lexemes() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    step integer := TG_ARGV[0];
BEGIN
    IF EXISTS (SELECT FROM changed) THEN
        WITH word AS (
            SELECT generation_id, word.lexeme AS token, count(*) AS entries
            FROM changed CROSS JOIN LATERAL unnest(lexemes) AS word GROUP BY 1, 2
        ), known AS (
            UPDATE lexeme SET entries = lexeme.entries + step * word.entries
            FROM word WHERE lexeme.generation_id = word.generation_id AND lexeme.token = word.token
        )
        INSERT INTO lexeme (generation_id, token, entries)
        SELECT generation_id, token, entries FROM word
        WHERE step > 0 AND NOT EXISTS (
            SELECT FROM lexeme WHERE lexeme.generation_id = word.generation_id AND lexeme.token = word.token);
    END IF;
    RETURN NULL;
END
$$;

-- Count the entries of each text-search configuration.
CREATE FUNCTION count_configurations() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    step integer := TG_ARGV[0];
BEGIN
    IF EXISTS (SELECT FROM changed) THEN
        WITH part AS (
            SELECT generation_id, configuration AS name, count(*) AS entries FROM changed GROUP BY 1, 2
        ), known AS (
            UPDATE text_configuration SET entries = text_configuration.entries + step * part.entries
            FROM part
            WHERE text_configuration.generation_id = part.generation_id AND text_configuration.name = part.name
        )
        INSERT INTO text_configuration (generation_id, name, entries)
        SELECT generation_id, name, entries FROM part
        WHERE step > 0 AND NOT EXISTS (
            SELECT FROM text_configuration other
            WHERE other.generation_id = part.generation_id AND other.name = part.name);
    END IF;
    RETURN NULL;
END
$$;

-- Delete the weights of entries, and count those that are left in their blocks.
CREATE FUNCTION delete_weights() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF EXISTS (SELECT FROM changed) THEN
        WITH lost AS (
            DELETE FROM keyword_entry USING changed
            WHERE keyword_entry.generation_id = changed.generation_id AND keyword_entry.chunk_id = changed.chunk_id
            RETURNING keyword_entry.generation_id, keyword_entry.block
        )
        UPDATE keyword_block_size held SET entries = held.entries - lost.entries
        FROM (SELECT generation_id, block, count(*) AS entries FROM lost WHERE block IS NOT NULL GROUP BY 1, 2) lost
        WHERE held.generation_id = lost.generation_id AND held.block = lost.block;
    END IF;
    RETURN NULL;
END
$$;

-- Insert the weights of entries, whose lexemes are counted.
CREATE FUNCTION insert_weights() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    part record;
BEGIN
    FOR part IN SELECT generation_id, array_agg(chunk_id) AS chunks FROM changed GROUP BY 1 LOOP
        INSERT INTO keyword_entry (generation_id, chunk_id, length, weights, count_id)
        SELECT part.generation_id, chunk_id, length, weights, counted_under(part.generation_id, chunk_id)
        FROM keyword_weights(part.generation_id, part.chunks);
    END LOOP;
    RETURN NULL;
END
$$;

-- Count distinct texts: those of which no other passage has an entry. The chunks of gone entries are deleted later.
CREATE FUNCTION count_texts() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    part record;
BEGIN
    FOR part IN SELECT generation_id, array_agg(chunk_id) AS chunks FROM changed GROUP BY 1 LOOP
        UPDATE generation SET text_count = text_count + TG_ARGV[0]::integer * (
            SELECT count(*)
            FROM (SELECT DISTINCT embedding_hash FROM chunk
                  WHERE id = ANY(part.chunks) AND embedding_hash IS NOT NULL) text
            WHERE (  -- with LIMIT, so that one entry is looked for and not all of them joined
                SELECT true FROM chunk other
                JOIN search_entry entry ON entry.generation_id = part.generation_id AND entry.chunk_id = other.id
                WHERE other.embedding_hash = text.embedding_hash AND other.generation_id = part.generation_id
                  AND other.id <> ALL(part.chunks)  -- of the array, which is hashed: `changed` would be scanned
                LIMIT 1) IS NULL)
        WHERE id = part.generation_id;
    END LOOP;
    RETURN NULL;
END
$$;

-- They run in the order of their names.
CREATE TRIGGER added_1_entries AFTER INSERT ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_entries('1');
CREATE TRIGGER added_2_lexemes AFTER INSERT ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_lexemes('1');
CREATE TRIGGER added_3_configurations AFTER INSERT ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_configurations('1');
CREATE TRIGGER added_4_weights AFTER INSERT ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION insert_weights();
CREATE TRIGGER added_5_texts AFTER INSERT ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_texts('1');

CREATE TRIGGER gone_1_entries AFTER DELETE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_entries('-1');
CREATE TRIGGER gone_2_lexemes AFTER DELETE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_lexemes('-1');
CREATE TRIGGER gone_3_configurations AFTER DELETE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_configurations('-1');
CREATE TRIGGER gone_4_weights AFTER DELETE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION delete_weights();
CREATE TRIGGER gone_5_texts AFTER DELETE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_texts('-1');

CREATE TRIGGER updated_1_entries_gone AFTER UPDATE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_entries('-1');
CREATE TRIGGER updated_2_entries_added AFTER UPDATE ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_entries('1');
CREATE TRIGGER updated_3_lexemes_gone AFTER UPDATE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_lexemes('-1');
CREATE TRIGGER updated_4_lexemes_added AFTER UPDATE ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_lexemes('1');
CREATE TRIGGER updated_5_configurations_gone AFTER UPDATE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_configurations('-1');
CREATE TRIGGER updated_6_configurations_added AFTER UPDATE ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_configurations('1');
CREATE TRIGGER updated_7_weights_gone AFTER UPDATE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION delete_weights();
CREATE TRIGGER updated_8_weights_added AFTER UPDATE ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION insert_weights();

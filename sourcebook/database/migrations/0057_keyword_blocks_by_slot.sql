-- Look entries of keyword blocks up by their slots. The planner joined whole blocks, so that a search read every entry.

-- The entries in blocks with the highest scores: every entry with at least the score of the one at rank `depth`, and
-- some more. A lexeme of a block is added to the scores of its 8,000 entries as one vector, scaled by its idf; then the
-- function searches for the highest score that enough entries reach, with bit strings of the entries above it. Scores
-- here are sums of 4-byte floats: the caller computes them again, and the threshold is slightly lower to allow for
-- rounding.
--
-- The shape of the statements keeps the planner from three costs that grow with the blocks: OFFSET 0 from making a scale
-- for each block, unnest in the list of columns from storing all scores at each step, LIMIT 1 from reading whole blocks
-- to find some slots. The scores take 4 bytes an entry, which work_mem has to hold: else they go through a file.
CREATE OR REPLACE FUNCTION block_candidates(of_generation bigint, lexeme_ids integer[], idfs real[], depth integer)
RETURNS TABLE (chunk_id bigint)
LANGUAGE plpgsql STABLE SET search_path = sourcebook, public SET work_mem = '256MB'
AS $$
DECLARE
    blocks integer[];
    scores vector[];
    sample vector[];
    wanted bigint := depth;
    low real;
    high real;
    middle real;
    share float8;
    above float8;
    above_low float8;
    above_high float8;
    cut vector;
    live integer;
BEGIN
    SELECT array_agg(part.block), array_agg(part.scores) INTO blocks, scores
    FROM (
        SELECT held.block, vector_total(held.weights::vector(8000) * term.scale) AS scores
        FROM (
            SELECT id, array_fill(idf, ARRAY[8000])::vector(8000) AS scale
            FROM unnest(lexeme_ids, idfs) AS given (id, idf)
            OFFSET 0
        ) term
        JOIN keyword_block held ON held.generation_id = of_generation AND held.lexeme_id = term.id
        GROUP BY held.block
    ) part;
    IF scores IS NULL THEN
        RETURN;
    END IF;
    IF cardinality(scores) >= 32 THEN
        SELECT array_agg(held) INTO sample
        FROM (SELECT unnest(scores) AS held, generate_subscripts(scores, 1) AS place) block WHERE place % 8 = 0;
    END IF;
    LOOP
        -- Of many blocks, every eighth tells about which score it is, and all of them are counted from there.
        above := NULL;
        FOR step IN CASE WHEN sample IS NULL THEN 1 ELSE -11 END..24 LOOP
            CONTINUE WHEN step < 1 AND above BETWEEN wanted * 1.25 AND wanted * 1.75;
            IF step IN (-11, 1) THEN
                low := 0;
                above_low := 8000.0 * cardinality(scores);
                high := 2.3 * (SELECT sum(idf) FROM unnest(idfs) AS idf);
                above_high := 0.5;
            END IF;
            -- How many reach a score falls about exponentially with it; every third step halves, whatever it does.
            share := CASE WHEN step % 3 = 0 THEN 0.5 ELSE ln(above_low / (wanted * 1.4)) / ln(above_low / above_high) END;
            IF step <> 1 OR sample IS NULL THEN
                middle := low + (high - low) * least(greatest(share, 0.02), 0.98);
            END IF;
            cut := array_fill(middle, ARRAY[8000])::vector(8000);
            IF step < 1 THEN
                SELECT sum(bit_count(binary_quantize(held - cut))) * cardinality(scores)::float8 / cardinality(sample) INTO above
                FROM (SELECT unnest(sample) AS held) block;
            ELSE
                SELECT sum(bit_count(binary_quantize(held - cut))) INTO above FROM (SELECT unnest(scores) AS held) block;
            END IF;
            IF above >= wanted THEN
                low := middle;
                above_low := above;
            ELSE
                high := middle;
                above_high := greatest(above, 0.5);
            END IF;
            EXIT WHEN step >= 1 AND above BETWEEN wanted AND wanted * 2;
        END LOOP;
        cut := array_fill(low * 0.99999::real, ARRAY[8000])::vector(8000);
        RETURN QUERY
        SELECT entry.chunk_id
        FROM (SELECT unnest(blocks) AS block, unnest(scores) AS scores) held
        CROSS JOIN LATERAL (
            SELECT (sum(length(gap) + 1) OVER (ORDER BY place))::integer AS slot, place, count(*) OVER () AS places
            FROM string_to_table(binary_quantize(held.scores - cut)::text, '1') WITH ORDINALITY AS gaps (gap, place)
        ) reached
        CROSS JOIN LATERAL (
            SELECT held_entry.chunk_id FROM keyword_entry held_entry
            WHERE held_entry.generation_id = of_generation AND held_entry.block = held.block AND held_entry.slot = reached.slot
            LIMIT 1
        ) entry
        WHERE reached.place < reached.places;
        GET DIAGNOSTICS live = ROW_COUNT;
        EXIT WHEN live >= depth OR low = 0;
        -- Some were of entries that are gone.
        wanted := wanted * 4;
    END LOOP;
END
$$;

-- A score for each of the 8,000 entries of a block, all equal: joined from a short vector, as an array of 8,000 numbers
-- takes eight times as long to become one.
CREATE FUNCTION equal_scores(score real) RETURNS vector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    scores vector := array_fill(score, ARRAY[125])::vector(125);
BEGIN
    FOR doubling IN 1..6 LOOP
        scores := scores || scores;
    END LOOP;
    RETURN scores;
END
$$;

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
            SELECT id, equal_scores(idf) AS scale
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
            cut := equal_scores(middle);
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
        cut := equal_scores(low * 0.99999::real);
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

-- Each entry of the keyword leg says who sees it, so that a search for principals scores no hidden one.
ALTER TABLE keyword_entry ADD COLUMN count_id integer NOT NULL DEFAULT 0;
DROP INDEX keyword_entry_slot;
CREATE UNIQUE INDEX keyword_entry_slot ON keyword_entry (generation_id, block, slot) INCLUDE (chunk_id, count_id)
    WHERE block IS NOT NULL;

DROP FUNCTION block_candidates(bigint, integer[], real[], integer);
-- The entries in blocks with the highest scores: every entry with at least the score of the one at rank `depth`, and
-- some more: of those that stand under some counts, where these are given. A lexeme of a block is added to the scores of its 8,000 entries as one vector, scaled by its idf; then the
-- function searches for the highest score that enough entries reach, with bit strings of the entries above it. Scores
-- here are sums of 4-byte floats: the caller computes them again, and the threshold is slightly lower to allow for
-- rounding.
--
-- The shape of the statements keeps the planner from three costs that grow with the blocks: OFFSET 0 from making a scale
-- for each block, unnest in the list of columns from storing all scores at each step, LIMIT 1 from reading whole blocks
-- to find some slots. The scores take 4 bytes an entry, which work_mem has to hold: else they go through a file.
CREATE FUNCTION block_candidates(of_generation bigint, lexeme_ids integer[], idfs real[], depth integer,
                                 further integer DEFAULT NULL, counts integer[] DEFAULT NULL)
RETURNS TABLE (chunk_id bigint)
LANGUAGE plpgsql STABLE SET search_path = sourcebook, public SET work_mem = '256MB'
AS $$
DECLARE
    blocks integer[];
    scores vector[];
    sample vector[];
    wanted bigint := coalesce(further, depth);  -- so many of all are looked at first for `depth` under these counts
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
              AND (counts IS NULL OR held_entry.count_id = ANY(counts))
            LIMIT 1
        ) entry
        WHERE reached.place < reached.places;
        GET DIAGNOSTICS live = ROW_COUNT;
        EXIT WHEN live >= depth OR low = 0;
        -- Some were of entries that are gone, or under other counts.
        wanted := wanted * 4;
    END LOOP;
END
$$;

-- Return the number under which an entry is counted: 0 where everyone sees it, -1 where nobody does before it is counted.
CREATE FUNCTION counted_under(of_generation bigint, of_chunk bigint) RETURNS integer
LANGUAGE sql STABLE
RETURN coalesce((
    SELECT CASE document.audience_id WHEN 1 THEN 0 ELSE (
        SELECT min(id) FROM audience_count
        WHERE audience_count.audience_id = document.audience_id AND audience_count.generation_id = of_generation) END
    FROM search_entry entry JOIN document ON document.id = entry.document_id
    WHERE entry.generation_id = of_generation AND entry.chunk_id = of_chunk), -1);

-- Return the numbers under which the entries are counted that some audiences see, also to the reader.
CREATE FUNCTION counts_of(audiences integer[]) RETURNS integer[]
LANGUAGE sql STABLE SECURITY DEFINER
RETURN ARRAY(SELECT 0 UNION ALL SELECT id FROM audience_count WHERE audience_id = ANY(audiences));

-- Return those of the session, which are set with its audiences; without them what everyone sees.
CREATE FUNCTION session_counts() RETURNS integer[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(nullif(current_setting('sourcebook.counts', true), '')::integer[], '{0}');

-- Insert the weights of entries, whose lexemes are counted.
CREATE OR REPLACE FUNCTION insert_weights() RETURNS trigger
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

-- Move the counts of documents that others may see now, and let copies and attachments follow. Whoever publishes holds
-- the generation's row, which comes first here, too: the counts are of what is there when this transaction has it.
CREATE OR REPLACE FUNCTION move_audiences() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    documents bigint[];
    before integer[];
    after integer[];
    whole bigint[];
BEGIN
    -- No join: the plan of a session that began with one document would compare each of many with each.
    SELECT array_agg(id), array_agg(former), array_agg(later) INTO documents, before, after
    FROM (
        SELECT id, max(former) AS former, max(later) AS later
        FROM (SELECT id, audience_id AS former, NULL AS later FROM gone
              UNION ALL SELECT id, NULL, audience_id FROM added) written
        GROUP BY id
    ) moved
    WHERE former <> later;
    IF documents IS NOT NULL THEN
        PERFORM FROM generation ORDER BY id FOR NO KEY UPDATE;
        whole := rename_counted_audiences(documents, before, after);
        PERFORM count_documents_for(array_agg(id), array_agg(former), -1),
                count_documents_for(array_agg(id), array_agg(later), 1)
        FROM unnest(documents, before, after) AS moved (id, former, later)
        WHERE id NOT IN (SELECT unnest(whole));
        UPDATE keyword_entry held SET count_id = entry.count_id
        FROM (
            SELECT generation_id, chunk_id, counted_under(generation_id, chunk_id) AS count_id
            FROM unnest(documents, after) AS moved (id, later)
            JOIN search_entry ON search_entry.document_id = moved.id
            WHERE later = 1 OR moved.id NOT IN (SELECT unnest(whole))
            OFFSET 0
        ) entry
        WHERE held.generation_id = entry.generation_id AND held.chunk_id = entry.chunk_id;
        UPDATE document copy SET audience_id = moved.audience_id
        FROM document moved, source rule
        WHERE moved.id = ANY(documents) AND rule.kind = 'collection' AND rule.location = moved.collection
          AND copy.source_id = rule.id AND copy.uri = moved.uri;
        UPDATE document inside
        SET audience_id = audience_for(inside.source_id, inside.uri, coalesce(inside.own_metadata, inside.metadata))
        FROM document moved
        JOIN attachment ON attachment.container_sha256 = moved.content_sha256
            AND attachment.container_parser = moved.content_parser
        WHERE moved.id = ANY(documents) AND inside.collection = moved.collection
          AND inside.uri = moved.uri || '/' || attachment.path;
    END IF;
    RETURN NULL;
END
$$;

DROP TRIGGER keyword_entries_sealed ON keyword_entry;
CREATE TRIGGER keyword_entries_sealed BEFORE INSERT OR UPDATE OF chunk_id, length, weights, block, slot
    ON keyword_entry FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('keyword_entry');

UPDATE keyword_entry held SET count_id = counted_under(held.generation_id, held.chunk_id)
FROM search_entry entry JOIN document ON document.id = entry.document_id
WHERE held.generation_id = entry.generation_id AND held.chunk_id = entry.chunk_id AND document.audience_id <> 1;

-- Make the views of the statistics of what the session's audiences may see, under the names of the tables: sessions of
-- the reader find these first. A lexeme that no visible entry holds is not there.
CREATE OR REPLACE FUNCTION make_seen_views() RETURNS void
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    CREATE SCHEMA IF NOT EXISTS sourcebook_seen;
    CREATE OR REPLACE VIEW sourcebook_seen.lexeme AS
    SELECT whole.generation_id, whole.token, whole.id, held.entries
    FROM lexeme whole
    CROSS JOIN LATERAL (
        SELECT whole.entries + coalesce(sum(CASE count_id WHEN 0 THEN -counted.entries ELSE counted.entries END), 0)::integer AS entries
        FROM lexeme_audience counted
        WHERE counted.generation_id = whole.generation_id AND counted.token = whole.token AND count_id = ANY((SELECT session_counts())::integer[])
    ) held
    WHERE held.entries > 0;
    CREATE OR REPLACE VIEW sourcebook_seen.text_configuration AS
    SELECT whole.generation_id, whole.name, held.entries
    FROM text_configuration whole
    CROSS JOIN LATERAL (
        SELECT whole.entries + coalesce(sum(CASE count_id WHEN 0 THEN -counted.entries ELSE counted.entries END), 0)::bigint AS entries
        FROM configuration_audience counted
        WHERE counted.generation_id = whole.generation_id AND counted.name = whole.name AND count_id = ANY((SELECT session_counts())::integer[])
    ) held
    WHERE held.entries > 0;
    CREATE OR REPLACE VIEW sourcebook_seen.generation AS
    SELECT whole.id, whole.collection, whole.chunking, whole.embedding, whole.model, whole.dimensions, whole.created_at,
           whole.entry_count + held.entries AS entry_count, whole.total_length + held.total_length AS total_length,
           whole.average_length, whole.averaged_entries, whole.prepared_with, whole.text_count, whole.retired_at
    FROM generation whole
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(CASE count_id WHEN 0 THEN -counted.entries ELSE counted.entries END), 0)::bigint AS entries,
               coalesce(sum(CASE count_id WHEN 0 THEN -counted.total_length ELSE counted.total_length END), 0)::bigint
                   AS total_length
        FROM configuration_audience counted
        WHERE counted.generation_id = whole.id AND count_id = ANY((SELECT session_counts())::integer[])
    ) held;
END
$$;

DO $$
BEGIN
    IF to_regclass('sourcebook_seen.generation') IS NOT NULL THEN
        PERFORM make_seen_views();
    END IF;
EXCEPTION
    WHEN insufficient_privilege THEN NULL;  -- an administrator made them; as they are, they count the same
END
$$;

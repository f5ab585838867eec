-- Each entry of the keyword leg says who sees it, so that a search for principals scores no hidden one.
ALTER TABLE keyword_entry ADD COLUMN count_id integer NOT NULL DEFAULT 0;

-- Return the number under which an entry is counted: 0 where everyone sees it, -1 where nobody does before it is counted.
CREATE FUNCTION counted_under(of_generation bigint, of_chunk bigint) RETURNS integer
LANGUAGE sql STABLE
RETURN coalesce((
    SELECT CASE document.audience_id WHEN 1 THEN 0 ELSE (
        SELECT min(id) FROM audience_count
        WHERE audience_count.audience_id = document.audience_id AND audience_count.generation_id = of_generation) END
    FROM search_entry entry JOIN document ON document.id = entry.document_id
    WHERE entry.generation_id = of_generation AND entry.chunk_id = of_chunk), -1);

-- Return the numbers of the entries of a generation that the session sees, also to the reader.
CREATE FUNCTION seen_counts(of_generation bigint) RETURNS SETOF integer
LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT 0 UNION ALL
    SELECT id FROM audience_count
    WHERE generation_id = of_generation AND audience_id IN (SELECT session_audiences());
END;

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

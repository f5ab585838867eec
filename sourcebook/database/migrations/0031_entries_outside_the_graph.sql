-- Entries that are published without waiting for the HNSW index: searches compare them exactly until index_upkeep enters
-- them. An HNSW index of all entries would still be entered by each publication: the next ingest builds another one.
ALTER TABLE search_entry ADD COLUMN in_graph boolean NOT NULL DEFAULT true;
CREATE INDEX search_entry_outside ON search_entry (generation_id, chunk_id) WHERE NOT in_graph;

DO $$
DECLARE
    built regclass;
BEGIN
    FOR built IN
        SELECT pg_index.indexrelid FROM pg_index JOIN pg_class ON pg_class.oid = pg_index.indexrelid
        WHERE pg_class.relnamespace = 'sourcebook'::regnamespace AND pg_class.relname ~ '^search_entry_[0-9]+_vector$'
    LOOP
        EXECUTE format('DROP INDEX %s', built);
    END LOOP;
END
$$;

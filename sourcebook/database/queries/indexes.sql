-- name: index_validity
-- Return whether an index is valid; no row where it does not exist.
SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%(name)s);

-- name: prepare_vector_index
-- Give this transaction memory for the whole graph, where the server is set to less, and parallel processes.
SELECT set_config('maintenance_work_mem',
                  greatest(pg_size_bytes(current_setting('maintenance_work_mem')), %(bytes)s::bigint) / 1024 || 'kB', true),
       set_config('max_parallel_maintenance_workers',
                  least(current_setting('max_parallel_maintenance_workers')::integer, %(most_workers)s::integer)::text, true);

-- name: create_vector_index
-- Create the HNSW index of a partition, without the entries that are published outside it.
CREATE INDEX {name} ON {partition} USING hnsw ((vector::halfvec({dimensions})) halfvec_ip_ops)
WITH (m = {links}, ef_construction = {breadth}) WHERE in_graph;

-- name: create_lexeme_index
-- Create the index of a partition that finds entries by their lexemes.
CREATE INDEX {name} ON {partition} USING gin (lexemes);

-- name: drop_index
-- Drop an index that an interrupted build has left invalid.
DROP INDEX {name};

-- name: analyze_table
-- Analyze a table for the planner.
ANALYZE {table};

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

-- name: create_part_index
-- Create the HNSW index of one part of a partition, by a hash of the chunk ids.
CREATE INDEX {name} ON {partition} USING hnsw ((vector::halfvec({dimensions})) halfvec_ip_ops)
WITH (m = {links}, ef_construction = {breadth}) WHERE in_graph AND hashint8extended(chunk_id, 0) & {mask} = {part};

-- name: create_bits_index
-- Create the HNSW index of one part of a partition that holds the sign of each dimension.
CREATE INDEX {name} ON {partition} USING hnsw ((binary_quantize(vector::halfvec({dimensions}))::bit({dimensions})) bit_hamming_ops)
WITH (m = {links}, ef_construction = {breadth}) WHERE in_graph AND hashint8extended(chunk_id, 0) & {mask} = {part};

-- name: create_part_statistics
-- Have ANALYZE count how many entries are in each part: the planner takes a part of unknown size for very small.
CREATE STATISTICS IF NOT EXISTS {name} ON (hashint8extended(chunk_id, 0) & {mask}) FROM {partition};

-- name: partition_vector_indexes
-- Return the valid HNSW indexes of the vectors of a partition.
SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE indrelid = to_regclass(%(partition)s) AND indisvalid AND relname LIKE 'search\_entry\_%%\_vector%%';

-- name: graph_rules
-- Return the applied settings of how a collection's vectors are indexed.
SELECT settings -> 'generations' FROM collection WHERE name = %(collection)s;

-- name: parallel_builds
-- Return the number of processes that the server allows a build of an index beside its own.
SELECT current_setting('max_parallel_maintenance_workers')::integer;

-- name: drop_index_beside_searches
-- Drop an index that nothing needs any more, and let running searches end first.
DROP INDEX CONCURRENTLY IF EXISTS {name};

-- name: create_lexeme_index
-- Create the index of a partition that finds entries by their lexemes.
CREATE INDEX {name} ON {partition} USING gin (lexemes);

-- name: drop_index
-- Drop an index that an interrupted build has left invalid.
DROP INDEX {name};

-- name: analyze_table
-- Analyze a table for the planner.
ANALYZE {table};

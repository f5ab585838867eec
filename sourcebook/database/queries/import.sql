-- name: taken_collections
-- Return which of some collections exist, removed ones included.
SELECT name FROM collection WHERE name = ANY(%(collections)s) ORDER BY name;

-- name: import_collection
-- Insert a collection with its settings, declared where the exported one was.
INSERT INTO collection (name, settings, declared_in, written_settings)
VALUES (%(collection)s, %(settings)s, %(declared_in)s, %(written)s);

-- name: import_statistics
-- Set the average length that the keyword weights of a new generation are computed with.
UPDATE generation SET average_length = %(average_length)s, averaged_entries = %(averaged_entries)s
WHERE id = %(generation)s;

-- name: import_judgments
-- Insert judgments of a collection; of several of one document and query the first.
INSERT INTO judgment (collection, query, uri, grade, judged_at)
SELECT %(collection)s, given.* FROM unnest(
    %(queries)s::text[], %(uris)s::text[], %(grades)s::integer[], %(times)s::timestamptz[]) AS given
ON CONFLICT DO NOTHING;

-- name: importable_columns
-- Return the columns of a table that are written, with the numbers of their types.
SELECT attname, atttypid FROM pg_attribute
WHERE attrelid = to_regclass(%(table)s) AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
ORDER BY attnum;

-- name: new_numbers
-- Return numbers of an identity column for new rows, in order.
SELECT nextval(sequence)
FROM (SELECT pg_get_serial_sequence(%(table)s, 'id')::regclass AS sequence OFFSET 0) found, generate_series(1, %(rows)s);

-- name: create_imported_numbers
-- Create an empty temporary table of the numbers of exported rows, by the column that refers to them, and of their new ones.
DROP TABLE IF EXISTS pg_temp.imported_number;
CREATE TEMPORARY TABLE imported_number (
    referring text NOT NULL, exported bigint NOT NULL, number bigint NOT NULL, PRIMARY KEY (referring, exported)
) ON COMMIT DROP;

-- name: remember_numbers
-- Remember the new numbers of exported rows.
INSERT INTO pg_temp.imported_number (referring, exported, number)
SELECT %(column)s, exported, number FROM unnest(%(exported)s::bigint[], %(numbers)s::bigint[]) AS given (exported, number);

-- name: remembered_numbers
-- Return the new number of each of some exported ones, in order; null where none is known.
SELECT number
FROM unnest(%(exported)s::bigint[]) WITH ORDINALITY AS given (exported, place)
LEFT JOIN pg_temp.imported_number known ON known.referring = %(column)s AND known.exported = given.exported
ORDER BY place;

-- name: copy_rows
-- Copy rows into a table.
COPY {table} ({columns}) FROM STDIN (FORMAT binary);

-- name: create_staging
-- Create a temporary table with the columns of another one.
CREATE TEMPORARY TABLE {staging} ON COMMIT DROP AS SELECT {columns} FROM {table} WITH NO DATA;

-- name: keep_new_rows
-- Insert the rows of a temporary table that are not there yet, and empty it.
WITH moved AS (
    DELETE FROM {staging} RETURNING {columns}
)
INSERT INTO {table} ({columns}) SELECT {columns} FROM moved ON CONFLICT DO NOTHING;

-- name: drop_staging
-- Drop a temporary table.
DROP TABLE {staging};

-- name: empty_vector_staging
-- Empty the temporary table of vectors within a transaction.
TRUNCATE pg_temp.new_embedding;

-- name: keep_sorts_in_memory
-- Let the sorts of this transaction stay in memory.
SET LOCAL work_mem = '64MB';

-- name: import_words
-- Compute the lexemes of every passage of a generation, by the titles and languages that were published.
-- Into a table of its own, because the server computes what it inserts into an existing one in one process alone.
CREATE TEMPORARY TABLE imported_entry ON COMMIT DROP AS
SELECT chunk.id AS chunk_id, chunk.document_id, chunk.embedding_hash,
       text_search_configuration(indexed.published_language)::text AS configuration,
       entry_lexemes(
           text_search_configuration(indexed.published_language),
           indexed.published_title, chunk.heading_path, chunk.text) AS lexemes
FROM chunk
JOIN indexed_document indexed
    ON indexed.generation_id = chunk.generation_id AND indexed.document_id = chunk.document_id
WHERE chunk.generation_id = %(generation)s;

-- name: lock_passages
-- Let one import or purge at a time, and no ingest beside it, write passages.
-- Attaching a partition of entries needs this lock anyway. No purge deletes a row, such as the content of a
-- document, that an import finds there, before the import has ended.
LOCK TABLE chunk IN SHARE ROW EXCLUSIVE MODE;

-- name: create_unattached_partition
-- Create the table of a partition without indexes and foreign keys, which are made from all of its rows at once.
CREATE TABLE {partition} (LIKE {table} INCLUDING ALL EXCLUDING INDEXES);

-- name: attach_partition
-- Attach a table as a partition, which builds its indexes and checks its foreign keys, and watch it.
ALTER TABLE {table} ATTACH PARTITION {partition} FOR VALUES IN ({number});
SELECT watch_table({name});

-- name: import_entries
-- Insert the entries of a generation into its partition: unlike one of `search_entry`, the statement fires no trigger.
INSERT INTO {partition} (generation_id, chunk_id, document_id, vector, lexemes, configuration)
SELECT %(generation)s, chunk_id, document_id, vector, lexemes, configuration
FROM imported_entry entry
LEFT JOIN embedding ON embedding.model = %(model)s AND embedding.text_hash = entry.embedding_hash
WHERE embedding.vector IS NOT NULL OR entry.embedding_hash IS NULL;

-- name: import_chunks
-- Copy chunks with their numbers into the table.
COPY chunk (id, generation_id, document_id, ordinal, text, context, heading_path, anchor, page, start_char, end_char,
            token_count, hash, embedding_hash, start_seconds, end_seconds, parts)
FROM STDIN (FORMAT binary);

-- name: analyze_import
-- Analyze the tables that entries are joined from: the planner takes tables that were never counted for small.
ANALYZE document, indexed_document, chunk, embedding;

-- name: sum_import
-- Add up the seals of the passages and entries of a new generation by document.
-- Into a table of its own, because the server reads what it updates an existing one with in one process alone.
CREATE TEMPORARY TABLE imported_sum ON COMMIT DROP AS
SELECT entry.document_id, sum(chunk_seal(chunk)) AS prepared, count(*) AS entries, sum(entry_seal(entry, chunk)) AS digest
FROM search_entry entry JOIN chunk ON chunk.id = entry.chunk_id
WHERE entry.generation_id = %(generation)s GROUP BY 1;

-- name: import_proof
-- Keep the sums of the passages and entries of a new generation, by which the ledger proves itself.
UPDATE indexed_document indexed
SET prepared_digest = coalesce(published.prepared, 0), published_chunks = coalesce(published.entries, 0),
    published_digest = coalesce(published.digest, 0), words_version = words_version()
FROM indexed_document known LEFT JOIN pg_temp.imported_sum published USING (document_id)
WHERE known.generation_id = %(generation)s
  AND indexed.generation_id = %(generation)s AND indexed.document_id = known.document_id;

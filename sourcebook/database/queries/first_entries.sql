-- name: is_unused_generation
-- Return whether a generation has no entry and no statistics.
SELECT NOT EXISTS (SELECT FROM search_entry WHERE generation_id = %(generation)s)
       AND NOT EXISTS (SELECT FROM lexeme WHERE generation_id = %(generation)s)
       AND NOT EXISTS (SELECT FROM keyword_block_size WHERE generation_id = %(generation)s);

-- name: count_first_audiences
-- Count the entries of a generation that not everyone may see.
SELECT count_documents_for(array_agg(id), array_agg(audience_id), 1, %(generation)s)
FROM document WHERE audience_id <> 1
HAVING count(*) > 0;

-- name: record_first_entries
-- Record the numbers of entries and texts of a generation, and return the average length that its weights are computed with.
-- The length is counted where no average length is recorded yet, as that of an import is.
WITH counted AS (
    SELECT count(*) AS entries, count(DISTINCT chunk.embedding_hash) AS texts
    FROM search_entry entry JOIN chunk ON chunk.id = entry.chunk_id
    WHERE entry.generation_id = %(generation)s
), measured AS (
    SELECT sum(keyword_length(lexemes)) AS length FROM search_entry
    WHERE generation_id = %(generation)s AND (SELECT average_length IS NULL FROM generation WHERE id = %(generation)s)
)
UPDATE generation
SET entry_count = entries, text_count = texts,
    average_length = coalesce(average_length, open_average(id, entries, length)),
    averaged_entries = CASE WHEN average_length IS NULL THEN entries ELSE averaged_entries END
FROM counted, measured WHERE id = %(generation)s
RETURNING average_length::float8;

-- name: entries_with_words
-- Return the words of the entries in a partition that have any, and who sees each, in the order of their chunks.
SELECT chunk_id, lexemes::text, counted_under(generation_id, chunk_id) FROM {partition} WHERE length(lexemes) > 0 ORDER BY chunk_id;

-- name: copy_keyword_entries
-- Copy keyword weights into the partition of a generation; each row is sealed.
COPY {partition} (generation_id, chunk_id, length, weights, block, slot, count_id) FROM STDIN (FORMAT binary);

-- name: copy_keyword_blocks
-- Copy the weights of blocks by lexeme.
COPY keyword_block (generation_id, lexeme_id, block, weights) FROM STDIN (FORMAT binary);

-- name: create_vocabulary
-- Create temporary tables of the lexemes of new entries with their numbers, and of their counts by block.
CREATE TEMPORARY TABLE new_lexeme (token text COLLATE "C" PRIMARY KEY, id integer NOT NULL) ON COMMIT DROP;
CREATE TEMPORARY TABLE new_lexeme_count (id integer NOT NULL, entries integer NOT NULL) ON COMMIT DROP;

-- name: number_lexemes
-- Number those lexemes of a block that no earlier block has.
INSERT INTO pg_temp.new_lexeme (token, id)
SELECT token, nextval(sequence)
FROM (SELECT pg_get_serial_sequence('lexeme', 'id')::regclass AS sequence OFFSET 0) found,
     unnest(%(lexemes)s::text[]) AS given (token)
WHERE NOT EXISTS (SELECT FROM pg_temp.new_lexeme known WHERE known.token = given.token);

-- name: count_lexemes
-- Keep how many entries of a block have each of its lexemes, and return the numbers of these in order.
WITH given AS MATERIALIZED (
    SELECT id, entries, place
    FROM unnest(%(lexemes)s::text[], %(entries)s::integer[]) WITH ORDINALITY AS given (token, entries, place)
    JOIN pg_temp.new_lexeme USING (token)
), counted AS (
    INSERT INTO pg_temp.new_lexeme_count (id, entries) SELECT id, entries FROM given
)
SELECT id FROM given ORDER BY place;

-- name: insert_first_lexemes
-- Insert the vocabulary of a generation, with the number of entries that have each lexeme.
INSERT INTO lexeme (generation_id, token, id, entries) OVERRIDING SYSTEM VALUE
SELECT %(generation)s, token, id, counted.entries
FROM pg_temp.new_lexeme
JOIN (SELECT id, sum(entries) AS entries FROM pg_temp.new_lexeme_count GROUP BY id) counted USING (id)
ORDER BY token;

-- name: drop_vocabulary
-- Drop the temporary tables of a vocabulary; another collection of the same import makes its own.
DROP TABLE pg_temp.new_lexeme, pg_temp.new_lexeme_count;

-- name: record_total_length
-- Record the length of all entries of a generation.
UPDATE generation SET total_length = %(total_length)s WHERE id = %(generation)s;

-- name: insert_block_sizes
-- Insert the sizes of the blocks of a generation, which are full, with their sums.
INSERT INTO keyword_block_size (generation_id, block, entries, lexemes, digest)
SELECT %(generation)s, block, %(entries)s, count(*), sum(keyword_block_seal(held))
FROM keyword_block held WHERE generation_id = %(generation)s GROUP BY block;

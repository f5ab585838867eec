-- name: keyword_upkeep
-- Return the state of a generation's keyword weights and blocks.
--
-- Columns: relative change of the average length since the weights were computed; entries now and then; entries in no
-- block; the highest block; the blocks that have lost too many entries; entries outside the HNSW index.
SELECT coalesce(abs(open_average(id, entry_count, total_length)::float8 / average_length - 1), 0),
       entry_count, coalesce(averaged_entries, 0),
       (SELECT count(*) FROM keyword_entry WHERE generation_id = %(generation)s AND block IS NULL),
       (SELECT coalesce(max(block), 0) FROM keyword_block_size WHERE generation_id = %(generation)s),
       ARRAY(SELECT block FROM keyword_block_size WHERE generation_id = %(generation)s AND entries < %(fewest)s),
       (SELECT count(*) FROM search_entry WHERE generation_id = %(generation)s AND NOT in_graph)
FROM generation WHERE id = %(generation)s;

-- name: hold_generation
-- Lock a generation against publishing until the transaction ends; publishing locks this row before keyword_entry.
SELECT FROM generation WHERE id = %(generation)s FOR NO KEY UPDATE;

-- name: renew_average_length
-- Record the current average length and number of entries.
UPDATE generation
SET average_length = open_average(id, entry_count, total_length), averaged_entries = entry_count
WHERE id = %(generation)s;

-- name: delete_keyword_weights
-- Delete all keyword weights of a generation.
DELETE FROM keyword_entry WHERE generation_id = %(generation)s;

-- name: insert_keyword_weights
-- Insert the keyword weights of every entry of a generation.
INSERT INTO keyword_entry (generation_id, chunk_id, length, weights, count_id)
SELECT %(generation)s, chunk_id, length, weights, counted_under(%(generation)s, chunk_id)
FROM keyword_weights(%(generation)s, ARRAY(SELECT chunk_id FROM search_entry WHERE generation_id = %(generation)s))
ORDER BY chunk_id;

-- name: delete_keyword_blocks
-- Delete all blocks of a generation.
WITH sizes AS (
    DELETE FROM keyword_block_size WHERE generation_id = %(generation)s
)
DELETE FROM keyword_block WHERE generation_id = %(generation)s;

-- name: leave_keyword_blocks
-- Remove the remaining entries of given blocks from them.
UPDATE keyword_entry SET block = NULL, slot = NULL WHERE generation_id = %(generation)s AND block = ANY(%(blocks)s);

-- name: delete_sparse_keyword_blocks
-- Delete given blocks.
WITH sizes AS (
    DELETE FROM keyword_block_size WHERE generation_id = %(generation)s AND block = ANY(%(blocks)s)
)
DELETE FROM keyword_block WHERE generation_id = %(generation)s AND block = ANY(%(blocks)s);

-- name: enter_keyword_block
-- Assign the first entries without a block to a new block.
WITH entered AS (
    UPDATE keyword_entry entry
    SET block = %(block)s, slot = chosen.slot
    FROM (
        SELECT chunk_id, row_number() OVER (ORDER BY chunk_id) AS slot
        FROM keyword_entry WHERE generation_id = %(generation)s AND block IS NULL
        ORDER BY chunk_id LIMIT %(size)s
    ) chosen
    WHERE entry.generation_id = %(generation)s AND entry.chunk_id = chosen.chunk_id
    RETURNING entry.chunk_id
)
INSERT INTO keyword_block_size (generation_id, block, entries)
SELECT %(generation)s, %(block)s, count(*) FROM entered;

-- name: build_keyword_block
-- Insert the weights of a block by lexeme, and record their sum.
WITH gathered AS (
    INSERT INTO keyword_block (generation_id, lexeme_id, block, weights)
    SELECT %(generation)s, posting.lexeme_id, %(block)s,
           ('{' || string_agg(entry.slot || ':' || posting.weight, ',') || '}/8000')::sparsevec(8000)
    FROM keyword_postings(
        %(generation)s,
        ARRAY(SELECT chunk_id FROM keyword_entry WHERE generation_id = %(generation)s AND block = %(block)s)) AS posting
    JOIN keyword_entry entry ON entry.generation_id = %(generation)s AND entry.chunk_id = posting.chunk_id
    GROUP BY posting.lexeme_id
    RETURNING keyword_block_seal(keyword_block) AS seal
)
UPDATE keyword_block_size held SET lexemes = total.lexemes, digest = total.digest
FROM (SELECT count(*) AS lexemes, coalesce(sum(seal), 0) AS digest FROM gathered) total
WHERE held.generation_id = %(generation)s AND held.block = %(block)s;

-- name: analyze_lexemes
-- Analyze the vocabulary: the planner takes one that was never counted for small, which makes this stage 25 times slower.
ANALYZE lexeme;

-- name: vacuum_table
-- Make the space of deleted rows reusable, and analyze the table for the planner.
VACUUM (ANALYZE) {table};

-- name: enter_graph
-- Enter some entries in the HNSW index; of a partition itself, no trigger of `search_entry` follows.
-- Entries that a publisher replaces now are left out.
UPDATE {partition} SET in_graph = true
WHERE NOT in_graph AND chunk_id IN (SELECT chunk_id FROM {partition} WHERE NOT in_graph ORDER BY chunk_id LIMIT %(most)s
    FOR UPDATE SKIP LOCKED);

-- name: suspicion
-- Return the marks of foreign statements on a collection, their tables, and whether the tables were restored or replaced.
SELECT coalesce(array_agg(mark.id), '{}'), coalesce(array_agg(DISTINCT mark.relation), '{}'),
       (SELECT count(*) > 0
        FROM collection JOIN generation ON generation.id IN (active_generation_id, building_generation_id)
        WHERE collection.name = %(collection)s AND storage IS DISTINCT FROM storage_identity(generation.id))
FROM foreign_change mark WHERE mark.collection = %(collection)s;

-- name: note_comparison
-- Record that sources, inventory and documents were compared after foreign statements.
UPDATE foreign_change SET compared = true WHERE id = ANY(%(marks)s);

-- name: forget_foreign_changes
-- Delete marks of foreign statements that are settled: the index is proven, and the ledger was compared where they changed it.
DELETE FROM foreign_change
WHERE id = ANY(%(marks)s)
  AND (compared OR relation ~ '^(chunk|indexed_document|embedding|lexeme|text_configuration|search_entry|keyword)');

-- name: record_storage
-- Record where the tables of a generation are stored, once its rows are proven.
UPDATE generation SET storage = storage_identity(id)
WHERE id = %(generation)s AND storage IS DISTINCT FROM storage_identity(id);

-- name: distrust_other_generations
-- Let the generations that no ingest follows be proven when they become active again.
UPDATE generation SET storage = NULL
FROM collection
WHERE collection.name = generation.collection AND collection.name = %(collection)s AND storage IS NOT NULL
  AND generation.id IS DISTINCT FROM active_generation_id AND generation.id IS DISTINCT FROM building_generation_id;

-- name: damaged_documents
-- Return the documents whose chunks and entries are not those that were prepared and published, with the reason.
WITH entry AS (
    SELECT entry.document_id, count(*) AS entries, count(*) FILTER (WHERE chunk.id IS NULL) AS lost,
           count(*) FILTER (WHERE vector_dims(entry.vector) IS DISTINCT FROM  -- generated indexes have none on purpose
               CASE WHEN chunk.embedding_hash IS NOT NULL THEN %(dimensions)s END) AS vectors,
           count(*) FILTER (WHERE entry.vector IS NULL AND chunk.embedding_hash IS NOT NULL) AS without_vector,
           sum(entry_seal(entry, chunk)) AS digest
    FROM search_entry entry
    LEFT JOIN chunk ON chunk.id = entry.chunk_id AND chunk.generation_id = entry.generation_id
                   AND chunk.document_id = entry.document_id
    WHERE entry.generation_id = %(generation)s GROUP BY 1
), loose AS (
    SELECT chunk.document_id, count(*) AS chunks, sum(chunk_seal(chunk)) AS digest
    FROM chunk
    LEFT JOIN search_entry entry ON entry.generation_id = %(generation)s AND entry.chunk_id = chunk.id
                                AND entry.document_id = chunk.document_id
    WHERE chunk.generation_id = %(generation)s AND entry.chunk_id IS NULL GROUP BY 1
), known AS (
    SELECT indexed.*, seal IS DISTINCT FROM indexed_document_seal(indexed) AS is_changed,
           published_hash IS NOT DISTINCT FROM input_hash
               AND published_config IS NOT DISTINCT FROM config_hash AS is_newest
    FROM indexed_document indexed WHERE generation_id = %(generation)s
)
SELECT document_id, document.uri, document.id IS NOT NULL AND document.removed_at IS NULL AS is_live, held.reason
FROM known FULL JOIN entry USING (document_id) FULL JOIN loose USING (document_id)
LEFT JOIN document ON document.id = document_id AND document.collection = %(collection)s
CROSS JOIN LATERAL (SELECT CASE
    WHEN document.id IS NULL THEN 'its document is not in the collection'
    WHEN known.generation_id IS NULL THEN 'the record of what is published is gone'
    WHEN known.damage IS NOT NULL THEN known.damage
    WHEN known.is_changed THEN 'the record of what is published was changed'
    WHEN entry.lost > 0 THEN format('%%s of %%s entries have no passage', entry.lost, entry.entries)
    WHEN entry.vectors > CASE WHEN known.awaits_vectors THEN entry.without_vector ELSE 0 END THEN format('%%s of %%s vectors are missing, unwanted or of the wrong length', entry.vectors, entry.entries)
    WHEN coalesce(entry.entries, 0) <> coalesce(known.published_chunks, 0)
        THEN format('%%s entries instead of %%s', coalesce(entry.entries, 0), coalesce(known.published_chunks, 0))
    WHEN coalesce(entry.digest, 0) <> coalesce(known.published_digest, 0)
        THEN 'a passage, its vector or its words are not those that were published'
    WHEN known.is_newest AND loose.chunks > 0 THEN format('%%s passages have no entry', loose.chunks)
    WHEN NOT known.is_newest AND coalesce(loose.chunks, 0) <> known.chunk_count
        THEN format('%%s prepared passages instead of %%s', coalesce(loose.chunks, 0), known.chunk_count)
    WHEN NOT known.is_newest AND coalesce(loose.digest, 0) IS DISTINCT FROM known.prepared_digest
        THEN 'a prepared passage is not the one that was cut'
    END AS reason) held
WHERE held.reason IS NOT NULL
ORDER BY document.uri, document_id;

-- name: damaged_files
-- Return the live files whose row in the inventory is not the one that was written.
SELECT raw_file.uri FROM raw_file JOIN source ON source.id = raw_file.source_id
WHERE source.collection = %(collection)s AND raw_file.removed_at IS NULL
  AND CASE WHEN raw_file.seal IS DISTINCT FROM raw_file_seal(raw_file) THEN true
           WHEN source.kind <> 'uploads' THEN raw_file.tags <> '{}'
           WHEN raw_file.modified = '' THEN false  -- it is read again already
           ELSE raw_file.tags <> ARRAY(  -- its time of change is "sha256", the hash and the tags: see `Listing`
               SELECT jsonb_array_elements_text(substr(raw_file.modified, 73)::jsonb)) END
ORDER BY raw_file.uri;

-- name: distrust_files
-- Let the files be read again whose row in the inventory is not the one that was written.
UPDATE raw_file SET modified = '', skip_reason = NULL, failure = NULL, failure_class = NULL, sha256 = NULL, tags = '{}'
FROM source
WHERE source.id = raw_file.source_id AND source.collection = %(collection)s
  AND CASE WHEN raw_file.seal IS DISTINCT FROM raw_file_seal(raw_file) THEN true
           WHEN source.kind <> 'uploads' THEN raw_file.tags <> '{}'
           WHEN raw_file.modified = '' THEN false  -- it is read again already
           ELSE raw_file.tags <> ARRAY(SELECT jsonb_array_elements_text(substr(raw_file.modified, 73)::jsonb)) END;

-- name: damaged_contents
-- Return documents whose parsed content is gone or is not the one that they were made from, with the reason.
SELECT document.id, document.uri,
       CASE WHEN document.seal IS DISTINCT FROM document_seal(document) THEN 'the record of the document was changed'
            WHEN parsed.sha256 IS NULL THEN 'its parsed content is gone'
            WHEN NOT attachments_are_whole(parsed) THEN 'its attachments are not those that it came with'
            ELSE 'its parsed content was changed' END
FROM document
LEFT JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
WHERE document.collection = %(collection)s AND document.removed_at IS NULL
  AND (document.seal IS DISTINCT FROM document_seal(document)
       OR document.content_hash IS NOT NULL
          AND (parsed.sha256 IS NULL
               OR parsed.seal IS DISTINCT FROM parsed_content_seal(parsed) OR NOT attachments_are_whole(parsed)))
ORDER BY document.uri;

-- name: damaged_pages
-- Return the live pages whose row is gone or is not the one that was written, with the reason.
SELECT page.url, 'the record of the page was changed'
FROM crawled_page page JOIN source ON source.id = page.source_id
WHERE source.collection = %(collection)s AND source.removed_at IS NULL AND page.seal IS DISTINCT FROM crawled_page_seal(page)
  AND (page.removed_at IS NULL OR EXISTS (
      SELECT FROM frontier
      WHERE frontier.source_id = page.source_id AND frontier.url = page.url AND frontier.state = 'fetched'))
UNION ALL
SELECT frontier.url, 'the record of the page is gone'
FROM frontier JOIN source ON source.id = frontier.source_id
WHERE source.collection = %(collection)s AND source.removed_at IS NULL
  AND frontier.state = 'fetched' AND frontier.role <> 'list'
  AND NOT EXISTS (
      SELECT FROM crawled_page page WHERE page.source_id = frontier.source_id AND page.url = frontier.url)
ORDER BY 1;

-- name: damaged_recordings
-- Return the live recordings whose rows are gone or are not those that were written, with the reason.
SELECT transcribed.source_id, transcribed.uri,
       CASE WHEN transcribed.seal IS DISTINCT FROM transcribed_file_seal(transcribed)
                THEN 'the record of the recording was changed'
            WHEN recording.seal IS DISTINCT FROM recording_seal(recording) OR recording.sha256 IS NULL
                THEN 'the description of the recording is gone or was changed'
            ELSE 'its transcript is gone or was changed' END
FROM transcribed_file transcribed
JOIN raw_file file ON file.source_id = transcribed.source_id AND file.uri = transcribed.uri AND file.removed_at IS NULL
JOIN source ON source.id = transcribed.source_id
LEFT JOIN recording ON recording.sha256 = transcribed.sha256
LEFT JOIN transcript ON transcript.sound_sha256 = transcribed.sound_sha256 AND transcript.engine = transcribed.engine
WHERE source.collection = %(collection)s AND source.removed_at IS NULL
  AND (transcribed.seal IS DISTINCT FROM transcribed_file_seal(transcribed)
       OR transcribed.content_hash IS NOT NULL
          AND (recording.sha256 IS NULL OR recording.seal IS DISTINCT FROM recording_seal(recording)
               OR transcript.engine IS NULL OR NOT transcript_is_whole(transcript)))
ORDER BY transcribed.uri;

-- name: distrust_recordings
-- Let recordings be described again, and transcribed where their transcript is not kept.
UPDATE transcribed_file SET input_hash = ''
FROM unnest(%(source_ids)s::bigint[], %(uris)s::text[]) AS damaged (source_id, uri)
WHERE transcribed_file.source_id = damaged.source_id AND transcribed_file.uri = damaged.uri;

-- name: wrong_tallies
-- Return the kinds of kept counts of a collection that differ from a count.
SELECT kind
FROM unnest(ARRAY['raw_files', 'crawled_pages', 'documents', 'removed']) AS kinds (kind)
CROSS JOIN LATERAL counted_items(%(collection)s, kinds.kind) AS counted
CROSS JOIN LATERAL (
    SELECT coalesce(sum(items), 0) AS items, coalesce(sum(digest), 0) AS digest
    FROM tally WHERE tally.collection = %(collection)s AND tally.kind = kinds.kind) kept
WHERE (kept.items, kept.digest) IS DISTINCT FROM (counted.items, counted.digest);

-- name: damaged_vectors
-- Return the cached vectors that are not those that were computed, and those of published passages that are gone.
SELECT model, text_hash FROM embedding
WHERE seal IS DISTINCT FROM embedding_seal(embedding)
   OR model = %(model)s AND vector_dims(vector) IS DISTINCT FROM %(dimensions)s
UNION ALL
SELECT DISTINCT %(model)s, chunk.embedding_hash
FROM search_entry entry JOIN chunk ON chunk.id = entry.chunk_id AND chunk.generation_id = entry.generation_id
WHERE entry.generation_id = %(generation)s AND chunk.embedding_hash IS NOT NULL AND entry.vector IS NOT NULL
  AND NOT EXISTS (SELECT FROM embedding WHERE embedding.model = %(model)s AND text_hash = chunk.embedding_hash);

-- name: wrong_statistics
-- Return each kind of kept number of a generation that differs from a count of its entries, with how many do.
WITH word AS (
    SELECT lexeme COLLATE "C" AS token, count(*) AS entries, sum(cardinality(positions)) AS length
    FROM search_entry CROSS JOIN LATERAL unnest(lexemes)
    WHERE generation_id = %(generation)s GROUP BY 1
), configuration AS (
    SELECT configuration AS name, count(*) AS entries FROM search_entry WHERE generation_id = %(generation)s GROUP BY 1
), member AS (
    SELECT block, count(*) AS entries FROM keyword_entry
    WHERE generation_id = %(generation)s AND block IS NOT NULL GROUP BY 1
), gathered AS (
    SELECT block, count(*) AS lexemes, sum(keyword_block_seal(keyword_block)) AS digest
    FROM keyword_block WHERE generation_id = %(generation)s GROUP BY 1
), wrong AS (
    SELECT 'document frequency' AS kind, count(*) AS number
    FROM word FULL JOIN (SELECT token, entries FROM lexeme WHERE generation_id = %(generation)s AND entries <> 0) kept
        USING (token)
    WHERE word.entries IS DISTINCT FROM kept.entries
    UNION ALL
    SELECT 'count by language', count(*)
    FROM configuration FULL JOIN (
        SELECT name, entries FROM text_configuration WHERE generation_id = %(generation)s AND entries <> 0) kept USING (name)
    WHERE configuration.entries IS DISTINCT FROM kept.entries
    UNION ALL
    SELECT 'count of entries', count(*) FROM generation
    WHERE id = %(generation)s
      AND (entry_count IS DISTINCT FROM (SELECT count(*) FROM search_entry WHERE generation_id = %(generation)s)
           OR total_length IS DISTINCT FROM (SELECT coalesce(sum(length), 0) FROM word)
           OR text_count IS DISTINCT FROM (
               SELECT count(DISTINCT chunk.embedding_hash) FROM search_entry entry JOIN chunk ON chunk.id = entry.chunk_id
               WHERE entry.generation_id = %(generation)s))
    UNION ALL
    SELECT 'average length', count(*) FROM generation
    WHERE id = %(generation)s AND (SELECT sum(length) FROM word) > 0
      AND (average_length IS NULL OR average_length <= 0 OR average_length = 'NaN' OR averaged_entries IS NULL)
    UNION ALL
    SELECT 'keyword weight', count(*)
    FROM (SELECT chunk_id FROM search_entry WHERE generation_id = %(generation)s AND length(lexemes) > 0) entry
    FULL JOIN (SELECT * FROM keyword_entry WHERE generation_id = %(generation)s) kept USING (chunk_id)
    WHERE entry.chunk_id IS NULL OR kept.seal IS NULL
       OR kept.seal <> hash_record_extended(
           ROW(kept.chunk_id, kept.length, sparsevec_send(kept.weights), kept.block, kept.slot), 0)
    UNION ALL
    SELECT 'block', count(*)
    FROM (SELECT * FROM keyword_block_size WHERE generation_id = %(generation)s) kept
    FULL JOIN member USING (block) FULL JOIN gathered USING (block)
    WHERE kept.entries IS DISTINCT FROM coalesce(member.entries, 0)
       OR kept.lexemes IS DISTINCT FROM coalesce(gathered.lexemes, 0)
       OR kept.digest IS DISTINCT FROM coalesce(gathered.digest, 0)
)
SELECT kind, number FROM wrong WHERE number > 0;

-- name: wrong_weights
-- Return the entries of the keyword leg that are not those of their words, with their blocks: each weight is computed.
SELECT chunk_id, kept.block
FROM keyword_weights(%(generation)s, ARRAY(SELECT chunk_id FROM search_entry WHERE generation_id = %(generation)s)) AS wanted
FULL JOIN (SELECT * FROM keyword_entry WHERE generation_id = %(generation)s) kept USING (chunk_id)
WHERE (wanted.length, wanted.weights::text, kept.seal) IS DISTINCT FROM (kept.length, kept.weights::text, hash_record_extended(
    ROW(kept.chunk_id, kept.length, sparsevec_send(kept.weights), kept.block, kept.slot), 0));

-- name: wrong_blocks
-- Return the blocks of the keyword leg whose rows or numbers are not those that were gathered.
WITH member AS (
    SELECT block, count(*) AS entries FROM keyword_entry
    WHERE generation_id = %(generation)s AND block IS NOT NULL GROUP BY 1
), gathered AS (
    SELECT block, count(*) AS lexemes, sum(keyword_block_seal(keyword_block)) AS digest
    FROM keyword_block WHERE generation_id = %(generation)s GROUP BY 1
)
SELECT block
FROM (SELECT * FROM keyword_block_size WHERE generation_id = %(generation)s) kept
FULL JOIN member USING (block) FULL JOIN gathered USING (block)
WHERE kept.entries IS DISTINCT FROM coalesce(member.entries, 0)
   OR kept.lexemes IS DISTINCT FROM coalesce(gathered.lexemes, 0)
   OR kept.digest IS DISTINCT FROM coalesce(gathered.digest, 0);

-- name: delete_stray_entries
-- Delete entries that belong to no passage of their document.
DELETE FROM search_entry entry
WHERE generation_id = %(generation)s
  AND (document_id = ANY(%(strays)s) OR NOT EXISTS (
      SELECT FROM chunk WHERE chunk.id = entry.chunk_id AND chunk.generation_id = entry.generation_id
                          AND chunk.document_id = entry.document_id));

-- name: delete_document_rows
-- Delete everything that a generation holds of documents that are not live in its collection.
WITH entries AS (
    DELETE FROM search_entry WHERE generation_id = %(generation)s AND document_id = ANY(%(documents)s)
)
DELETE FROM indexed_document WHERE generation_id = %(generation)s AND document_id = ANY(%(documents)s);

-- name: delete_document_chunks
-- Delete the chunks of documents, published or not.
DELETE FROM chunk WHERE generation_id = %(generation)s AND document_id = ANY(%(documents)s);

-- name: mark_damage
-- Let documents be prepared and published again, whatever is published of them; that stays until it is replaced.
INSERT INTO indexed_document AS known
    (generation_id, document_id, input_hash, config_hash, chunk_count, prepared_digest, damage)
SELECT %(generation)s, id, '', '', 0, 0, reason
FROM unnest(%(documents)s::bigint[], %(reasons)s::text[]) AS damaged (id, reason)
ON CONFLICT (generation_id, document_id) DO UPDATE
SET input_hash = '', published_config = NULL, damage = excluded.damage;

-- name: forget_contents
-- Let documents be made again from their files; the content of a page comes from its site alone, see distrust_pages.
UPDATE document SET input_hash = ''
WHERE id = ANY(%(documents)s)
  AND NOT (kind = 'page' AND EXISTS (
      SELECT FROM crawled_page page
      LEFT JOIN parsed_content parsed ON parsed.sha256 = page.sha256 AND parsed.parser = page.parser
      WHERE page.source_id = document.source_id AND page.url = document.uri AND page.parser IS NOT NULL
        AND parsed.seal IS DISTINCT FROM parsed_content_seal(parsed)));

-- name: distrust_pages
-- Let pages be fetched again whose row or content is gone or is not the one that was stored, and all where rows were changed.
WITH damaged AS (
    SELECT page.source_id, page.url
    FROM crawled_page page
    JOIN source ON source.id = page.source_id
    LEFT JOIN parsed_content parsed ON parsed.sha256 = page.sha256 AND parsed.parser = page.parser
    WHERE source.collection = %(collection)s
      AND (page.seal IS DISTINCT FROM crawled_page_seal(page)
           OR page.removed_at IS NULL AND page.parser IS NOT NULL
              AND parsed.seal IS DISTINCT FROM parsed_content_seal(parsed))
), distrusted AS (
    UPDATE crawled_page page SET cleaner = '', etag = NULL, last_modified = NULL, lastmod = NULL
    FROM damaged WHERE page.source_id = damaged.source_id AND page.url = damaged.url
)
UPDATE source SET next_crawl_at = now()
WHERE collection = %(collection)s AND kind = 'site' AND removed_at IS NULL AND next_crawl_at IS NOT NULL
  AND (%(every_site)s OR id IN (SELECT source_id FROM damaged));

-- name: distrust_urls
-- Let the next crawl of a site find its URLs again where a live page has none, or one that is gone.
UPDATE source SET crawl_scope = ''
WHERE collection = %(collection)s AND kind = 'site' AND removed_at IS NULL AND crawl_scope <> ''
  AND EXISTS (
      SELECT FROM crawled_page page
      LEFT JOIN frontier ON frontier.source_id = page.source_id AND frontier.url = page.url
      WHERE page.source_id = source.id AND page.removed_at IS NULL
        AND (frontier.id IS NULL OR frontier.state = 'gone'));

-- name: delete_stray_pages
-- Delete pages that no crawl has stored, and removed ones that somebody has made live.
DELETE FROM crawled_page page
WHERE (page.source_id IN (SELECT id FROM source WHERE collection = %(collection)s)
       OR NOT EXISTS (SELECT FROM source WHERE source.id = page.source_id))
  AND page.seal IS DISTINCT FROM crawled_page_seal(page)
  AND NOT EXISTS (
      SELECT FROM frontier
      WHERE frontier.source_id = page.source_id AND frontier.url = page.url
        AND (frontier.state <> 'gone' OR page.removed_at IS NOT NULL));

-- name: restore_vectors
-- Replace cached vectors by those of published passages with the same text.
INSERT INTO embedding (model, text_hash, vector)
SELECT DISTINCT ON (chunk.embedding_hash) %(model)s, chunk.embedding_hash, entry.vector
FROM chunk JOIN search_entry entry ON entry.generation_id = chunk.generation_id AND entry.chunk_id = chunk.id
WHERE chunk.generation_id = %(generation)s AND chunk.embedding_hash = ANY(%(texts)s) AND entry.vector IS NOT NULL
  AND NOT chunk.document_id = ANY(%(damaged)s)
ON CONFLICT (model, text_hash) DO UPDATE SET vector = excluded.vector;

-- name: delete_wrong_vectors
-- Delete cached vectors that are not those that were computed.
DELETE FROM embedding
WHERE seal IS DISTINCT FROM embedding_seal(embedding)
   OR model = %(model)s AND vector_dims(vector) IS DISTINCT FROM %(dimensions)s;

-- name: recount_lexemes
-- Count the entries of each lexeme of a generation.
WITH word AS (
    SELECT lexeme COLLATE "C" AS token, count(*) AS entries
    FROM search_entry CROSS JOIN LATERAL unnest(lexemes)
    WHERE generation_id = %(generation)s GROUP BY 1
), known AS (
    UPDATE lexeme SET entries = coalesce(word.entries, 0)
    FROM lexeme held LEFT JOIN word USING (token)
    WHERE held.generation_id = %(generation)s
      AND lexeme.generation_id = held.generation_id AND lexeme.token = held.token
      AND lexeme.entries <> coalesce(word.entries, 0)
)
INSERT INTO lexeme (generation_id, token, entries)
SELECT %(generation)s, token, entries FROM word
WHERE NOT EXISTS (SELECT FROM lexeme WHERE lexeme.generation_id = %(generation)s AND lexeme.token = word.token);

-- name: recount_configurations
-- Count the entries of each text-search configuration of a generation.
WITH counted AS (
    SELECT configuration AS name, count(*) AS entries FROM search_entry WHERE generation_id = %(generation)s GROUP BY 1
), gone AS (
    DELETE FROM text_configuration
    WHERE generation_id = %(generation)s AND name NOT IN (SELECT name FROM counted)
)
INSERT INTO text_configuration AS known (generation_id, name, entries)
SELECT %(generation)s, name, entries FROM counted
ON CONFLICT (generation_id, name) DO UPDATE SET entries = excluded.entries WHERE known.entries <> excluded.entries;

-- name: recount_entries
-- Count the entries, lexemes and texts of a generation.
UPDATE generation SET (entry_count, total_length, text_count) = (
    SELECT count(*), coalesce(sum(keyword_length(entry.lexemes)), 0), count(DISTINCT chunk.embedding_hash)
    FROM search_entry entry LEFT JOIN chunk ON chunk.id = entry.chunk_id
    WHERE entry.generation_id = %(generation)s)
WHERE id = %(generation)s;

-- name: delete_wrong_weights
-- Delete entries of the keyword leg.
DELETE FROM keyword_entry WHERE generation_id = %(generation)s AND chunk_id = ANY(%(chunks)s);

-- name: insert_missing_weights
-- Insert the keyword weights of entries of a generation.
INSERT INTO keyword_entry (generation_id, chunk_id, length, weights, count_id)
SELECT %(generation)s, chunk_id, length, weights, counted_under(%(generation)s, chunk_id)
FROM keyword_weights(%(generation)s, %(chunks)s);

-- name: forget_preparation
-- Let the next stages compare every document of a generation.
WITH shards AS (
    DELETE FROM shard_preparation WHERE generation_id = %(generation)s
)
UPDATE generation SET prepared_with = NULL WHERE id = %(generation)s;

-- name: hold_snapshot
-- Let every statement of this transaction see the same rows.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;

-- The proof. Sums over what each transaction of the library published are kept beside it, and a statement of anybody else
-- leaves a mark: while there is no mark, and the tables are stored where they were, the sums need not be compared.

ALTER TABLE generation ADD COLUMN storage text;  -- storage_identity when its rows were last proven
ALTER TABLE indexed_document
    ADD COLUMN prepared_digest numeric,  -- sum of chunk_seal over the prepared chunks
    ADD COLUMN published_chunks integer, -- number of entries that were published
    ADD COLUMN published_digest numeric, -- sum of entry_seal over them
    ADD COLUMN damage text,              -- reason why the document is to be prepared and published again
    ADD COLUMN seal bigint;              -- indexed_document_seal of the row
ALTER TABLE raw_file ADD COLUMN seal bigint;
ALTER TABLE parsed_content ADD COLUMN seal bigint;
ALTER TABLE document ADD COLUMN seal bigint;
ALTER TABLE embedding ADD COLUMN seal bigint;
ALTER TABLE keyword_entry ADD COLUMN seal bigint;
ALTER TABLE keyword_block_size
    ADD COLUMN lexemes integer,          -- rows of the block in keyword_block
    ADD COLUMN digest numeric;           -- sum of keyword_block_seal over them
CREATE INDEX indexed_document_damaged ON indexed_document (generation_id) WHERE damage IS NOT NULL;

-- Marks of statements that were not the library's, one for each collection; a run deletes those that it read once
-- everything is compared.
CREATE TABLE foreign_change (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL,
    relation text NOT NULL,              -- the table, or the partition
    operation text NOT NULL,
    compared boolean NOT NULL DEFAULT false,  -- whether sources, inventory and documents were compared since
    made_by text NOT NULL DEFAULT session_user,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX foreign_change_collection ON foreign_change (collection);

-- Digests of rows. The functions that hash a record are those of hash partitions, which no version of PostgreSQL changes.
CREATE FUNCTION chunk_seal(held chunk) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.ordinal, held.text, held.context, held.heading_path, held.anchor, held.page, held.start_char, held.end_char,
    held.token_count, held.hash, held.embedding_hash, held.start_seconds, held.end_seconds), 0);

CREATE FUNCTION entry_seal(held search_entry, passage chunk) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    chunk_seal(passage), halfvec_send(held.vector), tsvectorsend(held.lexemes), held.configuration), 0);

CREATE FUNCTION embedding_seal(held embedding) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(held.model, held.text_hash, halfvec_send(held.vector)), 0);

CREATE FUNCTION keyword_entry_seal(held keyword_entry) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(held.chunk_id, held.length, sparsevec_send(held.weights), held.block, held.slot), 0);

CREATE FUNCTION keyword_block_seal(held keyword_block) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(held.lexeme_id, held.block, sparsevec_send(held.weights)), 0);

CREATE FUNCTION indexed_document_seal(held indexed_document) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.generation_id, held.document_id, held.input_hash, held.config_hash, held.chunk_count, held.published_hash,
    held.published_config, held.published_version, held.published_title, held.published_language, held.published_at,
    held.uncovered, held.prepared_digest, held.published_chunks, held.published_digest), 0);

CREATE FUNCTION raw_file_seal(held raw_file) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.source_id, held.uri, held.size, held.modified, held.sha256, held.media_type, held.skip_reason, held.failure), 0);

CREATE FUNCTION parsed_content_seal(held parsed_content) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.sha256, held.parser, held.markdown, held.blocks, held.title, held.page_count, held.language, held.metadata,
    held.content_hash, held.nothing_to_read), 0);

CREATE FUNCTION document_seal(held document) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.id, held.collection, held.source_id, held.uri, held.kind, held.media_type, held.tags, held.title, held.language,
    held.metadata, held.input_hash, held.config_hash, held.content_sha256, held.content_parser, held.content_hash,
    held.version), 0);

-- Seal rows that the library writes. A row that anybody else changes keeps its old seal, which no longer fits.
CREATE FUNCTION seal_row() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_ARGV[0] = 'embedding' THEN
        NEW.seal := embedding_seal(NEW);
    ELSIF TG_ARGV[0] = 'keyword_entry' THEN
        NEW.seal := keyword_entry_seal(NEW);
    ELSIF TG_ARGV[0] = 'raw_file' THEN
        NEW.seal := raw_file_seal(NEW);
    ELSIF TG_ARGV[0] = 'parsed_content' THEN
        NEW.seal := parsed_content_seal(NEW);
    ELSIF TG_ARGV[0] = 'document' THEN
        NEW.seal := document_seal(NEW);
    ELSE
        NEW.seal := indexed_document_seal(NEW);
    END IF;
    RETURN NEW;
END
$$;

-- Mark a statement that is not the library's.
CREATE FUNCTION note_foreign_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = sourcebook, public
AS $$
BEGIN
    INSERT INTO foreign_change (collection, relation, operation) SELECT name, TG_TABLE_NAME, TG_OP FROM collection;
    RETURN NULL;
END
$$;

-- Whether this session is one of the library's connections.
CREATE FUNCTION is_library() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN current_setting('sourcebook.writer', true) IS NOT DISTINCT FROM 'library';

-- Mark the statements on a table that are not the library's; those of triggers and cascades follow from a marked one.
CREATE FUNCTION watch_table(watched regclass) RETURNS void
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    EXECUTE format(
        'CREATE TRIGGER foreign_changes AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s FOR EACH STATEMENT '
        'WHEN (pg_trigger_depth() = 0 AND NOT is_library()) EXECUTE FUNCTION note_foreign_change()', watched);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER foreign_changes', watched);
END
$$;

-- A digest of where the tables of a generation are stored, and of the triggers that watch them: another one after a
-- restore, after TRUNCATE, and after a trigger was disabled and enabled again.
CREATE FUNCTION storage_identity(of_generation bigint) RETURNS text
LANGUAGE sql STABLE
RETURN (
    SELECT md5((SELECT oid FROM pg_database WHERE datname = current_database())::text
        || string_agg(concat_ws(' ', held.oid, held.relfilenode, watch.oid, watch.xmin, watch.tgenabled), ',' ORDER BY held.oid))
    FROM pg_class held JOIN pg_trigger watch ON watch.tgrelid = held.oid AND watch.tgname = 'foreign_changes'
    WHERE held.relnamespace = 'sourcebook'::regnamespace
      AND (held.relname !~ '_[0-9]+$'  -- partitions, attached or not
           OR held.relname IN ('search_entry_' || of_generation, 'keyword_entry_' || of_generation)));

-- What is there is taken for sound, and is compared with its entries by the next run.
UPDATE raw_file SET seal = raw_file_seal(raw_file);
UPDATE parsed_content SET seal = parsed_content_seal(parsed_content);
UPDATE document SET seal = document_seal(document);
UPDATE embedding SET seal = embedding_seal(embedding);
UPDATE keyword_entry SET seal = keyword_entry_seal(keyword_entry);
UPDATE keyword_block_size held SET lexemes = block.lexemes, digest = block.digest
FROM (SELECT generation_id, block, count(*) AS lexemes, sum(keyword_block_seal(keyword_block)) AS digest
      FROM keyword_block GROUP BY 1, 2) block
WHERE block.generation_id = held.generation_id AND block.block = held.block;
UPDATE indexed_document indexed
SET prepared_digest = (
        SELECT coalesce(sum(chunk_seal(chunk)), 0) FROM chunk
        WHERE chunk.generation_id = indexed.generation_id AND chunk.document_id = indexed.document_id
          AND (indexed.published_hash IS NOT DISTINCT FROM indexed.input_hash
                   AND indexed.published_config IS NOT DISTINCT FROM indexed.config_hash
               OR NOT EXISTS (SELECT FROM search_entry entry
                              WHERE entry.generation_id = chunk.generation_id AND entry.chunk_id = chunk.id))),
    published_chunks = published.entries, published_digest = published.digest
FROM indexed_document held
LEFT JOIN LATERAL (
    SELECT count(*) AS entries, coalesce(sum(entry_seal(entry, chunk)), 0) AS digest
    FROM search_entry entry JOIN chunk ON chunk.id = entry.chunk_id
    WHERE entry.generation_id = held.generation_id AND entry.document_id = held.document_id
) published ON held.published_hash IS NOT NULL
WHERE held.generation_id = indexed.generation_id AND held.document_id = indexed.document_id;
UPDATE indexed_document SET seal = indexed_document_seal(indexed_document);

SELECT watch_table(name::regclass) FROM unnest(ARRAY[
    'collection', 'source', 'raw_file', 'listed_folder', 'parsed_content', 'crawled_page', 'recording', 'transcript',
    'transcript_window', 'transcribed_file', 'attachment', 'document', 'tally', 'changed_item', 'changed_document',
    'generation', 'chunk', 'indexed_document', 'embedding', 'search_entry', 'text_configuration', 'lexeme',
    'keyword_entry', 'keyword_block', 'keyword_block_size']) AS name;

CREATE TRIGGER raw_files_sealed BEFORE INSERT OR UPDATE ON raw_file
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('raw_file');
CREATE TRIGGER parsed_contents_sealed BEFORE INSERT OR UPDATE ON parsed_content
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('parsed_content');
CREATE TRIGGER documents_sealed BEFORE INSERT OR UPDATE ON document
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('document');
CREATE TRIGGER embeddings_sealed BEFORE INSERT OR UPDATE ON embedding
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('embedding');
CREATE TRIGGER keyword_entries_sealed BEFORE INSERT OR UPDATE ON keyword_entry
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('keyword_entry');
CREATE TRIGGER indexed_documents_sealed BEFORE INSERT OR UPDATE ON indexed_document
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('indexed_document');

SELECT watch_table(inhrelid) FROM pg_inherits WHERE inhparent IN ('search_entry'::regclass, 'keyword_entry'::regclass);

-- The proof. Sums over what each transaction of the library published are kept beside it, and a statement of anybody else
-- leaves a mark: while there is no mark, and the tables are stored where they were, the sums need not be compared.

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
-- JSON is hashed as it is sent: its own hash takes an empty object and an empty array for equal.
CREATE FUNCTION chunk_seal(held chunk) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN held.parts IS NULL THEN hash_record_extended(ROW(
    held.ordinal, held.text, held.context, held.heading_path, held.anchor, held.page, held.start_char, held.end_char,
    held.token_count, held.hash, held.embedding_hash, held.start_seconds, held.end_seconds), 0)
ELSE hash_record_extended(ROW(
    held.ordinal, held.text, held.context, held.heading_path, held.anchor, held.page, held.start_char, held.end_char,
    held.token_count, held.hash, held.embedding_hash, held.start_seconds, held.end_seconds, held.parts), 0) END;

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
    held.sha256, held.parser, held.markdown, jsonb_send(held.blocks), held.title, held.page_count, held.language,
    jsonb_send(held.metadata), held.content_hash, held.nothing_to_read), 0);

CREATE FUNCTION document_seal(held document) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN held.given_tags IS NULL AND held.given_title IS NULL THEN hash_record_extended(ROW(
    held.id, held.collection, held.source_id, held.uri, held.kind, held.media_type, held.tags, held.title, held.language,
    jsonb_send(held.metadata), held.input_hash, held.config_hash, held.content_sha256, held.content_parser,
    held.content_hash, held.version), 0)
WHEN held.given_title IS NULL THEN hash_record_extended(ROW(
    held.id, held.collection, held.source_id, held.uri, held.kind, held.media_type, held.tags, held.title, held.language,
    jsonb_send(held.metadata), held.input_hash, held.config_hash, held.content_sha256, held.content_parser,
    held.content_hash, held.version, held.given_tags, jsonb_send(held.given_metadata), held.own_tags,
    jsonb_send(held.own_metadata)), 0)
ELSE hash_record_extended(ROW(
    held.id, held.collection, held.source_id, held.uri, held.kind, held.media_type, held.tags, held.title, held.language,
    jsonb_send(held.metadata), held.input_hash, held.config_hash, held.content_sha256, held.content_parser,
    held.content_hash, held.version, held.given_tags, jsonb_send(held.given_metadata), held.own_tags,
    jsonb_send(held.own_metadata), held.given_title, held.own_title), 0) END;

CREATE FUNCTION attachment_seal(held attachment) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.container_sha256, held.container_parser, held.number, held.path, held.media_type, held.size, held.sha256,
    held.skip_reason), 0);

CREATE FUNCTION crawled_page_seal(held crawled_page) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.source_id, held.url, held.status, held.media_type, held.title, held.language, jsonb_send(held.metadata),
    held.canonical_url, held.content, held.size, held.sha256, held.links, held.rendered, held.parser, held.removed_at IS NULL), 0);

CREATE FUNCTION recording_seal(held recording) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.sha256, held.sound_sha256, held.duration, held.title, jsonb_send(held.metadata)), 0);

CREATE FUNCTION transcript_seal(held transcript) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.sound_sha256, held.engine, held.language, held.language_probability, held.windows), 0);

CREATE FUNCTION transcript_window_seal(held transcript_window) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.sound_sha256, held.engine, held.starts_at, held.ends_at, jsonb_send(held.segments)), 0);

CREATE FUNCTION transcribed_file_seal(held transcribed_file) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.source_id, held.uri, held.sha256, held.sound_sha256, held.engine, held.content_hash), 0);

-- Whether a message has the attachments that were found in it.
CREATE FUNCTION attachments_are_whole(held parsed_content) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT count(*) = coalesce(held.attachments, count(*))
           AND coalesce(bool_and(part.seal IS NOT DISTINCT FROM attachment_seal(part)), true)
    FROM attachment part
    WHERE part.container_sha256 = held.sha256 AND part.container_parser = held.parser);

-- Whether a transcript is the one that was made, as far as it goes.
CREATE FUNCTION transcript_is_whole(held transcript) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT held.seal IS NOT DISTINCT FROM transcript_seal(held)
           AND count(*) = coalesce(held.windows, count(*))
           AND coalesce(bool_and(part.seal IS NOT DISTINCT FROM transcript_window_seal(part)), true)
    FROM transcript_window part
    WHERE part.sound_sha256 = held.sound_sha256 AND part.engine = held.engine);

-- Seal rows that the library writes into tables of what was read from sources.
CREATE FUNCTION seal_source_row() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_ARGV[0] = 'attachment' THEN
        NEW.seal := attachment_seal(NEW);
    ELSIF TG_ARGV[0] = 'crawled_page' THEN
        NEW.seal := crawled_page_seal(NEW);
    ELSIF TG_ARGV[0] = 'recording' THEN
        NEW.seal := recording_seal(NEW);
    ELSIF TG_ARGV[0] = 'transcript' THEN
        NEW.seal := transcript_seal(NEW);
    ELSIF TG_ARGV[0] = 'transcript_window' THEN
        NEW.seal := transcript_window_seal(NEW);
    ELSE
        NEW.seal := transcribed_file_seal(NEW);
    END IF;
    RETURN NEW;
END
$$;

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

-- Mark a statement that is not the library's. A function that runs as its owner has the schema of temporary tables last:
-- else a table of the session would come before the one that is meant.
CREATE FUNCTION note_foreign_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = sourcebook, public, pg_temp
AS $$
BEGIN
    INSERT INTO foreign_change (collection, relation, operation) SELECT name, TG_TABLE_NAME, TG_OP FROM collection;
    RETURN NULL;
END
$$;

-- Whether the client's statement is one of the library's, by the comment that it begins with; see database/queries.py.
-- The session says nothing: somebody else's statement over the library's own connection has no such comment.
CREATE FUNCTION is_library() RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
RETURN coalesce(starts_with(current_query(), '/* sourcebook: '), false);

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

SELECT watch_table(name::regclass) FROM unnest(ARRAY[
    'collection', 'source', 'raw_file', 'listed_folder', 'parsed_content', 'crawled_page', 'recording', 'transcript',
    'transcript_window', 'transcribed_file', 'attachment', 'document', 'tally', 'changed_item', 'changed_document',
    'generation', 'chunk', 'indexed_document', 'embedding', 'search_entry', 'text_configuration', 'lexeme',
    'keyword_entry', 'keyword_block', 'keyword_block_size']) AS name;

-- A statement that writes none of the sealed columns leaves the seal, and so the damage of the row, as it is.
CREATE TRIGGER raw_files_sealed BEFORE INSERT OR UPDATE OF
    source_id, uri, size, modified, sha256, media_type, skip_reason, failure
    ON raw_file FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('raw_file');
CREATE TRIGGER parsed_contents_sealed BEFORE INSERT OR UPDATE ON parsed_content
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('parsed_content');
CREATE TRIGGER documents_sealed BEFORE INSERT OR UPDATE OF
    id, collection, source_id, uri, kind, media_type, tags, title, language, metadata, input_hash, config_hash,
    content_sha256, content_parser, content_hash, version, given_tags, given_metadata, own_tags, own_metadata,
    given_title, own_title
    ON document FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('document');
CREATE TRIGGER embeddings_sealed BEFORE INSERT OR UPDATE ON embedding
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('embedding');
CREATE TRIGGER keyword_entries_sealed BEFORE INSERT OR UPDATE OF chunk_id, length, weights, block, slot
    ON keyword_entry FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('keyword_entry');
CREATE TRIGGER indexed_documents_sealed BEFORE INSERT OR UPDATE ON indexed_document
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('indexed_document');
CREATE TRIGGER attachments_sealed BEFORE INSERT OR UPDATE ON attachment
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('attachment');
CREATE TRIGGER pages_sealed BEFORE INSERT OR UPDATE OF
    status, media_type, title, language, metadata, canonical_url, content, size, sha256, links, rendered, parser, removed_at
    ON crawled_page FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('crawled_page');
CREATE TRIGGER recordings_sealed BEFORE INSERT OR UPDATE ON recording
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('recording');
CREATE TRIGGER transcripts_sealed BEFORE INSERT OR UPDATE ON transcript
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('transcript');
CREATE TRIGGER transcript_windows_sealed BEFORE INSERT OR UPDATE ON transcript_window
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('transcript_window');
CREATE TRIGGER transcribed_files_sealed BEFORE INSERT OR UPDATE OF sha256, sound_sha256, engine, content_hash
    ON transcribed_file FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('transcribed_file');

-- Let the next crawl of the sites whose URLs a statement changed that is not the library's find them again.
CREATE FUNCTION distrust_urls() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = sourcebook, public, pg_temp
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE source SET crawl_scope = '' WHERE crawl_scope <> '' AND id IN (SELECT source_id FROM added);
    ELSIF TG_OP = 'DELETE' THEN
        UPDATE source SET crawl_scope = '' WHERE crawl_scope <> '' AND id IN (SELECT source_id FROM gone);
    ELSIF TG_OP = 'UPDATE' THEN
        UPDATE source SET crawl_scope = ''
        WHERE crawl_scope <> '' AND id IN (SELECT source_id FROM gone UNION ALL SELECT source_id FROM added);
    ELSE
        UPDATE source SET crawl_scope = '' WHERE crawl_scope <> '';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER urls_added_by_others AFTER INSERT ON frontier REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 AND NOT is_library()) EXECUTE FUNCTION distrust_urls();
CREATE TRIGGER urls_changed_by_others AFTER UPDATE ON frontier REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 AND NOT is_library()) EXECUTE FUNCTION distrust_urls();
CREATE TRIGGER urls_deleted_by_others AFTER DELETE ON frontier REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 AND NOT is_library()) EXECUTE FUNCTION distrust_urls();
CREATE TRIGGER urls_emptied_by_others AFTER TRUNCATE ON frontier
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 AND NOT is_library()) EXECUTE FUNCTION distrust_urls();
ALTER TABLE frontier ENABLE ALWAYS TRIGGER urls_added_by_others;
ALTER TABLE frontier ENABLE ALWAYS TRIGGER urls_changed_by_others;
ALTER TABLE frontier ENABLE ALWAYS TRIGGER urls_deleted_by_others;
ALTER TABLE frontier ENABLE ALWAYS TRIGGER urls_emptied_by_others;

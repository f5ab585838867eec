-- Who asks for principals may have the original of an upload, and of a file beside uploads.
-- Uploads are seen by who sees a document of the same bytes in their collection.
ALTER TABLE upload ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON upload
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM source JOIN raw_file ON raw_file.source_id = source.id
        WHERE source.collection = upload.collection AND source.kind = 'uploads' AND raw_file.sha256 = upload.sha256));
ALTER TABLE upload_content ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON upload_content
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM upload WHERE upload.sha256 = upload_content.sha256));

-- Make the role sourcebook_reader what it is: what it may read. Return whether it is there; where this role may not
-- create it, or a schema, an administrator does.
CREATE OR REPLACE FUNCTION prepare_reader() RETURNS boolean
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    readable text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('sourcebook reader', 0));  -- processes that begin at the same time
    BEGIN
        IF to_regclass('sourcebook_seen.generation') IS NULL THEN
            PERFORM make_seen_views();
        END IF;
    EXCEPTION
        WHEN insufficient_privilege THEN RETURN false;
    END;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'sourcebook_reader') THEN
        BEGIN
            CREATE ROLE sourcebook_reader NOLOGIN;
        EXCEPTION
            WHEN insufficient_privilege THEN RETURN false;
            WHEN duplicate_object OR unique_violation THEN NULL;  -- another session made it in between
        END;
    END IF;
    -- Since PostgreSQL 16 whoever makes a role is a member of it, and may not be it.
    IF NOT pg_has_role(current_user, 'sourcebook_reader',
                       CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END) THEN
        BEGIN
            GRANT sourcebook_reader TO CURRENT_USER;
        EXCEPTION
            WHEN insufficient_privilege THEN RETURN false;
        END;
    END IF;
    -- Granting what is granted would write the catalog again, under the feet of whoever else does.
    IF NOT has_schema_privilege('sourcebook_reader', 'sourcebook_seen', 'USAGE') THEN
        GRANT USAGE ON SCHEMA sourcebook, sourcebook_seen TO sourcebook_reader;
        GRANT SELECT ON ALL TABLES IN SCHEMA sourcebook_seen TO sourcebook_reader;
    END IF;
    FOREACH readable IN ARRAY ARRAY[
        'collection', 'source', 'activation', 'document', 'chunk', 'indexed_document', 'search_entry', 'keyword_entry',
        'keyword_block', 'keyword_block_size', 'embedding', 'document_name', 'document_relation', 'document_abbreviation',
        'parsed_content', 'attachment', 'raw_file', 'crawled_page', 'source_record', 'transcribed_file', 'frontier',
        'processing', 'present_attachment', 'source_item', 'item', 'curated_collection', 'upload', 'upload_content']
    LOOP
        IF NOT has_table_privilege('sourcebook_reader', readable, 'SELECT') THEN
            EXECUTE format('GRANT SELECT ON %I TO sourcebook_reader', readable);
        END IF;
    END LOOP;
    RETURN true;
END
$$;

-- What a reader sees of a collection, and the entries of its documents, are looked up in indexes alone.
DROP INDEX document_audience;
CREATE INDEX document_audience ON document (audience_id, collection, id);
DROP INDEX search_entry_document;
CREATE INDEX search_entry_document ON search_entry (generation_id, document_id) INCLUDE (chunk_id);

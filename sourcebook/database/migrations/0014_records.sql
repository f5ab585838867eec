-- Records of tables and programs are sources.
ALTER TABLE source ADD COLUMN record_state jsonb;

-- The records of tables and programs, as of the last look at their source: what raw_file is compared with.
CREATE TABLE source_record (
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    uri text NOT NULL,
    version text NOT NULL,             -- sha256 of the content in hexadecimal, `deleted`, or why there is no content
    mark text,                         -- its `updated` in the source; NULL: the next look reads it again
    content bytea,                     -- the bytes of its document
    skip_reason text,
    failure text,
    failure_class text,
    removed_at timestamptz,            -- since when its source does not have it
    PRIMARY KEY (source_id, uri)
);
CREATE INDEX source_record_failed ON source_record (source_id) WHERE failure IS NOT NULL;
CREATE TRIGGER records_added AFTER INSERT ON source_record REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION unsettle_folders();
CREATE TRIGGER records_changed AFTER UPDATE ON source_record REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION unsettle_folders();
CREATE TRIGGER records_gone AFTER DELETE ON source_record REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION unsettle_folders();

-- The link to a document: that of a record, or else web_link.
CREATE FUNCTION link_of(document_uri text, document_source bigint, metadata jsonb) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN starts_with(document_uri, 'record://') THEN substring(metadata ->> 'url' FROM '^https?://.*$')
            ELSE web_link(document_uri, document_source) END;

CREATE OR REPLACE FUNCTION passages_of(chunks bigint[]) RETURNS TABLE (
    chunk_id bigint, generation_id bigint, document_id bigint, collection text, uri text, title text, language text,
    version integer, kind text, media_type text, tags text[], metadata jsonb, link text, heading_path text[],
    anchor text, page integer, start_char integer, end_char integer, start_seconds double precision,
    end_seconds double precision, ordinal integer, text text, sections jsonb, passage_id text, tokens integer,
    total_chunks integer, created_at timestamptz, updated_at timestamptz, indexed_at timestamptz)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT chunk.id, chunk.generation_id, document.id, document.collection, document.uri,
           coalesce(document.given_title, indexed.published_title), indexed.published_language, indexed.published_version,
           document.kind, document.media_type, document.tags, document.metadata,
           CASE WHEN starts_with(document.uri, 'git+') OR starts_with(document.uri, 'record://')
                  OR EXISTS (SELECT FROM source WHERE id = document.source_id AND web_view IS NOT NULL)
               THEN link_of(document.uri, document.source_id, document.metadata) END,
           chunk.heading_path, chunk.anchor, chunk.page, chunk.start_char, chunk.end_char,
           chunk.start_seconds, chunk.end_seconds, chunk.ordinal, chunk.text, chunk.parts,
           passage_id(document.id, chunk.hash), chunk.token_count, indexed.published_chunks, document.created_at,
           document.updated_at, indexed.published_at
    FROM chunk
    JOIN indexed_document indexed
        ON indexed.generation_id = chunk.generation_id AND indexed.document_id = chunk.document_id
    JOIN document ON document.id = chunk.document_id
    WHERE chunk.id = ANY(chunks);
END
$$;

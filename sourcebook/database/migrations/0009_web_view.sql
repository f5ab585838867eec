-- Files of a folder in a Git checkout have links into the web view of its remote.
ALTER TABLE source ADD COLUMN web_view jsonb;

-- The link to a document in the web view of its Git repository, or of the checkout that its folder is in, at a commit; NULL
-- for other documents, and without a web view. An attachment has the link of the file that it is in.
CREATE OR REPLACE FUNCTION web_link(document_uri text, document_source bigint) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN document_uri LIKE 'git+%' THEN (
    SELECT replace(replace(source.settings ->> 'link', '{commit}', source.git_commit),
                   '{path}', substr(file.uri, length(source.settings ->> 'root') + 2))
    FROM source
    JOIN raw_file file ON file.source_id = source.id AND file.uri = ANY(ARRAY(
        SELECT array_to_string((string_to_array(document_uri, '/'))[:part], '/')
        FROM generate_series(4, cardinality(string_to_array(document_uri, '/'))) AS part))
    WHERE source.removed_at IS NULL AND source.settings ->> 'link' IS NOT NULL AND source.git_commit IS NOT NULL
      AND starts_with(document_uri, source.location || '/')
    ORDER BY source.id = document_source DESC, length(file.uri) DESC
    LIMIT 1)
WHEN document_uri LIKE 'file:%' THEN (
    SELECT replace(source.web_view ->> 'link', '{path}', substr(file.uri, length(source.web_view ->> 'root') + 2))
    FROM source
    JOIN raw_file file ON file.source_id = source.id AND file.uri = ANY(ARRAY(
        SELECT array_to_string((string_to_array(document_uri, '/'))[:part], '/')
        FROM generate_series(4, cardinality(string_to_array(document_uri, '/'))) AS part))
    WHERE source.id = document_source AND source.web_view IS NOT NULL
      AND starts_with(file.uri, (source.web_view ->> 'root') || '/')
    ORDER BY length(file.uri) DESC
    LIMIT 1) END;

CREATE OR REPLACE FUNCTION passages_of(chunks bigint[]) RETURNS TABLE (
    chunk_id bigint, generation_id bigint, document_id bigint, collection text, uri text, title text, language text,
    version integer, kind text, media_type text, tags text[], metadata jsonb, link text, heading_path text[],
    anchor text, page integer, start_char integer, end_char integer, start_seconds double precision,
    end_seconds double precision, ordinal integer, text text, sections jsonb)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT chunk.id, chunk.generation_id, document.id, document.collection, document.uri,
           indexed.published_title, indexed.published_language, indexed.published_version,
           document.kind, document.media_type, document.tags, document.metadata,
           CASE WHEN starts_with(document.uri, 'git+')
                  OR EXISTS (SELECT FROM source WHERE id = document.source_id AND web_view IS NOT NULL)
               THEN web_link(document.uri, document.source_id) END,
           chunk.heading_path, chunk.anchor, chunk.page, chunk.start_char, chunk.end_char,
           chunk.start_seconds, chunk.end_seconds, chunk.ordinal, chunk.text, chunk.parts
    FROM chunk
    JOIN indexed_document indexed
        ON indexed.generation_id = chunk.generation_id AND indexed.document_id = chunk.document_id
    JOIN document ON document.id = chunk.document_id
    WHERE chunk.id = ANY(chunks);
END
$$;

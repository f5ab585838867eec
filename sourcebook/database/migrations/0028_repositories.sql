-- Git repositories as sources: the commit that is read, and where.

ALTER TABLE source ADD COLUMN git_commit text;  -- of a repository: the commit whose files are read
ALTER TABLE source ADD COLUMN git_mirror text;  -- of a repository: its mirror in the state folder
ALTER TABLE source ADD COLUMN git_error text;  -- of a repository: why the last look at it failed
ALTER TABLE source ADD COLUMN git_error_class text;  -- class of git_error
ALTER TABLE source ADD COLUMN next_fetch_at timestamptz;  -- of a repository: time of the next look; NULL: at once

-- The link to a document of a Git repository in the web view of its commit; NULL for other documents, and without a web
-- view. An attachment has the link of the file that it is in.
CREATE FUNCTION web_link(document_uri text, document_source bigint) RETURNS text
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
    LIMIT 1) END;

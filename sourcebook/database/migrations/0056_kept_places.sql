-- Where a site starts and how deep its pages are, kept beside its list of URLs: a list that others have changed is found
-- again by what it did not say itself.

ALTER TABLE source ADD COLUMN crawl_starts jsonb;
ALTER TABLE crawled_page ADD COLUMN depth integer;

-- The start of a site and the redirect targets that it led to in the last round: an array of [URL, role].
CREATE FUNCTION starts_of(of_source bigint, start text) RETURNS jsonb
LANGUAGE sql STABLE
RETURN (
    WITH RECURSIVE way (url, role, redirects_to) AS (
        SELECT url, role, redirects_to FROM frontier
        WHERE source_id = of_source AND url = start AND role <> 'page'
        UNION
        SELECT following.url, following.role, following.redirects_to
        FROM way JOIN frontier following ON following.source_id = of_source AND following.url = way.redirects_to
    )
    SELECT coalesce(jsonb_agg(jsonb_build_array(url, role)), '[]') FROM way);

-- Documents whose front matter cannot be read.
CREATE INDEX document_front_matter ON document (collection) WHERE removed_at IS NULL AND metadata ? 'front_matter_error';

-- An attachment is marked with the messages and archives that hold it, in whichever folder of these it is.
CREATE OR REPLACE FUNCTION follow_parsed_contents() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    INSERT INTO changed_item (collection, uri)
    SELECT held.collection, marked.uri
    FROM document held
    CROSS JOIN LATERAL (
        SELECT held.uri
        UNION ALL
        SELECT container.uri
        FROM (SELECT string_to_array(held.uri, '/') AS parts) AS split
        CROSS JOIN LATERAL generate_series(1, cardinality(parts) - 1) AS place
        JOIN document container
            ON container.collection = held.collection AND container.uri = array_to_string(parts[:place], '/')
        WHERE EXISTS (
            SELECT FROM attachment
            WHERE attachment.container_sha256 = container.content_sha256
              AND attachment.container_parser = container.content_parser)
    ) AS marked (uri)
    WHERE held.content_sha256 = NEW.sha256 AND held.content_parser = NEW.parser
      AND held.content_hash IS DISTINCT FROM NEW.content_hash;
    RETURN NULL;
END
$$;

-- The shards of all items of a collection in one statement, at a microsecond an item.

-- The bucket of a URI, from 0 to 4095. Everything of a web host is in one bucket. `bucket_of` in the library agrees.
-- A call costs a microsecond as part of a statement, and fifty of them on its own: so it is one expression, no query, and
-- no more strictly immutable than `convert_to`.
CREATE OR REPLACE FUNCTION item_bucket(uri text) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN ('x' || substr(encode(sha256(convert_to(
    coalesce('//' || lower(substring(uri FROM '^https?://([^/?#]*)')), uri), 'UTF8')), 'hex'), 1, 3))::bit(12)::integer;

-- The attachments of a collection with the items that decide on their shards, as `root_item` does for one of them.
CREATE FUNCTION attachment_roots(of_collection text) RETURNS TABLE (uri text, root text)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT DISTINCT ON (1) container.uri || '/' || attachment.path, container.uri
    FROM attachment
    JOIN document container
        ON container.content_sha256 = attachment.container_sha256
        AND container.content_parser = attachment.container_parser
    WHERE container.collection = of_collection AND container.uri !~ '^https?://'
    ORDER BY 1, length(container.uri)
$$;

DROP FUNCTION shard_of(text, text, integer);

-- Shards: parts of a collection that several workers bring up to date at once. An item's shard follows from its URI
-- alone, by functions that are evaluated where a collection has several shards: no row is rewritten.

-- The bucket of a URI, from 0 to 4095. Everything of a web host is in one bucket. `bucket_of` in the library agrees.
CREATE FUNCTION item_bucket(uri text) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT (get_byte(digest, 0) << 4) | (get_byte(digest, 1) >> 4)
        FROM (SELECT sha256(convert_to(coalesce('//' || lower(substring(uri FROM '^https?://([^/?#]*)')), uri), 'UTF8'))
                  OFFSET 0) AS hashed (digest));

-- The item that decides on the shard of an item: an attachment is where its message or archive is.
CREATE FUNCTION root_item(of_collection text, uri text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN EXISTS (SELECT FROM attachment) AND uri !~ '^https?://' THEN coalesce((
    SELECT container.uri
    FROM (SELECT string_to_array(uri, '/') AS parts) AS split
    CROSS JOIN LATERAL generate_series(1, cardinality(parts) - 1) AS place
    JOIN document container
        ON container.collection = of_collection AND container.uri = array_to_string(parts[:place], '/')
    WHERE EXISTS (
        SELECT FROM attachment
        WHERE attachment.container_sha256 = container.content_sha256
          AND attachment.container_parser = container.content_parser
          AND attachment.path = array_to_string(parts[place + 1:], '/'))
    ORDER BY place LIMIT 1), uri) ELSE uri END;

-- The number of the shard of an item, from 1.
CREATE FUNCTION shard_of(of_collection text, uri text, shards integer) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN item_bucket(root_item(of_collection, uri)) * shards / 4096 + 1;

-- Settled states of the shards of a collection, by the number of shards that it had. What every shard has settled is
-- the collection's, and its rows here are deleted.
CREATE TABLE shard_state (
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    shards integer NOT NULL,
    shard integer NOT NULL,
    compared_with text,                -- as collection.compared_with
    checked_at timestamptz,            -- as collection.checked_at
    foreign_mark bigint,               -- newest foreign_change whose consequences were looked for
    PRIMARY KEY (collection, shards, shard)
);

-- Shards whose unmarked documents are published in a generation; see generation.prepared_with.
CREATE TABLE shard_preparation (
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    shards integer NOT NULL,
    shard integer NOT NULL,
    prepared_with text NOT NULL,
    PRIMARY KEY (generation_id, shards, shard)
);

-- Listings of a source by the workers of its shards: each may be on another machine. The source has the oldest time and
-- the first error of them.
CREATE TABLE shard_listing (
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    shards integer NOT NULL,
    shard integer NOT NULL,
    listed_at timestamptz,
    error text,
    error_class text,
    PRIMARY KEY (source_id, shards, shard)
);

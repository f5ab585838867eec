-- The query log: searches of collections with the setting `retention.queries`, for that long.
CREATE TABLE logged_query (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    query text NOT NULL,               -- without addresses, long numbers and keys
    results integer NOT NULL,          -- passages on the first page, of all searched collections
    asked_at timestamptz NOT NULL
);
CREATE INDEX logged_query_asked_at ON logged_query (collection, asked_at);

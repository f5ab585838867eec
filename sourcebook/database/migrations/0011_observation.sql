-- Totals that processes have counted: searches, embedded tokens, cache hits. A histogram has a row for each bucket.
CREATE TABLE measurement (
    name text NOT NULL,                -- metric without its prefix
    labels text NOT NULL,              -- values in the order of the metric's labels, joined by tabs
    part text NOT NULL,                -- `total`, `sum`, or the upper bound of a bucket
    total double precision NOT NULL,
    PRIMARY KEY (name, labels, part)
) WITH (fillfactor = 50);

-- The last comparison of each collection with its sources.
CREATE TABLE freshness (
    collection text PRIMARY KEY REFERENCES collection (name) ON DELETE CASCADE,
    compared_at timestamptz NOT NULL,
    behind_since timestamptz           -- first comparison that found the oldest waiting change; NULL where none waits
) WITH (fillfactor = 50);

-- Failed and skipped items are few among many.
CREATE INDEX IF NOT EXISTS raw_file_failed ON raw_file (source_id) WHERE failure IS NOT NULL;
CREATE INDEX IF NOT EXISTS transcribed_file_failed ON transcribed_file (source_id) WHERE failure IS NOT NULL;
CREATE INDEX IF NOT EXISTS document_failed ON document (collection) WHERE failure IS NOT NULL;
CREATE INDEX IF NOT EXISTS document_skipped ON document (collection) WHERE skip_reason IS NOT NULL;

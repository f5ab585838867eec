-- name: begin_processing
-- Mark items as being processed by this session.
INSERT INTO processing (collection, stage, uri, process, run, backend, backend_start)
SELECT %(collection)s, %(stage)s, uri, %(process)s, %(run)s, session.pid, session.backend_start
FROM unnest(%(uris)s::text[]) AS uri, pg_stat_get_activity(pg_backend_pid()) AS session
ORDER BY uri
ON CONFLICT (collection, stage, uri) DO UPDATE SET
    since = excluded.since, process = excluded.process, run = excluded.run, backend = excluded.backend,
    backend_start = excluded.backend_start;

-- name: end_processing
-- Delete the marks of a stage on items of a collection, or all of its marks there.
DELETE FROM processing
WHERE collection = %(collection)s AND stage = %(stage)s AND (%(uris)s::text[] IS NULL OR uri = ANY(%(uris)s))
  AND (NOT %(own)s OR backend = pg_backend_pid());

-- name: processing_items
-- Return the items that living sessions work on: marked ones, and for a marked site the URLs that its crawl requests.
WITH live AS (
    SELECT processing.* FROM processing
    JOIN pg_stat_activity session ON session.pid = processing.backend
        -- Another role's sessions hide their start.
        AND coalesce(session.backend_start = processing.backend_start, true)
    WHERE cardinality(%(collections)s::text[]) = 0 OR processing.collection = ANY(%(collections)s)
)
SELECT collection, uri, stage, since, process, run FROM live WHERE stage <> 'crawled_pages'
UNION ALL
SELECT live.collection, frontier.url, live.stage, coalesce(frontier.attempted_at, live.since), live.process, live.run
FROM live
JOIN source ON source.collection = live.collection AND source.location = live.uri AND source.kind = 'site'
JOIN frontier ON frontier.source_id = source.id AND frontier.state = 'fetching'
WHERE live.stage = 'crawled_pages'
ORDER BY collection, uri;

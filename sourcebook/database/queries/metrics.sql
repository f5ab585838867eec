-- name: limit_scrape
-- Limit the duration of the session's statements in milliseconds.
SELECT set_config('statement_timeout', %(milliseconds)s, false);

-- name: document_states
-- Return the number of documents of each collection by state: ready, pending, failed, skipped, removed.
-- Two scans instead of a join: a document is ready where the passages that were cut last are published.
WITH counted AS (
    SELECT collection,
           count(*) FILTER (WHERE removed_at IS NOT NULL) AS removed,
           count(*) FILTER (WHERE removed_at IS NULL AND failure IS NOT NULL) AS failed,
           count(*) FILTER (WHERE removed_at IS NULL AND failure IS NULL AND skip_reason IS NOT NULL) AS skipped,
           count(*) FILTER (WHERE removed_at IS NULL AND failure IS NULL AND skip_reason IS NULL) AS others
    FROM document GROUP BY collection
), published AS (
    SELECT generation_id, count(*) FILTER (WHERE published_hash = input_hash) AS documents
    FROM indexed_document GROUP BY 1
), unsettled AS MATERIALIZED (
    SELECT id FROM document WHERE failure IS NOT NULL AND removed_at IS NULL
    UNION
    SELECT id FROM document WHERE skip_reason IS NOT NULL AND removed_at IS NULL
), published_otherwise AS (
    SELECT indexed.generation_id, count(*) FILTER (WHERE indexed.published_hash = indexed.input_hash) AS documents
    FROM unsettled JOIN indexed_document indexed ON indexed.document_id = unsettled.id GROUP BY 1
), settled AS (
    SELECT counted.*,
           greatest(others - coalesce(published.documents, 0) + coalesce(published_otherwise.documents, 0), 0) AS pending
    FROM counted
    JOIN collection ON collection.name = counted.collection AND collection.removed_at IS NULL
    LEFT JOIN published ON published.generation_id = collection.active_generation_id
    LEFT JOIN published_otherwise ON published_otherwise.generation_id = collection.active_generation_id
)
SELECT collection, state, number
FROM settled
CROSS JOIN LATERAL (VALUES
    ('ready', others - pending), ('pending', pending), ('failed', failed), ('skipped', skipped), ('removed', removed)
) AS states (state, number)
WHERE number > 0;

-- name: published_chunks
-- Return the number of searchable passages of each collection, as the index keeps it.
SELECT collection.name, coalesce(generation.entry_count, 0)
FROM collection LEFT JOIN generation ON generation.id = collection.active_generation_id
WHERE collection.removed_at IS NULL;

-- name: failures
-- Return how many items of each collection failed, by kind and by class of the reason.
WITH failed AS (
    SELECT source.collection, 'file' AS kind, file.failure AS reason
    FROM raw_file file JOIN source ON source.id = file.source_id
    WHERE file.failure IS NOT NULL AND file.removed_at IS NULL AND source.removed_at IS NULL
    UNION ALL
    SELECT source.collection, 'recording', transcribed.failure
    FROM transcribed_file transcribed
    JOIN raw_file file ON file.source_id = transcribed.source_id AND file.uri = transcribed.uri
    JOIN source ON source.id = file.source_id
    WHERE transcribed.failure IS NOT NULL AND file.removed_at IS NULL AND source.removed_at IS NULL
    UNION ALL
    SELECT collection, 'document', failure FROM document WHERE failure IS NOT NULL AND removed_at IS NULL
    UNION ALL
    SELECT source.collection, 'page', coalesce(frontier.last_error, '')
    FROM frontier JOIN source ON source.id = frontier.source_id
    WHERE frontier.state = 'failed' AND source.removed_at IS NULL
    UNION ALL
    SELECT collection, 'source', listing_error FROM source WHERE listing_error IS NOT NULL AND removed_at IS NULL
)
SELECT failed.collection, kind, CASE
           WHEN reason ~ 'not done after|in time|timed out|did not convert it within' THEN 'timeout'
           WHEN reason ~ 'crashed|ended again and again|process that reads it' THEN 'crash'
           WHEN reason ~ 'memory' THEN 'memory'
           WHEN reason ~ 'max_bytes|max_hours|larger than|too large|are read; split|unpacks to' THEN 'too_large'
           WHEN reason ~ 'password|protected|sealed|encrypted|who asks' THEN 'protected'
           WHEN reason ~ 'vanished|does not exist|not mounted|not there' THEN 'missing'
           WHEN reason ~ 'the server answers|status \d|asks for fewer|asked for a pause|redirect' THEN 'server'
           WHEN reason ~ 'robots.txt' THEN 'robots'
           WHEN reason ~ 'looked up|connect|times in a row|not valid HTTP|cannot be reached' THEN 'network'
           WHEN reason ~ 'cannot be read: |cannot be listed|cannot be copied' THEN 'unreadable'
           WHEN reason ~ 'damaged|cut off|cannot read it|no readable|cannot be decoded|ends at' THEN 'damaged'
           ELSE 'other' END,
       count(*)
FROM failed JOIN collection ON collection.name = failed.collection AND collection.removed_at IS NULL
GROUP BY 1, 2, 3;

-- name: queues
-- Return how many items of each collection wait: URLs of crawls, and failed items whose retry is due.
SELECT source.collection, 'pages', count(*)
FROM frontier JOIN source ON source.id = frontier.source_id
WHERE frontier.state = 'queued' AND source.removed_at IS NULL GROUP BY 1
UNION ALL
SELECT collection, 'retries', count(*)
FROM document WHERE failure IS NOT NULL AND removed_at IS NULL AND next_retry_at <= now() GROUP BY 1;

-- name: name_scrape
-- Set the name by which administrators know a session that reads metrics.
SET application_name = 'sourcebook metrics';

-- name: document_states
-- Return the number of documents of each collection by state: ready, pending, failed, skipped, removed.
-- Live and removed documents are kept counts; only failed, skipped and marked ones are read.
WITH kept AS (
    SELECT collection,
           sum(items) FILTER (WHERE kind = 'documents') AS live,
           sum(items) FILTER (WHERE kind = 'removed') AS removed
    FROM tally GROUP BY 1
), refused AS (
    SELECT collection.name AS collection, indexed.document_id
    FROM collection
    JOIN indexed_document indexed
        ON indexed.generation_id = collection.active_generation_id AND indexed.failure IS NOT NULL
    JOIN document ON document.id = indexed.document_id AND document.removed_at IS NULL
), failed AS (
    SELECT collection, count(*) AS number FROM (
        SELECT collection, id FROM document WHERE failure IS NOT NULL AND removed_at IS NULL
        UNION
        SELECT collection, document_id FROM refused) failing GROUP BY 1
), skipped AS (
    SELECT collection, count(*) AS number FROM document
    WHERE skip_reason IS NOT NULL AND failure IS NULL AND removed_at IS NULL GROUP BY 1
), pending AS (
    SELECT document.collection, count(*) AS number
    FROM (SELECT DISTINCT document_id FROM changed_document) marked
    JOIN document ON document.id = marked.document_id
    JOIN collection ON collection.name = document.collection
    LEFT JOIN indexed_document indexed
        ON indexed.document_id = document.id AND indexed.generation_id = collection.active_generation_id
    WHERE document.removed_at IS NULL AND document.failure IS NULL AND document.skip_reason IS NULL
      AND indexed.failure IS NULL
      AND (document.content_hash IS NULL OR indexed.published_hash IS DISTINCT FROM document.content_hash)
    GROUP BY 1
)
SELECT collection.name, states.state, states.number::bigint
FROM collection
LEFT JOIN kept ON kept.collection = collection.name
LEFT JOIN failed ON failed.collection = collection.name
LEFT JOIN skipped ON skipped.collection = collection.name
LEFT JOIN pending ON pending.collection = collection.name
CROSS JOIN LATERAL (VALUES
    ('ready', coalesce(kept.live, 0) - coalesce(failed.number, 0) - coalesce(skipped.number, 0) - coalesce(pending.number, 0)),
    ('pending', pending.number), ('failed', failed.number), ('skipped', skipped.number), ('removed', kept.removed)
) AS states (state, number)
WHERE collection.removed_at IS NULL AND states.number > 0;

-- name: published_chunks
-- Return the number of searchable passages of each collection, as the index keeps it.
SELECT collection.name, coalesce(generation.entry_count, 0)
FROM collection LEFT JOIN generation ON generation.id = collection.active_generation_id
WHERE collection.removed_at IS NULL;

-- name: failures
-- Return how many items of each collection failed, by kind and by class.
WITH failed AS (
    SELECT source.collection, 'file' AS kind, file.failure_class
    FROM raw_file file JOIN source ON source.id = file.source_id
    WHERE file.failure IS NOT NULL AND file.removed_at IS NULL AND source.removed_at IS NULL
    UNION ALL
    SELECT source.collection, 'recording', transcribed.failure_class
    FROM transcribed_file transcribed
    JOIN raw_file file ON file.source_id = transcribed.source_id AND file.uri = transcribed.uri
    JOIN source ON source.id = file.source_id
    WHERE transcribed.failure IS NOT NULL AND file.removed_at IS NULL AND source.removed_at IS NULL
    UNION ALL
    SELECT collection, 'document', failure_class FROM document WHERE failure IS NOT NULL AND removed_at IS NULL
    UNION ALL
    SELECT collection.name, 'document', indexed.failure_class
    FROM collection
    JOIN indexed_document indexed
        ON indexed.generation_id = collection.active_generation_id AND indexed.failure IS NOT NULL
    JOIN document ON document.id = indexed.document_id AND document.removed_at IS NULL AND document.failure IS NULL
    UNION ALL
    SELECT source.collection, 'page', frontier.failure_class
    FROM frontier JOIN source ON source.id = frontier.source_id
    WHERE frontier.state = 'failed' AND source.removed_at IS NULL
    UNION ALL
    SELECT collection, 'source', listing_error_class FROM source WHERE listing_error IS NOT NULL AND removed_at IS NULL
)
SELECT failed.collection, kind, coalesce(failure_class, 'other'),
       count(*)
FROM failed JOIN collection ON collection.name = failed.collection AND collection.removed_at IS NULL
GROUP BY 1, 2, 3;

-- name: queues
-- Return how many items of each collection wait: URLs of crawls, recordings as they are now, failed items whose retry is due.
SELECT source.collection, 'pages', count(*)
FROM frontier JOIN source ON source.id = frontier.source_id
WHERE frontier.state = 'queued' AND source.removed_at IS NULL GROUP BY 1
UNION ALL
SELECT source.collection, 'recordings', count(*)
FROM raw_file file JOIN source ON source.id = file.source_id
LEFT JOIN transcribed_file transcribed ON transcribed.source_id = file.source_id AND transcribed.uri = file.uri
WHERE is_recording(file.media_type) AND file.removed_at IS NULL AND source.removed_at IS NULL AND file.sha256 IS NOT NULL
  AND file.skip_reason IS NULL AND file.excluded_at IS NULL
  AND (transcribed.uri IS NULL OR (transcribed.input_hash <> file.sha256 AND transcribed.failure IS NULL))
GROUP BY 1
UNION ALL
SELECT collection, 'retries', count(*)
FROM document WHERE failure IS NOT NULL AND removed_at IS NULL AND is_due(next_retry_at) GROUP BY 1;

-- name: open_work
-- Return how many requests for work of each collection wait and run.
SELECT collection, state, count(*) FROM work_request WHERE state IN ('waiting', 'running') GROUP BY 1, 2;

-- name: use_of_models
-- Return what models have computed, read and written, and the seconds that they took, by operation, provider and model.
SELECT operation, provider, model, sum(texts - cached)::float8, coalesce(sum(tokens), 0)::float8 + coalesce(sum(answer_tokens), 0)::float8,
       sum(seconds)
FROM usage GROUP BY 1, 2, 3;

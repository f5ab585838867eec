-- name: documents_of_types
-- Return the URIs of the live documents of a collection that are of some types.
SELECT uri FROM document
WHERE collection = %(collection)s AND removed_at IS NULL AND document_type = ANY(%(types)s::text[])
ORDER BY uri;

-- name: ask_for_work
-- Insert a request and return its row; nothing where the same caller used the idempotency key before.
INSERT INTO work_request (collection, kind, arguments, idempotency_key, asked_by)
VALUES (%(collection)s, %(kind)s, %(arguments)s, %(idempotency_key)s, %(asked_by)s)
ON CONFLICT (asked_by, collection, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
RETURNING id, collection, kind, arguments, state, stage, done, total, failed, error, run_id, worker, asked_by,
          cancel_asked, revision, asked_at, started_at, changed_at, ended_at, attempts;

-- name: waiting_of_asker
-- Return how many requests of somebody wait.
SELECT count(*) FROM work_request WHERE state IN ('waiting', 'running') AND state = 'waiting' AND asked_by = %(asked_by)s;

-- name: repeated_work_request
-- Return the request that a caller made with an idempotency key.
SELECT id, collection, kind, arguments, state, stage, done, total, failed, error, run_id, worker, asked_by,
       cancel_asked, revision, asked_at, started_at, changed_at, ended_at, attempts
FROM work_request
WHERE asked_by = %(asked_by)s AND collection = %(collection)s AND idempotency_key = %(idempotency_key)s;

-- name: work_request
-- Return one request.
SELECT id, collection, kind, arguments, state, stage, done, total, failed, error, run_id, worker, asked_by,
       cancel_asked, revision, asked_at, started_at, changed_at, ended_at, attempts
FROM work_request WHERE id = %(id)s;

-- name: work_requests
-- Return requests of collections in some states, the newest first, below an id.
SELECT id, collection, kind, arguments, state, stage, done, total, failed, error, run_id, worker, asked_by,
       cancel_asked, revision, asked_at, started_at, changed_at, ended_at, attempts
FROM work_request
WHERE (%(collections)s::text[] IS NULL OR collection = ANY(%(collections)s))
  AND (cardinality(%(states)s::text[]) = 0 OR state = ANY(%(states)s))
  AND (%(before)s::bigint IS NULL OR id < %(before)s)
ORDER BY id DESC
LIMIT %(limit)s;

-- name: cancel_work_request
-- Cancel a waiting request, or ask the worker of a running one to stop; a request that has ended stays as it is.
-- One that shares its run ends at once: the run goes on with the others, and stops with the last of them.
UPDATE work_request
SET (state, ended_at) = (
        SELECT CASE WHEN ends THEN 'cancelled' ELSE work_request.state END, CASE WHEN ends THEN now() END
        FROM (SELECT work_request.state = 'waiting' OR EXISTS (
                  SELECT FROM work_request other
                  WHERE other.state = 'running' AND NOT other.cancel_asked AND other.id <> work_request.id
                    AND coalesce(other.led_by, other.id) = coalesce(work_request.led_by, work_request.id)) AS ends) now_),
    cancel_asked = true
WHERE id = %(id)s AND state IN ('waiting', 'running')
RETURNING id, collection, kind, arguments, state, stage, done, total, failed, error, run_id, worker, asked_by,
          cancel_asked, revision, asked_at, started_at, changed_at, ended_at, attempts;

-- name: claim_work_request
-- Give the oldest waiting request, of one id or collection or of any, to a worker, with those of `waiting_work` like it.
-- Another worker's claim is passed over.
WITH leader AS (
    SELECT id, collection, kind, arguments, attempts FROM work_request
    WHERE state = 'waiting' AND (%(collection)s::text IS NULL OR collection = %(collection)s)
      AND (%(id)s::bigint IS NULL OR id = %(id)s)
    ORDER BY id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
), led AS (
    SELECT work_request.id FROM work_request JOIN leader USING (collection, kind)
    WHERE state = 'waiting' AND work_request.id >= leader.id AND work_request.attempts = leader.attempts AND leader.attempts < 2
      AND work_request.arguments - 'documents' = leader.arguments - 'documents'
      AND (work_request.arguments ? 'documents') = (leader.arguments ? 'documents')
    ORDER BY work_request.id
    LIMIT %(most)s
    FOR UPDATE OF work_request SKIP LOCKED
)
UPDATE work_request
SET state = 'running', started_at = now(), worker = %(worker)s, run_id = %(run_id)s, attempts = attempts + 1,
    led_by = nullif((SELECT id FROM leader), id)
WHERE id IN (SELECT id FROM leader UNION SELECT id FROM led)
RETURNING id, collection, kind, arguments, state, stage, done, total, failed, error, run_id, worker, asked_by,
          cancel_asked, revision, asked_at, started_at, changed_at, ended_at, attempts;

-- name: record_work_progress
-- Record the progress of a running request, and of those that it leads at each stage once.
UPDATE work_request
SET stage = %(stage)s, done = %(done)s, total = %(total)s, failed = %(failed)s
WHERE coalesce(led_by, id) = %(id)s AND state = 'running' AND attempts = coalesce(%(attempt)s::integer, attempts)
  AND (led_by IS NULL OR stage IS DISTINCT FROM %(stage)s);

-- name: work_is_to_stop
-- Return whether a running request and all that it leads are to be cancelled; nothing where none runs as this attempt.
SELECT bool_and(cancel_asked) FROM work_request
WHERE coalesce(led_by, id) = %(id)s AND state = 'running' AND attempts = coalesce(%(attempt)s::integer, attempts)
HAVING count(*) > 0;

-- name: unread_documents
-- Return those of some items of a collection that failed or were skipped, with the reason.
SELECT uri, state, coalesce(error, '') AS reason FROM item
WHERE collection = %(collection)s AND uri = ANY(%(uris)s::text[]) AND state IN ('failed', 'skipped')
ORDER BY uri;

-- name: end_work_request
-- Record the end of a running request and of those that it leads; those about documents count the failed ones of these.
UPDATE work_request
SET state = %(state)s, error = %(error)s, ended_at = now(), run_id = coalesce(%(run_id)s, run_id),
    failed = CASE WHEN %(failed)s::bigint IS NOT NULL AND arguments ? 'documents'
        THEN (SELECT count(*) FROM jsonb_array_elements_text(arguments -> 'documents') AS asked (uri)
              WHERE EXISTS (SELECT FROM document
                            WHERE document.collection = work_request.collection AND document.uri = asked.uri
                              AND document.failure IS NOT NULL AND document.removed_at IS NULL)
                 OR EXISTS (SELECT FROM raw_file JOIN source ON source.id = raw_file.source_id
                            WHERE source.collection = work_request.collection AND raw_file.uri = asked.uri
                              AND raw_file.failure IS NOT NULL AND raw_file.removed_at IS NULL))
        ELSE coalesce(%(failed)s::bigint, failed) END
WHERE coalesce(led_by, id) = %(id)s AND state = 'running' AND attempts = coalesce(%(attempt)s::integer, attempts);

-- name: waiting_work
-- Return the waiting requests that one run can do, as one request each with the documents of all, the oldest first.
-- One whose worker has died twice is done alone: it may be the one that ends its workers.
SELECT min(id) AS id, collection, arguments - 'documents' || CASE WHEN arguments ? 'documents' THEN
           jsonb_build_object('documents', jsonb_path_query_array(jsonb_agg(arguments -> 'documents'), '$[*][*]'))
       ELSE '{}' END AS arguments
FROM (SELECT id, collection, kind, arguments, attempts FROM work_request WHERE state = 'waiting'
      ORDER BY id LIMIT %(most)s) waiting
GROUP BY collection, kind, arguments - 'documents', arguments ? 'documents', attempts, CASE WHEN attempts > 1 THEN id END
ORDER BY 1;

-- name: open_work_groups
-- Return the oldest of the open requests that one run does, or that wait for the same, with the number of these.
WITH open AS (
    SELECT id, collection, kind, arguments, state, stage, done, total, failed, error, run_id, worker, asked_by,
           cancel_asked, revision, asked_at, started_at, changed_at, ended_at, attempts,
           CASE state WHEN 'running' THEN coalesce(led_by, id) END AS run,
           CASE state WHEN 'waiting' THEN asked_by END AS asker,
           arguments - 'documents' AS rest, arguments ? 'documents' AS names_documents,
           CASE WHEN arguments ? 'documents' THEN jsonb_array_length(arguments -> 'documents') ELSE 0 END AS named
    FROM work_request
    WHERE state IN ('waiting', 'running')
      AND (%(collections)s::text[] IS NULL OR collection = ANY(%(collections)s))
)
SELECT DISTINCT ON (state, run, asker, collection, kind, rest, names_documents, cancel_asked)
       open.*, count(*) OVER alike AS requests, (sum(named) OVER alike)::bigint AS documents
FROM open
WINDOW alike AS (PARTITION BY state, run, asker, collection, kind, rest, names_documents, cancel_asked)
ORDER BY state, run, asker, collection, kind, rest, names_documents, cancel_asked, id;

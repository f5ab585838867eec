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
UPDATE work_request
SET state = CASE state WHEN 'waiting' THEN 'cancelled' ELSE state END,
    ended_at = CASE state WHEN 'waiting' THEN now() END,
    cancel_asked = true
WHERE id = %(id)s AND state IN ('waiting', 'running')
RETURNING id, collection, kind, arguments, state, stage, done, total, failed, error, run_id, worker, asked_by,
          cancel_asked, revision, asked_at, started_at, changed_at, ended_at, attempts;

-- name: claim_work_request
-- Give the oldest waiting request, of one id or collection or of any, to a worker; another worker's claim is passed over.
UPDATE work_request
SET state = 'running', started_at = now(), worker = %(worker)s, run_id = %(run_id)s, attempts = attempts + 1
WHERE id = (
    SELECT id FROM work_request
    WHERE state = 'waiting' AND (%(collection)s::text IS NULL OR collection = %(collection)s)
      AND (%(id)s::bigint IS NULL OR id = %(id)s)
    ORDER BY id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
RETURNING id, collection, kind, arguments, state, stage, done, total, failed, error, run_id, worker, asked_by,
          cancel_asked, revision, asked_at, started_at, changed_at, ended_at, attempts;

-- name: record_work_progress
-- Record the progress of a running request, and return whether it is to be cancelled; nothing for another attempt's.
UPDATE work_request
SET stage = %(stage)s, done = %(done)s, total = %(total)s, failed = %(failed)s
WHERE id = %(id)s AND state = 'running' AND attempts = coalesce(%(attempt)s::integer, attempts)
RETURNING cancel_asked;

-- name: work_is_to_stop
-- Return whether a running request is to be cancelled; nothing where it no longer runs as this attempt.
SELECT cancel_asked FROM work_request
WHERE id = %(id)s AND state = 'running' AND attempts = coalesce(%(attempt)s::integer, attempts);

-- name: end_work_request
-- Record the end of a running request.
UPDATE work_request
SET state = %(state)s, error = %(error)s, ended_at = now(), failed = coalesce(%(failed)s::bigint, failed),
    run_id = coalesce(%(run_id)s, run_id)
WHERE id = %(id)s AND state = 'running' AND attempts = coalesce(%(attempt)s::integer, attempts);

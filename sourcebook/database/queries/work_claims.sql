-- name: hold_work_request
-- Hold the lock that says that this session's process works on a request; it ends with the session.
SELECT pg_try_advisory_lock(hashtextextended('sourcebook work ' || %(id)s::text, 0));

-- name: give_back_work_request
-- Let a running request and those that it leads wait for another worker: their worker was told to end.
UPDATE work_request
SET state = 'waiting', worker = NULL, run_id = NULL, attempts = attempts - 1, led_by = NULL
WHERE coalesce(led_by, id) = %(id)s AND state = 'running' AND attempts = %(attempt)s;

-- name: wait_again
-- Let a running request and those that it leads wait for another run: theirs was killed.
UPDATE work_request SET state = 'waiting', worker = NULL, run_id = NULL, led_by = NULL
WHERE coalesce(led_by, id) = %(id)s AND state = 'running' AND attempts = %(attempt)s;

-- name: recover_work_requests
-- Let the requests wait again whose worker has died: no session holds their lock. The last attempt's fail.
UPDATE work_request
SET state = CASE WHEN cancel_asked THEN 'cancelled' WHEN attempts >= %(most)s THEN 'failed' ELSE 'waiting' END,
    error = CASE WHEN NOT cancel_asked AND attempts >= %(most)s
        THEN 'its worker ended ' || attempts || ' times before it was done: its machine may lack memory' END,
    ended_at = CASE WHEN cancel_asked OR attempts >= %(most)s THEN now() END,
    worker = NULL, led_by = NULL
WHERE id IN (
    SELECT id FROM work_request WHERE state = 'running' AND worker <> %(dagster)s
    FOR UPDATE SKIP LOCKED
) AND NOT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND ((classid::bigint << 32) | objid::bigint) = hashtextextended('sourcebook work ' || coalesce(work_request.led_by, work_request.id), 0))
RETURNING id;

-- name: begin_work_run
-- Return whether a request that was claimed for Dagster still runs, or one that it leads; the run of all is recorded.
UPDATE work_request
SET run_id = %(run_id)s
WHERE coalesce(led_by, id) = %(id)s AND state = 'running' AND worker = %(worker)s
RETURNING id, collection, kind, arguments, state, stage, done, total, failed, error, run_id, worker, asked_by,
          cancel_asked, revision, asked_at, started_at, changed_at, ended_at, attempts;

-- name: work_of_dagster
-- Return the running requests that were claimed for Dagster, those of one run as one, with the seconds since.
SELECT coalesce(led_by, id), min(attempts), bool_and(cancel_asked), extract(epoch FROM now() - min(started_at))::float8,
       min(collection)
FROM work_request WHERE state = 'running' AND worker = %(worker)s GROUP BY 1 ORDER BY 1;

-- name: cancelled_work_of_run
-- Return a request that a run of Dagster was made for, where it was cancelled before this run could begin.
SELECT id, collection, kind, arguments, state, stage, done, total, failed, error, run_id, worker, asked_by,
       cancel_asked, revision, asked_at, started_at, changed_at, ended_at, attempts
FROM work_request
WHERE id = %(id)s AND state = 'cancelled';

-- name: cancelled_work_without_run
-- Return the requests that were cancelled of late after they were claimed, and before a run of Dagster began with them.
SELECT id FROM work_request
WHERE state = 'cancelled' AND started_at IS NOT NULL AND run_id IS NULL
  AND ended_at > now() - make_interval(secs => %(seconds)s)
  AND NOT EXISTS (
      SELECT FROM work_request other
      WHERE other.state = 'running' AND coalesce(other.led_by, other.id) = coalesce(work_request.led_by, work_request.id))
ORDER BY id;

-- name: collections_with_waiting_work
-- Return the collections with requests that have waited for a while, the one with the oldest request first.
-- With each: the seconds since the oldest one.
SELECT collection, extract(epoch FROM now() - min(asked_at))::float8 FROM work_request
WHERE state = 'waiting' AND asked_at <= now() - make_interval(secs => %(seconds)s)
GROUP BY collection ORDER BY min(id);

-- name: say_that_the_watch_runs
-- Hold the lock that says that a process does small requests, until the session ends.
SELECT pg_try_advisory_lock_shared(hashtextextended('sourcebook watch', 0));

-- name: watch_runs
-- Return whether a process does small requests.
SELECT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND ((classid::bigint << 32) | objid::bigint) = hashtextextended('sourcebook watch', 0));

-- name: say_that_a_worker_runs
-- Hold the lock that says that a process does requests as they come, until the session ends.
SELECT pg_try_advisory_lock_shared(hashtextextended('sourcebook worker', 0));

-- name: worker_runs
-- Return whether a process does requests as they come, or does one now.
SELECT EXISTS (SELECT FROM work_request WHERE state = 'running') OR EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND ((classid::bigint << 32) | objid::bigint)
          IN (hashtextextended('sourcebook worker', 0), hashtextextended('sourcebook watch', 0)));

-- name: locations_of_kinds
-- Return the locations of a collection's live sources of some kinds, among the given ones where there are some.
SELECT location FROM source
WHERE collection = %(collection)s AND removed_at IS NULL AND kind = ANY(%(kinds)s)
  AND (cardinality(%(locations)s::text[]) = 0 OR location = ANY(%(locations)s))
ORDER BY id;

-- name: forget_work_requests
-- Delete requests that ended a while ago.
DELETE FROM work_request WHERE ended_at < now() - %(age)s::interval;

-- name: listen_to_work
-- Receive the ids of requests that change.
LISTEN sourcebook_work;

-- name: recover_dagster_work
-- Let a request wait again for which Dagster was asked for a run that never came; cancelled and last attempts end.
UPDATE work_request
SET state = CASE WHEN cancel_asked THEN 'cancelled' WHEN attempts >= %(most)s THEN 'failed' ELSE 'waiting' END,
    error = CASE WHEN NOT cancel_asked AND attempts >= %(most)s
        THEN 'Dagster started no run for it, ' || attempts || ' times: its daemon may be down' END,
    ended_at = CASE WHEN cancel_asked OR attempts >= %(most)s THEN now() END,
    worker = NULL, led_by = NULL
WHERE coalesce(led_by, id) = %(id)s AND state = 'running' AND worker = 'dagster' AND run_id IS NULL;

-- name: keep_finished_run
-- Store a small change that is done, for the process that records it as a run.
INSERT INTO finished_run (run_id, collection, reports, outcomes)
VALUES (%(run_id)s, %(collection)s, %(reports)s, %(outcomes)s);

-- name: finished_runs
-- Return the finished runs that are to be recorded, the oldest first.
SELECT run_id::text, collection, reports, outcomes FROM finished_run
WHERE attempts < %(most_attempts)s
ORDER BY finished_at;

-- name: count_finished_runs
-- Return how many finished runs are to be recorded, and how many of them no process has recorded within a minute.
-- A time in the future comes from a clock that was wrong.
SELECT count(*), count(*) FILTER (WHERE finished_at NOT BETWEEN now() - interval '1 minute' AND now() + interval '1 minute')
FROM finished_run WHERE attempts < %(most_attempts)s;

-- name: forget_finished_run
-- Delete a finished run that is recorded.
DELETE FROM finished_run WHERE run_id = %(run_id)s;

-- name: postpone_finished_run
-- Count a failed attempt to record a finished run, with its reason.
UPDATE finished_run SET attempts = attempts + 1, error = %(error)s WHERE run_id = %(run_id)s;

-- name: unrecorded_runs
-- Return the number of finished runs that could not be recorded, and the reason of one of them.
SELECT count(*), max(error) FROM sourcebook.finished_run WHERE attempts >= %(most_attempts)s;

-- name: forget_finished_runs
-- Delete finished runs from before a time that could not be recorded.
DELETE FROM finished_run
WHERE finished_at < %(before)s AND error IS NOT NULL AND (%(collection)s::text IS NULL OR collection = %(collection)s);

-- name: lock_recorder
-- Return whether this session has obtained the lock of the process that records finished runs.
SELECT pg_try_advisory_lock(%(lock)s);

-- name: unlock_recorder
-- Release the lock of the process that records finished runs.
SELECT pg_advisory_unlock(%(lock)s);

-- name: recorder_is_locked
-- Return whether a session records finished runs.
SELECT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND ((classid::bigint << 32) | objid::bigint) = %(lock)s);

-- name: configure_dagster_session
-- Set what a session of Dagster's storage needs: it writes and reads the time of the database as UTC, without a zone.
SET TimeZone = 'UTC';
SET standard_conforming_strings = on;
SET default_transaction_isolation = 'read committed';
SET idle_session_timeout = 0;
SET idle_in_transaction_session_timeout = 0;

-- name: daemon_heartbeats
-- Return the seconds since the last heartbeat of each daemon. Dagster writes times in UTC, without a zone.
-- A time in the future is from a clock that was ahead: a daemon that lives overwrites it.
SELECT daemon_type, abs(extract(epoch FROM now() - timestamp AT TIME ZONE 'UTC'))::float8
FROM daemon_heartbeats;

-- name: sensor_ticks
-- Return the seconds since the last tick of each sensor that ticked in the last week, and whether it failed.
SELECT DISTINCT ON (1)
       instigator.instigator_body::jsonb -> 'origin' ->> 'job_name',
       abs(extract(epoch FROM now() - tick.timestamp AT TIME ZONE 'UTC'))::float8 AS age,
       tick.status = 'FAILURE'
FROM instigators instigator
CROSS JOIN LATERAL (
    SELECT timestamp, status FROM job_ticks
    WHERE job_ticks.selector_id = instigator.selector_id AND status <> 'STARTED' ORDER BY timestamp DESC LIMIT 1) tick
WHERE instigator.instigator_type = 'SENSOR' AND instigator.status IN ('RUNNING', 'DECLARED_IN_CODE')
  AND tick.timestamp AT TIME ZONE 'UTC' > now() - interval '7 days'
ORDER BY 1, age;

-- name: unfinished_runs
-- Return how many runs of each status have not ended.
SELECT status, count(*) FROM runs
WHERE status IN ('NOT_STARTED', 'QUEUED', 'STARTING', 'STARTED', 'CANCELING') GROUP BY 1;

-- name: has_queued_run
-- Return whether a run of a collection, or of one of its shards, waits in Dagster's queue.
SELECT EXISTS (
    SELECT FROM public.runs
    WHERE status = 'QUEUED' AND (partition = %(collection)s OR partition ~ ('^' || %(collection)s || ':[0-9]+of[0-9]+$')));

-- name: forget_future_ticks
-- Delete the ticks of sensors and schedules from the future, which a clock that was ahead recorded.
DELETE FROM job_ticks WHERE timestamp AT TIME ZONE 'UTC' > now() + interval '5 seconds';

-- name: forget_future_evaluations
-- Forget when sensors were evaluated last where that lies in the future: Dagster evaluates none of them before.
UPDATE instigators
SET instigator_body = jsonb_set(jsonb_set(instigator_body::jsonb,
    '{job_specific_data,last_tick_timestamp}', 'null'), '{job_specific_data,last_tick_start_timestamp}', 'null')::text
WHERE instigator_type = 'SENSOR'
  AND greatest((instigator_body::jsonb #>> '{job_specific_data,last_tick_timestamp}')::float8,
               (instigator_body::jsonb #>> '{job_specific_data,last_tick_start_timestamp}')::float8)
      > extract(epoch FROM now()) + 5;

-- name: forget_runless_events
-- Delete observations and evaluations of sensors that are older than some days, except the newest of each asset.
DELETE FROM public.event_logs old
WHERE run_id = '' AND timestamp < now() AT TIME ZONE 'UTC' - make_interval(days => %(days)s)
  AND EXISTS (SELECT FROM public.event_logs newer
              WHERE newer.run_id = '' AND newer.asset_key = old.asset_key AND newer.id > old.id);

-- name: forget_check_executions
-- Delete the planned and executed checks of a run, which Dagster leaves where it deletes the run.
DELETE FROM asset_check_executions WHERE run_id = %(run_id)s;

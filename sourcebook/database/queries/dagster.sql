-- name: daemon_heartbeats
-- Return the seconds since the last heartbeat of each daemon. Dagster writes times in UTC, without a zone.
SELECT daemon_type, greatest(extract(epoch FROM now() - timestamp AT TIME ZONE 'UTC'), 0)::float8
FROM public.daemon_heartbeats;

-- name: sensor_ticks
-- Return the seconds since the last tick of each sensor that ticked in the last week, and whether it failed.
SELECT DISTINCT ON (1)
       instigator.instigator_body::jsonb -> 'origin' ->> 'job_name',
       greatest(extract(epoch FROM now() - tick.timestamp AT TIME ZONE 'UTC'), 0)::float8 AS age,
       tick.status = 'FAILURE'
FROM public.instigators instigator
CROSS JOIN LATERAL (
    SELECT timestamp, status FROM public.job_ticks
    WHERE job_ticks.selector_id = instigator.selector_id AND status <> 'STARTED' ORDER BY timestamp DESC LIMIT 1) tick
WHERE instigator.instigator_type = 'SENSOR' AND instigator.status IN ('RUNNING', 'DECLARED_IN_CODE')
  AND tick.timestamp AT TIME ZONE 'UTC' > now() - interval '7 days'
ORDER BY 1, age;

-- name: unfinished_runs
-- Return how many runs of each status have not ended.
SELECT status, count(*) FROM public.runs
WHERE status IN ('NOT_STARTED', 'QUEUED', 'STARTING', 'STARTED', 'CANCELING') GROUP BY 1;

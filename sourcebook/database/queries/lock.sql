-- name: lock_collection
-- Return whether this session has obtained the lock of a collection; those are let in first that asked for it before.
-- A session that has not looked for half a minute is that of a process that stands still.
SELECT CASE WHEN EXISTS (
    SELECT FROM pg_locks JOIN pg_stat_activity asking USING (pid)
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND pid <> pg_backend_pid()
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND ((classid::bigint << 32) | objid::bigint) = hashtextextended('sourcebook wanted ' || %(collection)s, 0)
      AND asking.state_change > now() - interval '30 s'
      AND asking.backend_start < (SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()))
THEN false ELSE pg_try_advisory_lock(hashtextextended('sourcebook collection ' || %(collection)s, 0)) END;

-- name: is_alive
-- Return whether the server still serves this session.
SELECT true;

-- name: collection_is_locked
-- Return whether a session holds the lock of a collection.
SELECT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND ((classid::bigint << 32) | objid::bigint) = hashtextextended('sourcebook collection ' || %(collection)s, 0));

-- name: lock_dagster_storage
-- Lock Dagster's storage until the session ends: one process at a time creates its tables.
SELECT pg_advisory_lock(%(lock)s);

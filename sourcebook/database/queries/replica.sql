-- name: written_so_far
-- Return the place in the log that the primary has written to, and its clock.
SELECT pg_current_wal_lsn()::text, extract(epoch FROM clock_timestamp())::float8;

-- name: replayed_so_far
-- Return whether a server is a replica, whether it has replayed the log up to a place, when the last transaction that it has replayed was committed, and its clock.
SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() >= coalesce(%(place)s::pg_lsn, 'FFFFFFFF/FFFFFFFF'),
    extract(epoch FROM pg_last_xact_replay_timestamp())::float8, extract(epoch FROM clock_timestamp())::float8,
    pg_last_wal_replay_lsn()::text;

-- name: has_replayed
-- Return which of several places in the log are replayed at a place.
SELECT ARRAY(SELECT place::pg_lsn <= %(replayed)s::pg_lsn FROM unnest(%(places)s::text[]) WITH ORDINALITY AS t (place, n) ORDER BY n);

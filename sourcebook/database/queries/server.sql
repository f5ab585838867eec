-- name: configure_connection
-- Set the search path and the planner settings of a session.
--
-- HNSW: the breadth of a scan, and continuing it where a search wants more. Plans are made for the values at hand: a
-- generic plan prunes no partition. Set once per session, these cost no statement in a search.
SET search_path TO sourcebook, public;
SET hnsw.iterative_scan = relaxed_order;
SET hnsw.ef_search = 200;
SET plan_cache_mode = force_custom_plan;
-- As notice_a_vanished_client: its transactions end, too.
SET tcp_keepalives_idle = 30;
SET tcp_keepalives_interval = 10;
SET tcp_keepalives_count = 3;

-- name: notice_a_vanished_client
-- Have the server end a session, and its locks, a minute after its client's machine vanished, not after two hours.
SET tcp_keepalives_idle = 30;
SET tcp_keepalives_interval = 10;
SET tcp_keepalives_count = 3;

-- name: limit_statements
-- Limit the wait for a lock and the run of every statement of a session.
SELECT set_config('lock_timeout', %(lock)s, false), set_config('statement_timeout', %(statement)s, false);

-- name: find_idle_sessions
-- Return the processes of the sessions that wait for a statement of their client.
SELECT pid FROM pg_stat_activity WHERE left(state, 4) = 'idle' AND pid <> pg_backend_pid();

-- name: set_search_path
-- Set the search path of a session whose database may lack pgvector.
SET search_path TO sourcebook, public;

-- name: find_database
-- Return a row where the server has a database of a name.
SELECT 1 FROM pg_database WHERE datname = %(name)s;

-- name: create_database
-- Create a database.
CREATE DATABASE {name};

-- name: write_out
-- Have the server write what it holds in memory to disk.
CHECKPOINT;

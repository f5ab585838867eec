-- name: configure_session
-- Set what every session of the library needs, whatever the role, the database or the server sets: pg_dump does so too.
--
-- Texts of dates, intervals, numbers and bytes as the driver reads them; literals as the statements write them. A
-- transaction sees what others have committed meanwhile. Times in which an administrator ends sessions, statements and
-- transactions would end long work: the indexes of a generation, or the session that holds the lock of a collection.
SET client_encoding = 'UTF8';
SET DateStyle = 'ISO';
SET IntervalStyle = 'postgres';
SET bytea_output = 'hex';
SET extra_float_digits = 1;
SET standard_conforming_strings = on;
SET default_transaction_isolation = 'read committed';
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET idle_session_timeout = 0;
SELECT set_config('transaction_timeout', '0', false) -- of PostgreSQL 17
WHERE current_setting('transaction_timeout', true) IS NOT NULL;
-- Have the server end a session, and its locks, two seconds after its client's end, also during a statement, where its
-- system can tell; and a minute after its client's machine vanished, not after two hours.
SELECT set_config('client_connection_check_interval', '2s', false) WHERE version() ~ 'linux|darwin|bsd';
SET tcp_keepalives_idle = 30;
SET tcp_keepalives_interval = 10;
SET tcp_keepalives_count = 3;

-- name: configure_connection
-- Set the search path and the planner settings of a session.
--
-- HNSW: the breadth of a scan, and continuing it where a search wants more. Plans are made for the values at hand: a
-- generic plan prunes no partition. Compiling a plan (JIT, on by default) takes longer than any statement of a search.
-- Set once per session, these cost no statement in a search.
SET search_path TO sourcebook, public;
SET hnsw.iterative_scan = relaxed_order;
SET hnsw.ef_search = 200;
SET plan_cache_mode = force_custom_plan;
SET jit = off;

-- name: session_process
-- Return the process of the session in the server, which a connection pooler hides.
SELECT pg_backend_pid();

-- name: limit_statements
-- Limit the wait for a lock and the run of every statement of a session.
SELECT set_config('lock_timeout', %(lock)s, false), set_config('statement_timeout', %(statement)s, false);

-- name: find_idle_sessions
-- Return the processes of the sessions that wait for a statement of their client.
SELECT pid FROM pg_stat_activity WHERE left(state, 4) = 'idle' AND pid <> pg_backend_pid();

-- name: find_database
-- Return a row where the server has a database of a name.
SELECT 1 FROM pg_database WHERE datname = %(name)s;

-- name: create_database
-- Create a database.
CREATE DATABASE {name};

-- name: write_out
-- Have the server write what it holds in memory to disk.
CHECKPOINT;

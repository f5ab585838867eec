-- name: locale_of_database
-- Return whether this database has a locale of the C library, and the two names of it.
SELECT datlocprovider = 'c', datcollate, datctype FROM pg_database WHERE datname = current_database();

-- name: create_database_alike
-- Create a database with a locale of the C library, whatever that of new databases is.
CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc LC_COLLATE {collate} LC_CTYPE {ctype};

-- name: abandoned_scratch_databases
-- Return the scratch databases of this role that no session uses.
SELECT datname FROM pg_database base
WHERE starts_with(datname, %(prefix)s) AND pg_get_userbyid(datdba) = current_user
  AND NOT EXISTS (SELECT FROM pg_stat_activity session WHERE session.datname = base.datname)
ORDER BY datname;

-- name: drop_abandoned_database
-- Drop a database that no session uses.
DROP DATABASE IF EXISTS {name};

-- name: drop_scratch_database
-- Drop a database, and end its sessions.
DROP DATABASE IF EXISTS {name} WITH (FORCE);

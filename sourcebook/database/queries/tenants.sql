-- Tenants: a database for each, with a role of the same name, in one PostgreSQL. Statements of its administrator.

-- name: tenants
-- Return each database that belongs to a role of its name which is no superuser and may ask for principals.
SELECT datname, role.rolconnlimit, pg_database_size(base.oid),
       (SELECT count(*) FROM pg_stat_activity session WHERE session.datname = base.datname)
FROM pg_database base
JOIN pg_roles role ON role.oid = base.datdba AND role.rolname = base.datname AND NOT role.rolsuper
JOIN pg_auth_members held ON held.member = role.oid
JOIN pg_roles reader ON reader.oid = held.roleid AND reader.rolname = 'sourcebook_reader'
GROUP BY base.oid, datname, role.rolconnlimit
ORDER BY datname;

-- name: administers
-- Return whether the session may make roles and databases.
SELECT rolsuper OR rolcreaterole AND rolcreatedb FROM pg_roles WHERE rolname = current_user;

-- name: role_of_tenant
-- Return whether a role may ask for principals and is no superuser; no row where there is no such role.
SELECT NOT rolsuper AND EXISTS (
    SELECT FROM pg_auth_members held JOIN pg_roles reader ON reader.oid = held.roleid
    WHERE held.member = role.oid AND reader.rolname = 'sourcebook_reader')
FROM pg_roles role WHERE rolname = %(name)s;

-- name: owner_of_database
-- Return the role that a database belongs to.
SELECT pg_get_userbyid(datdba)::text FROM pg_database WHERE datname = %(name)s;

-- name: has_reader
-- Return a row where the role is there by which principals are asked for.
SELECT FROM pg_roles WHERE rolname = 'sourcebook_reader';

-- name: make_reader
-- Make the role by which principals are asked for, in every database.
CREATE ROLE sourcebook_reader NOLOGIN;

-- name: make_role_of_tenant
-- Make the role of a tenant.
CREATE ROLE {name} LOGIN;

-- name: let_role_read
-- Let the role of a tenant ask for principals.
GRANT sourcebook_reader TO {name};

-- name: set_password_of_tenant
-- Let a tenant sign in with a password, of which the server and its log get the SCRAM verifier alone.
ALTER ROLE {name} PASSWORD {password};

-- name: limit_connections_of_tenant
-- Limit how many connections a tenant has at once.
ALTER ROLE {name} CONNECTION LIMIT {most};

-- name: make_database_of_tenant
-- Make the database of a tenant.
CREATE DATABASE {name} OWNER {name} TEMPLATE template0 ENCODING 'UTF8';

-- name: close_database_to_others
-- Let no other role connect to the database of a tenant: PostgreSQL lets every role otherwise.
REVOKE CONNECT, TEMPORARY ON DATABASE {name} FROM PUBLIC;

-- name: make_vectors
-- Make the extension for vectors.
CREATE EXTENSION IF NOT EXISTS vector;

-- name: drop_database_of_tenant
-- Drop the database of a tenant, and end its sessions.
DROP DATABASE IF EXISTS {name} WITH (FORCE);

-- name: drop_role_of_tenant
-- Drop the role of a tenant.
DROP ROLE IF EXISTS {name};

-- name: lock_schema
-- Lock the schema until the transaction ends: one process at a time changes it.
SELECT pg_advisory_xact_lock(%(lock)s);

-- name: find_schema
-- Return a row where the schema exists, with or without tables.
SELECT 1 FROM pg_namespace WHERE nspname = 'sourcebook';

-- name: create_schema
-- Create the schema.
CREATE SCHEMA sourcebook;

-- name: knows_letters
-- Return whether the database's locale tells letters from other signs, and capital from small ones, as the keyword leg needs.
SELECT to_tsvector('simple', '„Ö“')::text = '''ö'':1';

-- name: may_make_temporary_tables
-- Return whether the role may create temporary tables, as stages and searches do.
SELECT has_database_privilege(current_database(), 'TEMPORARY');

-- name: limit_migration
-- Let a migration wait for each of its tables no longer in all than a search behind it may wait without failing.
SET LOCAL lock_timeout = '300ms';

-- name: schema_exists
-- Return whether the schema has been built.
SELECT to_regclass('sourcebook.schema_migration') IS NOT NULL;

-- name: applied_migrations
-- Return the migrations that were applied.
SELECT version, name FROM sourcebook.schema_migration;

-- name: stored_settings
-- Return the settings of each collection of a checkout.
SELECT name, settings, overruled_settings, written_settings FROM sourcebook.collection;

-- name: store_settings
-- Replace the settings of a collection of a checkout.
UPDATE sourcebook.collection
SET settings = %(settings)s, overruled_settings = %(overruled)s, written_settings = %(written)s
WHERE name = %(name)s;

-- name: stored_sites
-- Return the settings of each web site of a checkout.
SELECT id, settings FROM sourcebook.source WHERE kind = 'site';

-- name: store_site
-- Replace the settings of a web site of a checkout.
UPDATE sourcebook.source SET settings = %(settings)s WHERE id = %(id)s;

-- name: stored_embeddings
-- Return the embedding settings of each generation of a checkout.
SELECT id, embedding FROM sourcebook.generation;

-- name: store_embedding
-- Replace the embedding settings of a generation of a checkout.
UPDATE sourcebook.generation SET embedding = %(embedding)s WHERE id = %(id)s;

-- name: record_migration
-- Record a migration as applied.
INSERT INTO sourcebook.schema_migration (version, name) VALUES (%(version)s, %(name)s);

-- name: create_pgvector
-- Enable pgvector in the database.
CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;

-- name: enabled_pgvector
-- Return the version of pgvector that the database uses, and its schema.
SELECT extversion, extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector';

-- name: available_pgvector
-- Return the version of pgvector that the database uses, or else the one that its server has.
SELECT coalesce(installed_version, default_version) FROM pg_available_extensions WHERE name = 'vector';

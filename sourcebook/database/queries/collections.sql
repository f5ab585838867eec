-- name: collections
-- Return the names of the live collections.
SELECT name FROM collection WHERE removed_at IS NULL ORDER BY name;

-- name: record_collection
-- Insert a collection or update its settings; a live one that was declared elsewhere stays as it is.
INSERT INTO collection (name, settings, declared_in, written_settings)
VALUES (%(name)s, %(settings)s, %(declared_in)s, %(written)s)
ON CONFLICT (name) DO UPDATE SET
    settings = excluded.settings, declared_in = excluded.declared_in, written_settings = excluded.written_settings,
    applied_at = now(), removed_at = NULL
    WHERE (collection.declared_in = excluded.declared_in OR collection.removed_at IS NOT NULL)
      AND (collection.settings, collection.written_settings, collection.removed_at)
          IS DISTINCT FROM (excluded.settings, excluded.written_settings, NULL);

-- name: record_source
-- Insert a source or update its settings; a site or repository whose settings changed is due at once.
INSERT INTO source (collection, kind, location, include, exclude, tags, max_bytes, settings)
VALUES (%(collection)s, %(kind)s, %(location)s, %(include)s, %(exclude)s, %(tags)s, %(max_bytes)s, %(settings)s)
ON CONFLICT (collection, kind, location) DO UPDATE SET
    include = excluded.include, exclude = excluded.exclude, tags = excluded.tags, max_bytes = excluded.max_bytes,
    settings = excluded.settings, removed_at = NULL,
    next_crawl_at = CASE WHEN source.kind = 'site' THEN now() END, next_fetch_at = NULL
    WHERE (source.include, source.exclude, source.tags, source.max_bytes, source.settings, source.removed_at)
        IS DISTINCT FROM
        (excluded.include, excluded.exclude, excluded.tags, excluded.max_bytes, excluded.settings, NULL);

-- name: other_permissions
-- Return the permissions of a source, where it is seen by others than those who are to see its items.
SELECT permissions FROM source
WHERE collection = %(collection)s AND kind = %(kind)s AND location = %(location)s
  AND permissions IS DISTINCT FROM %(permissions)s;

-- name: record_permissions
-- Record who may see the items of a source, which its documents follow; whoever writes documents is waited for.
UPDATE source SET permissions = %(permissions)s
WHERE collection = %(collection)s AND kind = %(kind)s AND location = %(location)s;

-- name: uploads_location
-- Return the location of the uploads of a collection.
SELECT location FROM source WHERE collection = %(collection)s AND kind = 'uploads';

-- name: collection_permissions
-- Return who may see the documents of a collection, where its settings say so.
SELECT settings -> 'allowed', settings -> 'denied' FROM collection WHERE name = %(collection)s;

-- name: remove_sources
-- Mark the sources of a collection as removed that its configuration no longer names; uploads are in none.
UPDATE source SET removed_at = now()
WHERE collection = %(collection)s AND removed_at IS NULL AND kind <> 'uploads'
  AND NOT location = ANY(
      CASE kind WHEN 'files' THEN %(folders)s::text[] WHEN 'site' THEN %(sites)s::text[] ELSE %(collections)s::text[] END);

-- name: remove_collections
-- Mark collections as removed that the configuration no longer names; those of the API are none of its.
UPDATE collection SET removed_at = now()
WHERE removed_at IS NULL AND declared_in = 'file' AND NOT name = ANY(%(names)s)
RETURNING name;

-- name: collections_of_the_api
-- Return the names of the live collections that the API has made.
SELECT name FROM collection WHERE removed_at IS NULL AND declared_in = 'api' ORDER BY name;

-- name: create_collection
-- Insert a collection of the API, so far without settings; no row where there is one of that name, removed or not.
INSERT INTO collection (name, settings, declared_in) VALUES (%(name)s, '{}', 'api')
ON CONFLICT (name) DO NOTHING RETURNING name;

-- name: collection_declaration
-- Return where a collection was declared, its settings as applied and as written, and when it was removed.
SELECT name, declared_in, settings, written_settings, removed_at FROM collection WHERE name = %(name)s;

-- name: lock_declaration
-- Keep the settings of a collection from being changed by others until the end of the transaction.
SELECT FROM collection WHERE name = %(name)s FOR UPDATE;

-- name: lock_rules
-- Let one session at a time change which collections take documents of which, until the end of its transaction.
SELECT pg_advisory_xact_lock(hashtextextended('sourcebook rules of collections', 0));

-- name: delete_collection
-- Mark a collection of the API as removed: it is neither searched nor updated from now on.
UPDATE collection SET removed_at = now() WHERE name = %(name)s AND declared_in = 'api' AND removed_at IS NULL;

-- name: rename_collection
-- Give a collection another name, and all that refers to it; return false where something else has that name.
SELECT rename_collection(%(name)s, %(new_name)s);

-- name: all_givers
-- Return each live collection with the collections that it takes documents of.
SELECT collection.name, coalesce(array_agg(source.location ORDER BY source.id) FILTER (WHERE source.id IS NOT NULL), '{}')
FROM collection LEFT JOIN source
    ON source.collection = collection.name AND source.kind = 'collection' AND source.removed_at IS NULL
WHERE collection.removed_at IS NULL
GROUP BY collection.name
ORDER BY collection.name;

-- name: models_of_the_file
-- Return the local embedding models that collections of the configuration file name.
SELECT DISTINCT settings #>> '{embedding,model}' FROM collection
WHERE declared_in = 'file' AND removed_at IS NULL AND settings #>> '{embedding,provider}' IS NULL
  AND settings #>> '{embedding,model}' IS NOT NULL;

-- name: answering_of_the_file
-- Return the settings of answering of the collections of the configuration file, the last name first.
SELECT settings -> 'answering' FROM collection
WHERE declared_in = 'file' AND removed_at IS NULL AND jsonb_typeof(settings -> 'answering') = 'object'
ORDER BY name DESC;

-- name: has_sites
-- Return whether a collection has sites, or pages of a site that left it.
SELECT EXISTS (
    SELECT FROM source
    WHERE collection = %(collection)s AND kind = 'site'
      AND (removed_at IS NULL OR EXISTS (
          SELECT FROM crawled_page page WHERE page.source_id = source.id AND page.removed_at IS NULL)));

-- name: givers
-- Return the collections that a collection takes documents of.
SELECT location FROM source
WHERE collection = %(collection)s AND kind = 'collection' AND removed_at IS NULL
ORDER BY location;

-- name: settings_digest
-- Return a digest of the settings of a collection, its sources included.
SELECT md5(settings::text) FROM collection WHERE name = %(collection)s;

-- name: retry_failed_documents
-- Let the failed documents of a collection that wait for a change be retried: its settings have changed.
UPDATE document SET next_retry_at = now()
WHERE collection = %(collection)s AND failure IS NOT NULL AND next_retry_at IS NULL AND removed_at IS NULL;

-- name: settings_of_collections
-- Return the settings of the live collections.
SELECT name, settings FROM collection WHERE removed_at IS NULL;

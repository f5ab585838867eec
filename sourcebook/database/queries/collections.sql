-- name: collections
-- Return the names of the live collections.
SELECT name FROM collection WHERE removed_at IS NULL ORDER BY name;

-- name: record_collection
-- Insert a collection or update its settings.
INSERT INTO collection (name, settings) VALUES (%(name)s, %(settings)s)
ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, applied_at = now(), removed_at = NULL
    WHERE (collection.settings, collection.removed_at) IS DISTINCT FROM (excluded.settings, NULL);

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

-- name: remove_sources
-- Mark the sources of a collection as removed that its configuration no longer names; uploads are in none.
UPDATE source SET removed_at = now()
WHERE collection = %(collection)s AND removed_at IS NULL AND kind <> 'uploads'
  AND NOT location = ANY(
      CASE kind WHEN 'files' THEN %(folders)s::text[] WHEN 'site' THEN %(sites)s::text[] ELSE %(collections)s::text[] END);

-- name: remove_collections
-- Mark collections as removed that the configuration no longer names.
UPDATE collection SET removed_at = now()
WHERE removed_at IS NULL AND NOT name = ANY(%(names)s)
RETURNING name;

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

-- name: shards_of_collection
-- Return the number of shards of a collection by its applied settings.
SELECT coalesce((settings ->> 'shards')::integer, 1) FROM sourcebook.collection WHERE name = %(collection)s;

-- name: shards_of_collections
-- Return the collections that are not removed, with the numbers of their shards.
SELECT name, coalesce((settings ->> 'shards')::integer, 1) FROM collection WHERE removed_at IS NULL ORDER BY name;

-- name: lock_beside_shards
-- Return whether this session has obtained the share of a collection's lock that the runs of its shards have.
SELECT pg_try_advisory_lock_shared(hashtextextended('sourcebook collection ' || %(collection)s, 0));

-- name: unlock_beside_shards
-- Release a share of the lock of a collection.
SELECT pg_advisory_unlock_shared(hashtextextended('sourcebook collection ' || %(collection)s, 0));

-- name: lock_shard
-- Return whether this session has obtained the lock of a shard, whose number is in the lower 16 bits of its key.
SELECT pg_try_advisory_lock(hashtext('sourcebook shard ' || %(collection)s), (%(shards)s::integer << 16) | %(shard)s);

-- name: unlock_everything
-- Release every lock of this session.
SELECT pg_advisory_unlock_all();

-- name: begin_shard_work
-- Say that a shard is being worked on, or will be, until its documents are published. Two sessions may say it.
SELECT pg_try_advisory_lock_shared(hashtext('sourcebook work ' || %(collection)s), (%(shards)s::integer << 16) | %(shard)s);

-- name: end_shard_work
-- Take back what this session has said of a shard.
SELECT pg_advisory_unlock_shared(hashtext('sourcebook work ' || %(collection)s), (%(shards)s::integer << 16) | %(shard)s)
FROM pg_locks
WHERE pid = pg_backend_pid() AND locktype = 'advisory' AND objsubid = 2
  AND classid::bigint = hashtext('sourcebook work ' || %(collection)s)::bigint & 4294967295
  AND objid::bigint = (%(shards)s::bigint << 16) | %(shard)s::bigint;

-- name: working_shards
-- Return how many shards of a collection are being worked on.
SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 2 AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND classid::bigint = hashtext('sourcebook work ' || %(collection)s)::bigint & 4294967295;

-- name: collection_is_locked_whole
-- Return whether a session holds the lock of a whole collection, beside which no shard is worked on.
SELECT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND mode = 'ExclusiveLock'
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND ((classid::bigint << 32) | objid::bigint) = hashtextextended('sourcebook collection ' || %(collection)s, 0));

-- name: shard_is_locked
-- Return whether a session holds the lock of a shard.
SELECT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 2 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND classid::bigint = hashtext('sourcebook shard ' || %(collection)s)::bigint & 4294967295
      AND objid::bigint = (%(shards)s::bigint << 16) | %(shard)s::bigint);

-- name: other_shards_are_locked
-- Return whether a session holds the lock of a shard of the same collection when it had another number of shards.
SELECT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 2 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND classid::bigint = hashtext('sourcebook shard ' || %(collection)s)::bigint & 4294967295
      AND objid::bigint >> 16 <> %(shards)s);

-- name: ask_for_collection
-- Keep further runs of shards from beginning, until the collection's lock is obtained.
SELECT pg_try_advisory_lock_shared(hashtextextended('sourcebook wanted ' || %(collection)s, 0));

-- name: end_asking_for_collection
-- Let runs of shards begin again.
SELECT pg_advisory_unlock_shared(hashtextextended('sourcebook wanted ' || %(collection)s, 0));

-- name: collection_is_asked_for
-- Return whether a session waits for the lock of a whole collection.
SELECT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND ((classid::bigint << 32) | objid::bigint) = hashtextextended('sourcebook wanted ' || %(collection)s, 0));

-- name: begin_turn
-- Return whether this session has obtained the turn for work that one shard of a collection at a time does.
SELECT pg_try_advisory_lock(hashtextextended('sourcebook turn ' || %(part)s || ' ' || %(collection)s, 0));

-- name: end_turn
-- End a turn.
SELECT pg_advisory_unlock(hashtextextended('sourcebook turn ' || %(part)s || ' ' || %(collection)s, 0));

-- name: marked_items_of_shard
-- Return the marks on items of a shard.
SELECT changed.id, changed.uri
FROM changed_item changed
CROSS JOIN LATERAL (
    SELECT CASE WHEN EXISTS (SELECT FROM attachment) THEN root_item(%(collection)s, changed.uri) ELSE changed.uri END OFFSET 0
) AS root (uri)
WHERE changed.collection = %(collection)s AND item_bucket(root.uri) * %(shards)s / 4096 + 1 = %(shard)s;

-- name: compared_with_of_shard
-- Return the digests of the parsers that the unmarked items of a collection, and those of a shard, were compared with.
SELECT collection.compared_with, shard_state.compared_with
FROM collection
LEFT JOIN shard_state ON shard_state.collection = collection.name
    AND shard_state.shards = %(shards)s AND shard_state.shard = %(shard)s
WHERE collection.name = %(collection)s;

-- name: items_of_shard
-- Return the URIs of the items and documents of a shard.
SELECT uri FROM items_in(%(collection)s, NULL) AS item
WHERE item_bucket(coalesce(item.container, item.uri)) * %(shards)s / 4096 + 1 = %(shard)s
UNION
SELECT document.uri
FROM document
LEFT JOIN attachment_roots(%(collection)s) AS part ON part.uri = document.uri
WHERE document.collection = %(collection)s
  AND item_bucket(coalesce(part.root, document.uri)) * %(shards)s / 4096 + 1 = %(shard)s;

-- name: among_shard
-- Return those of some URIs that are in a shard.
SELECT given.uri
FROM unnest(%(uris)s::text[]) AS given (uri)
CROSS JOIN LATERAL (
    SELECT CASE WHEN EXISTS (SELECT FROM attachment) THEN root_item(%(collection)s, given.uri) ELSE given.uri END OFFSET 0
) AS root (uri)
WHERE item_bucket(root.uri) * %(shards)s / 4096 + 1 = %(shard)s;

-- name: record_parsers_of_shard
-- Record the parsers that every unmarked item of a shard was compared with; with others the collection was not.
WITH former AS (
    DELETE FROM shard_state WHERE collection = %(collection)s AND shards <> %(shards)s
), other AS (
    UPDATE collection SET compared_with = NULL WHERE name = %(collection)s AND compared_with <> %(parsers)s
)
INSERT INTO shard_state (collection, shards, shard, compared_with)
VALUES (%(collection)s, %(shards)s, %(shard)s, %(parsers)s)
ON CONFLICT (collection, shards, shard) DO UPDATE SET compared_with = excluded.compared_with;

-- name: record_parsers_of_all_shards
-- Record the parsers for the collection where every one of its shards was compared with them.
WITH settled AS (
    UPDATE collection SET compared_with = %(parsers)s
    WHERE name = %(collection)s AND compared_with IS DISTINCT FROM %(parsers)s
      AND (SELECT count(*) FROM shard_state
           WHERE shard_state.collection = %(collection)s AND shards = %(shards)s
             AND shard_state.compared_with = %(parsers)s) = %(shards)s
    RETURNING name
)
UPDATE shard_state SET compared_with = NULL FROM settled WHERE shard_state.collection = settled.name;

-- name: marked_documents_of_shard
-- Return the marks on documents of a shard; those of deleted documents are the first one's.
SELECT changed.id, changed.document_id
FROM changed_document changed
LEFT JOIN document ON document.id = changed.document_id
CROSS JOIN LATERAL (
    SELECT CASE WHEN EXISTS (SELECT FROM attachment) THEN root_item(%(collection)s, document.uri) ELSE document.uri END OFFSET 0
) AS root (uri)
WHERE changed.collection = %(collection)s
  AND coalesce(item_bucket(root.uri) * %(shards)s / 4096 + 1, 1) = %(shard)s;

-- name: prepared_with_of_shard
-- Return the chunking rules by which the unmarked documents of a generation, and those of a shard, are published.
SELECT generation.prepared_with, prepared.prepared_with
FROM generation
LEFT JOIN shard_preparation prepared ON prepared.generation_id = generation.id
    AND prepared.shards = %(shards)s AND prepared.shard = %(shard)s
WHERE generation.id = %(generation)s;

-- name: documents_of_shard
-- Return the ids of the documents of a shard.
SELECT document.id
FROM document
LEFT JOIN attachment_roots(%(collection)s) AS part ON part.uri = document.uri
WHERE document.collection = %(collection)s
  AND item_bucket(coalesce(part.root, document.uri)) * %(shards)s / 4096 + 1 = %(shard)s;

-- name: record_preparation_of_shard
-- Record the chunking rules by which every unmarked document of a shard is published; by others the generation is not.
WITH former AS (
    DELETE FROM shard_preparation WHERE generation_id = %(generation)s AND shards <> %(shards)s
), other AS (
    UPDATE generation SET prepared_with = NULL WHERE id = %(generation)s AND prepared_with <> %(config_hash)s
)
INSERT INTO shard_preparation (generation_id, shards, shard, prepared_with)
VALUES (%(generation)s, %(shards)s, %(shard)s, %(config_hash)s)
ON CONFLICT (generation_id, shards, shard) DO UPDATE SET prepared_with = excluded.prepared_with;

-- name: record_preparation_of_all_shards
-- Record the chunking rules for the generation where every shard is published by them.
WITH settled AS (
    UPDATE generation SET prepared_with = %(config_hash)s
    WHERE id = %(generation)s AND prepared_with IS DISTINCT FROM %(config_hash)s
      AND (SELECT count(*) FROM shard_preparation prepared
           WHERE prepared.generation_id = %(generation)s AND prepared.shards = %(shards)s
             AND prepared.prepared_with = %(config_hash)s) = %(shards)s
    RETURNING id
)
DELETE FROM shard_preparation USING settled WHERE shard_preparation.generation_id = settled.id;

-- name: record_listing_of_shard
-- Record when the worker of a shard listed a source, or why it could not list it completely.
INSERT INTO shard_listing AS known (source_id, shards, shard, listed_at, error, error_class)
VALUES (%(source_id)s, %(shards)s, %(shard)s, CASE WHEN %(error)s::text IS NULL THEN now() END, %(error)s,
        %(failure_class)s)
ON CONFLICT (source_id, shards, shard) DO UPDATE SET
    listed_at = coalesce(excluded.listed_at, known.listed_at), error = excluded.error,
    error_class = excluded.error_class;

-- name: record_listing_of_shards
-- Record for a source the oldest of the listings of its shards, and the first of their errors.
UPDATE source
SET listed_at = CASE WHEN held.listings = %(shards)s THEN coalesce(held.oldest, source.listed_at) ELSE source.listed_at END,
    listing_error = held.error, listing_error_class = held.error_class,
    held_of = CASE WHEN held.error IS NULL OR %(held_of)s::integer IS NOT NULL THEN %(held_of)s ELSE held_of END
FROM (
    SELECT count(listed_at) AS listings, min(listed_at) AS oldest,
           (array_agg(error ORDER BY shard) FILTER (WHERE error IS NOT NULL))[1] AS error,
           (array_agg(error_class ORDER BY shard) FILTER (WHERE error IS NOT NULL))[1] AS error_class
    FROM shard_listing WHERE source_id = %(source_id)s AND shards = %(shards)s
) held
WHERE source.id = %(source_id)s;

-- name: checked_at_of_shard
-- Return the start of the last checks of a shard without a violation, and the present time.
SELECT (SELECT checked_at FROM shard_state
        WHERE collection = %(collection)s AND shards = %(shards)s AND shard = %(shard)s), now();

-- name: record_checks_of_shard
-- Record the start of checks of a shard; NULL where they found a violation in the index.
INSERT INTO shard_state (collection, shards, shard, checked_at)
VALUES (%(collection)s, %(shards)s, %(shard)s, %(at)s)
ON CONFLICT (collection, shards, shard) DO UPDATE SET checked_at = excluded.checked_at;

-- name: documents_among_shard
-- Return those of some documents that are in a shard.
SELECT document.id
FROM document
CROSS JOIN LATERAL (
    SELECT CASE WHEN EXISTS (SELECT FROM attachment) THEN root_item(%(collection)s, document.uri) ELSE document.uri END OFFSET 0
) AS root (uri)
WHERE document.id = ANY(%(documents)s) AND item_bucket(root.uri) * %(shards)s / 4096 + 1 = %(shard)s;

-- name: note_comparison_of_shard
-- Record the newest foreign statement whose consequences were looked for in a shard.
INSERT INTO shard_state AS known (collection, shards, shard, foreign_mark)
VALUES (%(collection)s, %(shards)s, %(shard)s, %(mark)s)
ON CONFLICT (collection, shards, shard) DO UPDATE SET foreign_mark = greatest(known.foreign_mark, excluded.foreign_mark);

-- name: shards_have_compared
-- Return whether every shard has looked for the consequences of a foreign statement.
SELECT count(*) >= %(shards)s FROM shard_state
WHERE collection = %(collection)s AND shards = %(shards)s AND foreign_mark >= %(mark)s;

-- name: listing_errors_of_shard
-- Return why the worker of a shard could not list the sources of a collection, by the ids of all sources.
SELECT source.id, listing.error
FROM source
LEFT JOIN shard_listing listing
    ON listing.source_id = source.id AND listing.shards = %(shards)s AND listing.shard = %(shard)s
WHERE source.collection = %(collection)s;

-- name: active_generation
-- Return the active generation of a collection.
SELECT generation.id, generation.collection, generation.chunking, generation.embedding, generation.model,
       generation.dimensions
FROM collection JOIN generation ON generation.id = collection.active_generation_id
WHERE collection.name = %(collection)s;

-- name: collection_generations
-- Return the applied settings of a collection that decide its generation, and all of its generations.
SELECT collection.settings -> 'chunking' AS chunking, collection.settings -> 'embedding' AS embedding,
       collection.settings -> 'generations' AS rules, collection.settings -> 'evaluation' AS evaluation, collection.active_generation_id, collection.building_generation_id,
       collection.overruled_settings, collection.generation_error, collection.model_choice AS choice,
       (SELECT verdict FROM generation WHERE id = collection.building_generation_id) AS verdict,
       (SELECT max(activated_at) FROM activation WHERE activation.collection = collection.name) AS activated_at,
       ARRAY(
           SELECT jsonb_build_object(
               'id', generation.id, 'collection', generation.collection, 'chunking', generation.chunking,
               'embedding', generation.embedding, 'model', generation.model, 'dimensions', generation.dimensions)
           FROM generation WHERE generation.collection = collection.name AND retired_at IS NULL
           ORDER BY (SELECT max(activation.id) FROM activation WHERE generation_id = generation.id) DESC NULLS LAST,
                    generation.id DESC) AS generations,
       ARRAY(
           SELECT id FROM generation
           WHERE generation.collection = collection.name AND retired_at IS NOT NULL ORDER BY id) AS retired,
       ARRAY(
           SELECT DISTINCT generation_id FROM activation WHERE activation.collection = collection.name) AS activated
FROM collection
WHERE name = %(collection)s AND removed_at IS NULL;

-- name: document_languages
-- Return the languages of the live documents of a collection, with their numbers, the most first.
SELECT language, count(*) FROM document
WHERE collection = %(collection)s AND removed_at IS NULL AND content_hash IS NOT NULL AND language IS NOT NULL
GROUP BY 1 ORDER BY 2 DESC, 1;

-- name: record_model_choice
-- Record the embedding model that was chosen for a collection.
UPDATE collection SET model_choice = %(choice)s WHERE name = %(collection)s;

-- name: model_choice
-- Return the recorded choice of a collection's embedding model.
SELECT model_choice FROM collection WHERE name = %(collection)s;

-- name: record_engine
-- Record the engine that computed the latest vectors of a generation.
UPDATE generation SET engine = %(engine)s WHERE id = %(generation)s AND engine IS DISTINCT FROM %(engine)s;

-- name: other_generations
-- Return the generations of a collection except for one.
SELECT id, collection, chunking, embedding, model, dimensions
FROM generation WHERE collection = %(collection)s AND id IS DISTINCT FROM %(generation)s;

-- name: insert_generation
-- Insert a generation and return its id.
INSERT INTO generation (collection, chunking, embedding, model, dimensions)
VALUES (%(collection)s, %(chunking)s, %(embedding)s, %(model)s, %(dimensions)s)
RETURNING id;

-- name: activate_generation
-- Make a generation the active one in place of `before`; no row where another one is active by now.
-- Nor is there a row where the generation is being deleted. The next checks look at every document.
WITH chosen AS MATERIALIZED (
    SELECT id FROM generation WHERE id = %(generation)s AND retired_at IS NULL FOR KEY SHARE
), changed AS (
    UPDATE collection
    SET active_generation_id = %(generation)s,
        building_generation_id = nullif(building_generation_id, %(generation)s),
        overruled_settings = %(overruled)s, checked_at = NULL
    FROM chosen
    WHERE name = %(collection)s AND active_generation_id IS NOT DISTINCT FROM %(before)s
    RETURNING name
)
INSERT INTO activation (collection, generation_id) SELECT name, %(generation)s FROM changed RETURNING id;

-- name: build_generation
-- Record the generation that is built beside the active one; NULL for none.
UPDATE collection SET building_generation_id = %(generation)s WHERE name = %(collection)s;

-- name: record_generation_error
-- Record the reason why no generation by the applied settings can be begun; NULL where it can.
UPDATE collection SET generation_error = %(reason)s
WHERE name = %(collection)s AND generation_error IS DISTINCT FROM %(reason)s;

-- name: forget_overruled_settings
-- Let the applied settings decide the generation again.
UPDATE collection SET overruled_settings = NULL WHERE name = %(collection)s;

-- name: record_generation_failure
-- Record the reason why a generation cannot be brought up to date; NULL where it can.
UPDATE generation SET failure = %(reason)s WHERE id = %(generation)s AND failure IS DISTINCT FROM %(reason)s;

-- name: record_generation_verdict
-- Record the comparison of a generation with the active one on judged questions.
UPDATE generation SET verdict = %(verdict)s WHERE id = %(generation)s;

-- name: record_generation_scores
-- Record the means of a generation's measures on judged questions.
UPDATE generation SET scores = %(scores)s WHERE id = %(generation)s;

-- name: create_partition
-- Create a partition and attach it: unlike CREATE TABLE … PARTITION OF, this waits for no search.
CREATE TABLE {partition} (LIKE {table} INCLUDING ALL);
ALTER TABLE {table} ATTACH PARTITION {partition} FOR VALUES IN ({number});
SELECT watch_table({name});

-- name: lock_generation
-- Wait for an activation of a generation that is going on, and hold up the next one until the transaction ends.
SELECT FROM generation WHERE id = %(generation)s FOR UPDATE;

-- name: begin_retirement
-- Mark a generation as one that is being deleted, unless it is active or being built; return whether it is marked.
UPDATE generation SET retired_at = coalesce(retired_at, now())
WHERE id = %(generation)s
  AND NOT EXISTS (SELECT FROM collection WHERE %(generation)s IN (active_generation_id, building_generation_id))
RETURNING true;

-- name: partition_state
-- Return whether a partition is still attached; no row without a table.
SELECT inhparent IS NOT NULL
FROM pg_class LEFT JOIN pg_inherits ON inhrelid = pg_class.oid
WHERE pg_class.oid = to_regclass(%(partition)s);

-- name: lock_detachments
-- Return whether this session may detach partitions: PostgreSQL allows one unfinished detachment from a table.
SELECT pg_try_advisory_lock(hashtextextended('sourcebook detachments', 0));

-- name: unlock_detachments
-- Let another session detach partitions.
SELECT pg_advisory_unlock(hashtextextended('sourcebook detachments', 0));

-- name: interrupted_detachments
-- Return the partitions of a table whose detachment was interrupted; until it is finished, no other one can begin.
SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
WHERE inhparent = to_regclass(%(table)s) AND inhdetachpending;

-- name: detach_partition
-- Detach a partition beside running searches, which keep their table until they end.
ALTER TABLE {table} DETACH PARTITION {partition} CONCURRENTLY;

-- name: finish_detachment
-- Detach a partition whose detachment was interrupted.
ALTER TABLE {table} DETACH PARTITION {partition} FINALIZE;

-- name: drop_detached_partition
-- Drop a partition that is detached.
DROP TABLE {partition};

-- name: delete_generation
-- Delete a generation with its passages and its vocabulary.
DELETE FROM generation WHERE id = %(generation)s;

-- name: generation_states
-- Return the generations of live collections with their documents, passages and times, newest activation first.
-- `documents` counts the live documents that are published in their newest version, `live` all that have content, and
-- `removed` the documents that are still in it although they were removed.
SELECT generation.id, generation.collection, generation.chunking, generation.embedding, generation.model,
       generation.entry_count AS passages, generation.created_at, generation.failure, generation.verdict, generation.scores,
       generation.retired_at IS NOT NULL AS is_retired,
       generation.id IS NOT DISTINCT FROM collection.active_generation_id AS is_active,
       generation.id IS NOT DISTINCT FROM collection.building_generation_id AS is_building,
       last.activated_at,
       (SELECT coalesce(sum(pg_total_relation_size(to_regclass(part.name || generation.id))), 0)::bigint
        FROM unnest(ARRAY['search_entry_', 'keyword_entry_']) AS part (name)) AS bytes,
       counted.documents, counted.live, counted.removed
FROM generation
JOIN collection ON collection.name = generation.collection AND collection.removed_at IS NULL
LEFT JOIN LATERAL (
    SELECT id, activated_at FROM activation WHERE generation_id = generation.id ORDER BY id DESC LIMIT 1
) last ON true
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE document.removed_at IS NULL AND document.content_hash IS NOT NULL
                              AND indexed.failure IS NULL) AS live,
           count(*) FILTER (WHERE document.removed_at IS NULL AND indexed.published_hash = document.content_hash
                              AND indexed.published_config IS NOT DISTINCT FROM indexed.config_hash) AS documents,
           count(*) FILTER (WHERE document.removed_at IS NOT NULL AND indexed.published_hash IS NOT NULL) AS removed
    FROM document
    LEFT JOIN indexed_document indexed
        ON indexed.document_id = document.id AND indexed.generation_id = generation.id
    WHERE document.collection = generation.collection
) counted
WHERE (%(collection)s::text IS NULL OR generation.collection = %(collection)s)
  AND (%(generation)s::bigint IS NULL OR generation.id = %(generation)s)
ORDER BY generation.collection, is_active DESC, is_building DESC, last.id DESC NULLS LAST, generation.id DESC;

-- name: search_scope
-- The active generations of the collections asked for; every collection where none is named.
SELECT collection.name, generation.id, generation.model, generation.embedding, generation.dimensions,
       ARRAY(SELECT known.name FROM text_configuration known
             WHERE known.generation_id = generation.id AND known.entries > 0 ORDER BY known.name) AS configurations
FROM collection
LEFT JOIN generation ON generation.id = collection.active_generation_id
WHERE collection.removed_at IS NULL
  AND (%(collections)s::text[] IS NULL OR collection.name = ANY(%(collections)s))
ORDER BY collection.name;

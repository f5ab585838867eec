-- name: active_generation
-- Return the active generation of a collection.
SELECT generation.id, generation.collection, generation.chunking, generation.embedding, generation.model,
       generation.dimensions
FROM collection JOIN generation ON generation.id = collection.active_generation_id
WHERE collection.name = %(collection)s;

-- name: collection_settings
-- Return the settings of a collection.
SELECT settings FROM collection WHERE name = %(collection)s AND removed_at IS NULL;

-- name: insert_generation
-- Insert a generation and return its id.
INSERT INTO generation (collection, chunking, embedding, model, dimensions)
VALUES (%(collection)s, %(chunking)s, %(embedding)s, %(model)s, %(dimensions)s)
RETURNING id;

-- name: activate_generation
-- Mark a generation as the active one of its collection.
UPDATE collection SET active_generation_id = %(generation)s WHERE name = %(collection)s;

-- name: create_partition
-- Create a partition and attach it: unlike CREATE TABLE … PARTITION OF, this waits for no search.
CREATE TABLE {partition} (LIKE {table} INCLUDING ALL);
ALTER TABLE {table} ATTACH PARTITION {partition} FOR VALUES IN ({number});

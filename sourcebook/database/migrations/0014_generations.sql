-- Several generations of a collection beside each other: the active one, one that is being built, and earlier ones.
ALTER TABLE collection ADD building_generation_id bigint;
ALTER TABLE collection ADD overruled_settings jsonb;
ALTER TABLE collection ADD generation_error text;
ALTER TABLE collection ADD CONSTRAINT collection_building_generation
    FOREIGN KEY (building_generation_id) REFERENCES generation (id) ON DELETE SET NULL;
ALTER TABLE generation ADD failure text;
ALTER TABLE generation ADD retired_at timestamptz;

-- The activations of generations, one row each, in their order.
CREATE TABLE activation (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    activated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX activation_collection ON activation (collection, id);
CREATE INDEX activation_generation ON activation (generation_id);
INSERT INTO activation (collection, generation_id, activated_at)
SELECT collection.name, generation.id, generation.created_at
FROM collection JOIN generation ON generation.id = collection.active_generation_id;

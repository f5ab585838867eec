-- The engine that computed the latest vectors of a generation, and the reason for it.
ALTER TABLE generation ADD COLUMN engine jsonb;

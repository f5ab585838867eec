-- name: add_measurements
-- Add the counts of a process to the totals.
INSERT INTO measurement AS known (name, labels, part, total)
SELECT * FROM unnest(%(names)s::text[], %(labels)s::text[], %(parts)s::text[], %(values)s::float8[])
ON CONFLICT (name, labels, part) DO UPDATE SET total = known.total + excluded.total;

-- name: measurements
-- Return the totals of all processes.
SELECT name, labels, part, total FROM measurement;

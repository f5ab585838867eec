-- name: freshness
-- Return the seconds since each collection's last comparison, and those that its oldest change or most overdue site waits.
SELECT collection.name AS collection,
       extract(epoch FROM now() - freshness.compared_at)::float8 AS compared_ago,
       greatest(extract(epoch FROM now() - least(freshness.behind_since, overdue.since)), 0)::float8 AS lag
FROM collection
LEFT JOIN freshness ON freshness.collection = collection.name
LEFT JOIN LATERAL (
    SELECT min(next_crawl_at) AS since FROM source
    WHERE source.collection = collection.name AND removed_at IS NULL AND next_crawl_at < now()
      AND crawl_started_at IS NULL) overdue ON true
WHERE collection.removed_at IS NULL
ORDER BY 1;

-- name: record_comparison
-- Record the comparison of a collection with its sources, at most once in 20 s where nothing changes.
-- A time in the future comes from a clock that was wrong.
INSERT INTO freshness AS known (collection, compared_at, behind_since)
VALUES (%(collection)s, now(), CASE WHEN %(behind)s THEN now() END)
ON CONFLICT (collection) DO UPDATE
SET compared_at = now(), behind_since = CASE WHEN %(behind)s THEN least(coalesce(known.behind_since, now()), now()) END
WHERE (known.behind_since IS NOT NULL) <> %(behind)s OR NOT known.compared_at BETWEEN now() - interval '20 s' AND now();

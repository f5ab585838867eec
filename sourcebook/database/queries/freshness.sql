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
VALUES (%(collection)s, now(), CASE WHEN %(behind)s THEN coalesce(%(since)s::timestamptz, now()) END)
ON CONFLICT (collection) DO UPDATE
SET compared_at = now(), behind_since = CASE WHEN %(behind)s
        THEN least(greatest(coalesce(known.behind_since, %(since)s, now()), %(since)s::timestamptz), now()) END
WHERE (known.behind_since IS NOT NULL) <> %(behind)s OR known.behind_since < %(since)s::timestamptz
   OR NOT known.compared_at BETWEEN now() - interval '20 s' AND now();

-- name: forget_waiting_sources
-- Forget the sources of a collection in which no change waits any more.
DELETE FROM waiting_source USING source
WHERE source.id = waiting_source.source_id AND source.collection = %(collection)s
  AND NOT waiting_source.source_id = ANY(%(sources)s::bigint[]);

-- name: record_waiting_sources
-- Record that changes wait in sources; a time in the future comes from a clock that was wrong.
INSERT INTO waiting_source AS known (source_id, behind_since)
SELECT id, coalesce(%(since)s::timestamptz, now()) FROM source WHERE id = ANY(%(sources)s::bigint[])
ON CONFLICT (source_id) DO UPDATE SET behind_since = least(greatest(known.behind_since, %(since)s::timestamptz), now())
WHERE known.behind_since < %(since)s::timestamptz OR known.behind_since > now();

-- name: waiting_sources
-- Return the sources of every collection in which a change has been waiting for longer, with the time since.
SELECT source.collection, source.location, waiting_source.behind_since AT TIME ZONE 'UTC' AS behind_since
FROM waiting_source JOIN source ON source.id = waiting_source.source_id AND source.removed_at IS NULL
JOIN collection ON collection.name = source.collection AND collection.removed_at IS NULL
WHERE waiting_source.behind_since < now() - make_interval(secs => %(seconds)s)
ORDER BY 1, 2;

-- name: log_queries
-- Insert searches into the query log, of the collections that still keep one.
INSERT INTO logged_query (collection, query, results, asked_at, relevance)
SELECT asked.collection, asked.query, asked.results, asked.asked_at, asked.relevance
FROM unnest(%(collections)s::text[], %(queries)s::text[], %(results)s::integer[], %(times)s::timestamptz[],
            %(relevances)s::real[])
     AS asked (collection, query, results, asked_at, relevance)
JOIN collection ON collection.name = asked.collection
WHERE collection.settings #>> '{retention,queries}' IS NOT NULL;

-- name: delete_old_queries
-- Delete the logged queries that are older than their collection keeps them; all where it keeps no log any more.
DELETE FROM logged_query USING collection
WHERE collection.name = logged_query.collection
  AND coalesce(logged_query.asked_at
               < now() - make_interval(secs => (collection.settings #>> '{retention,queries}')::double precision), true);

-- name: forget_logged_queries
-- Delete the logged queries of collections; of every collection where none is named.
DELETE FROM logged_query
WHERE cardinality(%(collections)s::text[]) = 0 OR collection = ANY(%(collections)s);

-- name: logged_queries
-- Return the queries of the log by collection, in any case of letters, the most frequent first.
SELECT logged.collection, (array_agg(logged.query ORDER BY logged.id DESC))[1] AS query, count(*) AS searches,
       count(*) FILTER (WHERE logged.results = 0) AS without_results,
       (array_agg(logged.results ORDER BY logged.id DESC))[1] AS last_results, max(logged.asked_at) AS last_asked_at,
       (array_agg(logged.relevance ORDER BY logged.id DESC))[1] AS last_relevance
FROM logged_query logged JOIN collection ON collection.name = logged.collection AND collection.removed_at IS NULL
WHERE (cardinality(%(collections)s::text[]) = 0 OR logged.collection = ANY(%(collections)s))
  AND (%(age)s::interval IS NULL OR logged.asked_at > now() - %(age)s::interval)
GROUP BY logged.collection, lower(logged.query)
HAVING NOT %(without_results)s OR (array_agg(logged.results ORDER BY logged.id DESC))[1] = 0
ORDER BY count(*) DESC, max(logged.asked_at) DESC, query
LIMIT %(limit)s;

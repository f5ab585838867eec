-- name: answering_settings
-- Return the settings of answering of collections; of those that have any where none is named.
SELECT name, nullif(settings -> 'answering', 'null') AS answering
FROM collection
WHERE removed_at IS NULL
  AND CASE WHEN %(collections)s::text[] IS NULL THEN nullif(settings -> 'answering', 'null') IS NOT NULL
      ELSE name = ANY(%(collections)s) END
ORDER BY name;

-- name: log_llm_call
-- Insert a call into the log; none that was imported before.
INSERT INTO llm_call (session, turn, origin, imported_id, collections, provider, model, prompt, answer, prompt_tokens,
                      answer_tokens, cost, ok, failure, redacted, seconds, asked_at, expires_at)
VALUES (%(session)s, %(turn)s, %(origin)s, %(imported_id)s, %(collections)s, %(provider)s, %(model)s, %(prompt)s,
        %(answer)s, %(prompt_tokens)s, %(answer_tokens)s, %(cost)s, %(ok)s, %(failure)s, %(redacted)s, %(seconds)s,
        %(asked_at)s, %(expires_at)s)
ON CONFLICT (imported_id) DO NOTHING;

-- name: next_llm_turn
-- Return the number of the next call of a session.
SELECT coalesce(max(turn), 0) + 1 FROM llm_call WHERE session = %(session)s;

-- name: imported_llm_call
-- Return what tells the call that was imported with an id from another one.
SELECT model, asked_at FROM llm_call WHERE imported_id = %(imported_id)s;

-- name: delete_old_llm_calls
-- Delete the calls that are older than the log keeps them, and those of collections that are no longer there.
DELETE FROM llm_call
WHERE expires_at < now()
   OR EXISTS (SELECT FROM unnest(collections) AS asked (name) WHERE asked.name NOT IN (SELECT name FROM collection));

-- name: llm_calls
-- Return calls, the newest first; of named collections alone those that asked no other one.
SELECT id, session, turn, origin, collections, provider, model, prompt, answer, prompt_tokens, answer_tokens, cost, ok,
       failure, redacted, seconds, asked_at
FROM llm_call
WHERE coalesce(expires_at > now(), true)
  AND (%(collections)s::text[] IS NULL OR (cardinality(collections) > 0 AND collections <@ %(collections)s::text[]))
  AND (%(age)s::interval IS NULL OR asked_at > now() - %(age)s::interval)
  AND (%(session)s::text IS NULL OR session = %(session)s)
  AND (%(before)s::bigint IS NULL OR id < %(before)s)
  AND NOT (%(failed)s AND ok)
ORDER BY id DESC
LIMIT %(limit)s;

-- name: llm_statistics
-- Return the sums of calls by origin, service and model, the most frequent first; a sum of something unknown is null.
SELECT origin, provider, model, count(DISTINCT session) AS sessions, count(*) AS calls,
       count(*) FILTER (WHERE NOT ok) AS failed, count(*) FILTER (WHERE redacted) AS redacted,
       CASE WHEN bool_and(prompt_tokens IS NOT NULL) THEN sum(prompt_tokens)::bigint END AS prompt_tokens,
       CASE WHEN bool_and(answer_tokens IS NOT NULL) THEN sum(answer_tokens)::bigint END AS answer_tokens,
       CASE WHEN bool_and(cost IS NOT NULL) THEN sum(cost) END AS cost,
       coalesce(sum(cost), 0) AS known_cost, count(*) FILTER (WHERE cost IS NULL) AS without_cost,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS median_seconds,
       min(asked_at) AS first_asked_at, max(asked_at) AS last_asked_at
FROM llm_call
WHERE coalesce(expires_at > now(), true)
  AND (%(collections)s::text[] IS NULL OR (cardinality(collections) > 0 AND collections <@ %(collections)s::text[]))
  AND (%(age)s::interval IS NULL OR asked_at > now() - %(age)s::interval)
GROUP BY origin, provider, model
ORDER BY count(*) DESC, origin, provider, model;

-- name: forget_llm_calls
-- Delete calls; of named collections alone those that asked no other one.
DELETE FROM llm_call
WHERE %(collections)s::text[] IS NULL OR (cardinality(collections) > 0 AND collections <@ %(collections)s::text[]);

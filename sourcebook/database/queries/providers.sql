-- name: take_provider_request
-- Return the id of a request that may begin, or the seconds until one may.
SELECT request_id, seconds FROM take_provider_request(
    %(provider)s, %(collection)s, %(tokens)s,
    %(requests_per_minute)s, %(tokens_per_minute)s, NULL, NULL);

-- name: end_provider_request
-- Record the end of a request, with the tokens that the provider has counted; NULL keeps the reserved ones.
UPDATE provider_request SET ended_at = clock_timestamp(), tokens = coalesce(%(tokens)s, tokens) WHERE id = %(request)s;

-- name: known_provider_models
-- Return the models of a name and of settings with their probe, the latest first.
SELECT identity, probe FROM provider_model
WHERE model = %(model)s AND settings = %(settings)s ORDER BY first_used_at DESC, identity;

-- name: keep_provider_model
-- Keep the probe of a provider's model.
INSERT INTO provider_model (identity, model, settings, probe)
VALUES (%(identity)s, %(model)s, %(settings)s, %(probe)s) ON CONFLICT DO NOTHING;

-- name: provider_probe
-- Return the kept probe of a model.
SELECT probe FROM provider_model WHERE identity = %(identity)s;

-- name: follow_connection
-- Let the generations of a collection use the applied settings of how their provider is reached.
UPDATE generation SET embedding = embedding || %(connection)s
WHERE collection = %(collection)s AND embedding ->> 'provider' = %(provider)s AND embedding ->> 'model' = %(model)s
  AND NOT embedding @> %(connection)s;

-- name: provider_dimensions
-- Return the length of the vectors of a provider's model, by a generation that has them.
SELECT dimensions FROM generation WHERE split_part(model, '/', 1) = %(identity)s LIMIT 1;

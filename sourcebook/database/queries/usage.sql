-- name: add_usage
-- Add uses of models to the sums of their day; what one of the two does not know is unknown.
INSERT INTO usage AS known (day, collection, provider, model, operation, texts, cached, tokens, seconds,
                            sound_seconds, processor_seconds, answer_tokens)
SELECT * FROM unnest(%(days)s::date[], %(collections)s::text[], %(providers)s::text[], %(models)s::text[],
                     %(operations)s::text[], %(texts)s::bigint[], %(cached)s::bigint[], %(tokens)s::bigint[],
                     %(seconds)s::double precision[], %(sound_seconds)s::double precision[],
                     %(processor_seconds)s::double precision[], %(answer_tokens)s::bigint[])
ON CONFLICT (day, collection, provider, model, operation) DO UPDATE
SET texts = known.texts + excluded.texts, cached = known.cached + excluded.cached,
    tokens = known.tokens + excluded.tokens, seconds = known.seconds + excluded.seconds,
    sound_seconds = known.sound_seconds + excluded.sound_seconds,
    processor_seconds = known.processor_seconds + excluded.processor_seconds,
    answer_tokens = known.answer_tokens + excluded.answer_tokens;

-- name: usage
-- Return the sums of usage from a day on with the prices that each collection sets, the latest day first.
SELECT usage.day, usage.collection, usage.provider, usage.model, usage.operation, usage.texts, usage.cached,
       usage.tokens, usage.seconds, usage.sound_seconds, usage.processor_seconds, usage.answer_tokens,
       coalesce(collection.settings #> '{usage,prices}', '{}') AS prices,
       CASE WHEN collection.settings #>> '{answering,model}' = usage.model
            THEN collection.settings #> '{answering,prices}' END AS answering_prices
FROM usage LEFT JOIN collection ON collection.name = usage.collection
WHERE (cardinality(%(collections)s::text[]) = 0 OR usage.collection = ANY(%(collections)s))
  AND (%(first)s::date IS NULL OR usage.day >= %(first)s)
ORDER BY usage.day DESC, usage.collection, usage.provider, usage.model, usage.operation;

-- name: usage_prices
-- Return the prices that a collection sets, in US dollars per million tokens by model.
SELECT coalesce(settings #> '{usage,prices}', '{}') FROM collection WHERE name = %(collection)s;

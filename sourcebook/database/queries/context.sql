-- name: published_hashes
-- Return the sha256 of the content of documents as each generation has published it.
SELECT indexed.generation_id, indexed.document_id, encode(indexed.published_hash, 'hex')
FROM unnest(%(generations)s::bigint[], %(documents)s::bigint[]) AS wanted (generation_id, document_id)
JOIN indexed_document indexed
    ON indexed.generation_id = wanted.generation_id AND indexed.document_id = wanted.document_id
WHERE indexed.published_hash IS NOT NULL;

-- name: context_state
-- Return each collection that a search covers, as search_scope and chosen_scope do, with what decides a context beside its request:
-- the generation, what changes with every publication and removal of a passage, and the settings of searches and of redaction.
SELECT collection.name, generation.id, generation.entry_count, generation.total_length,
       (SELECT max(published_at) FROM indexed_document indexed WHERE indexed.generation_id = generation.id),
       collection.settings ->> 'search',
       collection.settings #>> '{retention,queries}' IS NOT NULL AS is_logged,
       coalesce(nullif(collection.settings -> 'redaction', 'null'),
                (SELECT taken.settings -> 'redaction'
                 FROM jsonb_path_query(collection.settings, '$.from[*].collection') AS named
                 JOIN collection taken ON taken.name = named #>> '{}'
                 WHERE nullif(taken.settings -> 'redaction', 'null') IS NOT NULL
                 ORDER BY taken.name LIMIT 1)) AS redaction
FROM collection
LEFT JOIN generation chosen
    ON chosen.collection = collection.name AND chosen.id = ANY(%(generations)s) AND chosen.retired_at IS NULL
LEFT JOIN generation ON generation.id = coalesce(chosen.id, collection.active_generation_id)
WHERE collection.removed_at IS NULL
  AND CASE WHEN %(collections)s::text[] IS NOT NULL THEN collection.name = ANY(%(collections)s)
      WHEN cardinality(%(generations)s::bigint[]) > 0 THEN chosen.id IS NOT NULL
      ELSE NOT (collection.settings ? 'from' AND NOT collection.settings ?| ARRAY['repositories', 'records']
                AND (collection.settings -> 'files', collection.settings -> 'sites') = ('[]', '[]')
                AND NOT EXISTS (SELECT FROM source WHERE source.collection = collection.name AND kind = 'uploads')) END
ORDER BY collection.name;

-- name: published_hashes
-- Return the sha256 of the content of documents as each generation has published it.
SELECT indexed.generation_id, indexed.document_id, encode(indexed.published_hash, 'hex')
FROM unnest(%(generations)s::bigint[], %(documents)s::bigint[]) AS wanted (generation_id, document_id)
JOIN indexed_document indexed
    ON indexed.generation_id = wanted.generation_id AND indexed.document_id = wanted.document_id
WHERE indexed.published_hash IS NOT NULL;

-- name: publication_state
-- Return what changes with every publication and every removal of a passage, by generation.
SELECT generation.id, generation.entry_count, generation.total_length,
       (SELECT max(published_at) FROM indexed_document indexed WHERE indexed.generation_id = generation.id)
FROM generation
WHERE generation.id = ANY(%(generations)s)
ORDER BY generation.id;

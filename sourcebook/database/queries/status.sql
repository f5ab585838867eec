-- name: collection_status
-- Return the kept counts of each collection: documents, entries, distinct texts among them, and removed documents.
-- Also the generated indexes among the documents, whose passages have no vectors, with the number of these.
SELECT collection.name,
       (SELECT coalesce(sum(items), 0)::bigint FROM tally
        WHERE tally.collection = collection.name AND kind = 'documents') AS documents,
       coalesce(generation.entry_count, 0) AS chunks,
       coalesce(generation.text_count, 0) AS embeddings,
       (SELECT coalesce(sum(items), 0)::bigint FROM tally
        WHERE tally.collection = collection.name AND kind = 'removed') AS removed,
       generation.id AS generation,
       generation.embedding ->> 'model' AS embedding_model, generation.engine,
       indexes.documents AS generated_indexes, indexes.passages AS passages_without_vector,
       collection.declared_in
FROM collection LEFT JOIN generation ON generation.id = collection.active_generation_id
CROSS JOIN LATERAL (
    SELECT count(DISTINCT entry.document_id) AS documents, count(*) AS passages
    FROM chunk JOIN search_entry entry ON entry.generation_id = chunk.generation_id AND entry.chunk_id = chunk.id
    WHERE chunk.generation_id = generation.id AND chunk.embedding_hash IS NULL
) indexes
WHERE collection.removed_at IS NULL AND (cardinality(%(names)s::text[]) = 0 OR collection.name = ANY(%(names)s))
ORDER BY collection.name;

-- name: active_model
-- Return the active generation of a collection, the name of its embedding model, and the kept number of documents.
SELECT generation.id, generation.embedding ->> 'model',
       (SELECT coalesce(sum(items), 0)::bigint FROM tally WHERE tally.collection = collection.name AND kind = 'documents')
FROM collection JOIN generation ON generation.id = collection.active_generation_id
WHERE collection.name = %(collection)s;

-- name: other_languages
-- Return the languages of a generation that are not in a list, with the numbers of their documents, the most first.
-- Documents are counted only where a text-search configuration says that there may be another language.
SELECT indexed.published_language, count(*) AS documents
FROM indexed_document indexed
WHERE indexed.generation_id = %(generation)s AND indexed.published_language <> ALL(%(known)s::text[])
  AND EXISTS (
      SELECT FROM text_configuration used
      WHERE used.generation_id = %(generation)s AND used.entries > 0
        AND used.name <> ALL(ARRAY(
            SELECT text_search_configuration(language)::text FROM unnest(%(known)s::text[]) language
            WHERE text_search_configuration(language)::text <> 'simple')))
GROUP BY 1 ORDER BY 2 DESC, 1;

-- name: problem_uris
-- Return the URIs of a collection that may have failed or been skipped, from the indexes of failures and reasons.
SELECT uri FROM document WHERE collection = %(collection)s AND failure IS NOT NULL
UNION
SELECT document.uri
FROM collection
JOIN indexed_document indexed ON indexed.generation_id = collection.active_generation_id AND indexed.failure IS NOT NULL
JOIN document ON document.id = indexed.document_id
WHERE collection.name = %(collection)s
UNION
SELECT uri FROM document WHERE collection = %(collection)s AND skip_reason IS NOT NULL AND %(skipped)s
UNION
SELECT file.uri FROM raw_file file JOIN source ON source.id = file.source_id
WHERE source.collection = %(collection)s AND source.removed_at IS NULL AND file.failure IS NOT NULL
UNION
SELECT file.uri FROM raw_file file JOIN source ON source.id = file.source_id
WHERE source.collection = %(collection)s AND source.removed_at IS NULL AND file.skip_reason IS NOT NULL AND %(skipped)s
UNION
SELECT file.uri FROM transcribed_file file JOIN source ON source.id = file.source_id
WHERE source.collection = %(collection)s AND source.removed_at IS NULL AND file.failure IS NOT NULL
UNION
SELECT frontier.url FROM frontier JOIN source ON source.id = frontier.source_id
WHERE source.collection = %(collection)s AND source.removed_at IS NULL
  AND (frontier.state = 'failed' OR frontier.state = 'refused' AND %(skipped)s)
UNION
SELECT document.uri || '/' || attachment.path
FROM attachment
JOIN document ON document.content_sha256 = attachment.container_sha256
             AND document.content_parser = attachment.container_parser
WHERE document.collection = %(collection)s AND attachment.skip_reason IS NOT NULL AND %(skipped)s;

-- name: collection_problems
-- Return the items and sources of a collection that are not searchable, with the reason.
SELECT uri, state, error, attempts, next_retry_at, failure_class, parked FROM item
WHERE collection = %(collection)s AND uri = ANY(%(uris)s) AND state IN ('failed', 'skipped')
UNION ALL
SELECT location, 'failed', listing_error, 0, NULL, coalesce(listing_error_class, 'other'), false FROM source
WHERE collection = %(collection)s AND removed_at IS NULL AND listing_error IS NOT NULL
ORDER BY uri;

-- name: source_listings
-- Return each source of a collection with its last listing, and the state of the crawl where it is a site.
SELECT kind, location, listed_at, listing_error, next_crawl_at,
       CASE WHEN kind = 'site' THEN (
           SELECT count(*) FROM crawled_page page WHERE page.source_id = source.id AND page.removed_at IS NULL) END AS pages,
       CASE WHEN kind = 'site' THEN (
           SELECT count(*) FROM frontier WHERE frontier.source_id = source.id AND state IN ('queued', 'fetching')) END AS queued,
       CASE WHEN kind = 'site' THEN (
           SELECT count(*) FROM frontier WHERE frontier.source_id = source.id AND state = 'beyond') END AS beyond,
       CASE WHEN kind = 'collection' THEN (
           SELECT count(*) FROM document
           WHERE document.source_id = source.id AND document.removed_at IS NULL) END AS taken,
       CASE WHEN kind = 'site' THEN left_out END AS left_out,
       git_commit AS commit, next_fetch_at, waiting.behind_since
FROM source LEFT JOIN waiting_source waiting ON waiting.source_id = source.id
WHERE collection = %(collection)s AND removed_at IS NULL
ORDER BY id;

-- name: totals
-- Return how many rows each of the eight assets has for a collection, in the order of the graph.
SELECT
    (SELECT coalesce(sum(items), 0)::bigint FROM tally
     WHERE tally.collection = collection.name AND kind = 'raw_files'),
    (SELECT coalesce(sum(items), 0)::bigint FROM tally
     WHERE tally.collection = collection.name AND kind = 'crawled_pages'),
    (SELECT count(*) FROM source
     JOIN raw_file ON raw_file.source_id = source.id AND raw_file.removed_at IS NULL AND is_recording(raw_file.media_type)
     JOIN transcribed_file transcribed
         ON transcribed.source_id = raw_file.source_id AND transcribed.uri = raw_file.uri
     WHERE source.collection = collection.name AND source.removed_at IS NULL AND transcribed.content_hash IS NOT NULL),
    (SELECT coalesce(sum(items), 0)::bigint FROM tally
     WHERE tally.collection = collection.name AND kind = 'documents'),
    coalesce(generation.entry_count, 0), coalesce(generation.text_count, 0),
    coalesce(generation.entry_count, 0), coalesce(generation.entry_count, 0)
FROM collection LEFT JOIN generation ON generation.id = collection.active_generation_id
WHERE collection.name = %(collection)s;

-- name: unread_sites
-- Return the sites of a collection that could not be read, with the reason.
SELECT location || ': ' || listing_error FROM source
WHERE collection = %(collection)s AND kind = 'site' AND removed_at IS NULL AND listing_error IS NOT NULL
ORDER BY id;

-- name: listed_sources
-- Return the sources of one kind of a collection with their last complete listing and their problem.
SELECT location, listed_at, listing_error FROM source
WHERE collection = %(collection)s AND kind = %(kind)s AND removed_at IS NULL
ORDER BY location;

-- name: index_bytes
-- Return the size of tables on disk in bytes, with their indexes.
SELECT coalesce(sum(pg_total_relation_size(to_regclass(name))), 0)::bigint FROM unnest(%(tables)s::text[]) AS name;

-- name: overdue_sources
-- Return the sources of one kind whose last complete listing or crawl is older than their settings allow.
-- A source that was never read counts from the last change of its collection's settings.
SELECT collection, location, since, listing_error FROM (
    SELECT source.collection, source.location, source.listing_error,
           coalesce(source.listed_at, collection.applied_at) AS since,
           CASE source.kind WHEN 'site' THEN
               %(intervals)s::double precision * coalesce((source.settings ->> 'refresh')::double precision, 86400)
           ELSE %(folder_seconds)s::double precision END AS seconds
    FROM source JOIN collection ON collection.name = source.collection AND collection.removed_at IS NULL
    WHERE source.removed_at IS NULL AND source.kind = %(kind)s
) source
WHERE since < now() - seconds * interval '1 second'
ORDER BY collection, location;

-- name: unmatched_sources
-- Return a sentence for each folder of a collection without any file that its patterns match.
SELECT 'no file in ' || location || ' matches ' || array_to_string(include, ', ')
       || CASE WHEN cardinality(exclude) > 0 THEN ' and none of ' || array_to_string(exclude, ', ') ELSE '' END
FROM source
WHERE collection = %(collection)s AND kind = 'files' AND removed_at IS NULL AND listing_error IS NULL
  AND NOT EXISTS (SELECT FROM raw_file WHERE raw_file.source_id = source.id AND raw_file.removed_at IS NULL)
ORDER BY id;

-- name: collection_summaries
-- Return the kept counts of each collection, and the model and the dimensions of its active generation.
SELECT collection.name,
       (SELECT coalesce(sum(items), 0)::bigint FROM tally
        WHERE tally.collection = collection.name AND kind = 'documents') AS documents,
       coalesce(generation.entry_count, 0) AS chunks,
       coalesce(generation.text_count, 0) AS embeddings,
       (SELECT coalesce(sum(items), 0)::bigint FROM tally
        WHERE tally.collection = collection.name AND kind = 'removed') AS removed,
       generation.id AS generation, generation.embedding ->> 'model' AS embedding_model, generation.dimensions,
       collection.declared_in, collection.settings ->> 'description' AS description, collection.created_at
FROM collection LEFT JOIN generation ON generation.id = collection.active_generation_id
WHERE collection.removed_at IS NULL AND (cardinality(%(names)s::text[]) = 0 OR collection.name = ANY(%(names)s))
ORDER BY collection.name;

-- name: document_facets
-- Return the numbers of live documents of collections by kind, type, media type and language, the most frequent values first.
SELECT document.collection, facet.name, facet.value, count(*)
FROM document
CROSS JOIN LATERAL (VALUES
    ('kinds', document.kind), ('types', document.document_type), ('media_types', document.media_type),
    ('languages', document.language)
) AS facet (name, value)
WHERE document.collection = ANY(%(names)s) AND document.removed_at IS NULL AND facet.value IS NOT NULL
GROUP BY 1, 2, 3
ORDER BY 1, 2, count(*) DESC, 3;

-- name: unread_front_matter
-- Return the live documents with front matter that cannot be read, with the line and the reason: the first ten.
SELECT uri, metadata ->> 'front_matter_error' FROM document
WHERE collection = %(collection)s AND removed_at IS NULL AND metadata ? 'front_matter_error'
ORDER BY uri LIMIT 10;

-- name: lacking_documents
-- Return the numbers of live documents by type, of those without metadata that their type promises.
SELECT document_type, count(*) FROM document
WHERE collection = %(collection)s AND removed_at IS NULL AND lacking IS NOT NULL
GROUP BY 1 ORDER BY 1;

-- name: left_out_of_documents
-- Return the number of live documents that leave something out of their text, and the sums of what they leave out by kind.
WITH entry AS MATERIALIZED (
    SELECT document.id, fact.key AS kind, fact.value::numeric AS number
    FROM document
    CROSS JOIN LATERAL jsonb_each(
        CASE jsonb_typeof(metadata -> 'left_out') WHEN 'object' THEN metadata -> 'left_out' ELSE '{}' END) AS fact
    WHERE collection = %(collection)s AND removed_at IS NULL AND metadata ? 'left_out'
      AND fact.key = ANY(%(kinds)s::text[])
      AND CASE jsonb_typeof(fact.value) WHEN 'number' THEN fact.value BETWEEN '1' AND '1000000000000' ELSE false END
)
SELECT (SELECT count(DISTINCT id) FROM entry),
       (SELECT coalesce(jsonb_object_agg(kind, number), '{}')
        FROM (SELECT kind, sum(number)::bigint AS number FROM entry GROUP BY kind) sums);

-- name: filling
-- Return the collections that are being filled: documents found, those that are searchable, and those with vectors.
-- A generation is filled once every document is published by its rules, and while none waits for vectors.
SELECT collection.name, greatest(kept.documents, kept.items), coalesce(published.documents, 0),
       coalesce(published.documents - published.waiting, 0)
FROM collection
LEFT JOIN generation ON generation.id = collection.active_generation_id
CROSS JOIN LATERAL (
    SELECT coalesce(sum(items) FILTER (WHERE kind = 'documents'), 0)::bigint AS documents,
           coalesce(sum(items) FILTER (WHERE kind IN ('raw_files', 'crawled_pages')), 0)::bigint AS items
    FROM tally WHERE tally.collection = collection.name
) kept
LEFT JOIN LATERAL (
    SELECT count(*) AS documents, count(*) FILTER (WHERE awaits_vectors AND failure IS NULL) AS waiting
    FROM indexed_document indexed WHERE indexed.generation_id = generation.id AND indexed.published_hash IS NOT NULL
) published ON true
WHERE collection.removed_at IS NULL AND (cardinality(%(names)s::text[]) = 0 OR collection.name = ANY(%(names)s))
  AND (generation.prepared_with IS NULL
       OR EXISTS (SELECT FROM indexed_document
                  WHERE generation_id = generation.id AND awaits_vectors AND failure IS NULL))
  AND (kept.documents, kept.items) <> (0, 0)
  AND (coalesce(published.documents, 0) < kept.documents OR published.waiting > 0
       OR coalesce(published.documents, 0) < kept.items AND generation.prepared_with IS NULL)
ORDER BY collection.name;

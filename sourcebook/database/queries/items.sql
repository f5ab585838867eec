-- name: chosen_items
-- Return the items of a list: documents, and files and pages that are no documents, each with its place in the order.
SELECT item.document_id, item.collection, item.source_id, item.uri, item.title, item.kind, item.media_type, item.language,
       item.version, item.tags, item.state, item.error, item.failure_class, item.attempts, item.next_retry_at, item.parked,
       item.removed_at, coalesce(indexed.published_chunks, 0) AS chunks, document.created_at, document.updated_at,
       indexed.published_at AS indexed_at, coalesce(file.size, page.size) AS bytes,
       document.metadata -> 'left_out' AS left_out, collection.active_generation_id,
       coalesce(document.boost, 1) AS boost, document.curated_at, document.curated_by, document.curated_because,
       CASE ltrim(%(sort)s::text, '-') WHEN 'title' THEN lower(coalesce(item.title, item.uri))
           WHEN 'uri' THEN ''  -- what is without a value comes last
           ELSE coalesce(
               CASE ltrim(%(sort)s::text, '-') WHEN 'size' THEN lpad(coalesce(file.size, page.size)::text, 20, '0')
                   ELSE to_char(CASE ltrim(%(sort)s::text, '-') WHEN 'created' THEN document.created_at
                                    WHEN 'updated' THEN document.updated_at ELSE indexed.published_at END AT TIME ZONE 'UTC',
                                'YYYYMMDDHH24MISSUS') END,
               CASE WHEN starts_with(%(sort)s::text, '-') THEN '' ELSE 'z' END)
       END AS place
FROM item
JOIN collection ON collection.name = item.collection AND collection.removed_at IS NULL
LEFT JOIN document ON document.id = item.document_id
LEFT JOIN indexed_document indexed
    ON indexed.generation_id = collection.active_generation_id AND indexed.document_id = item.document_id
LEFT JOIN raw_file file ON file.source_id = item.source_id AND file.uri = item.uri
LEFT JOIN crawled_page page ON page.source_id = item.source_id AND page.url = item.uri
WHERE (cardinality(%(collections)s::text[]) = 0 OR item.collection = ANY(%(collections)s))
  AND (%(uris)s::text[] IS NULL OR item.uri = ANY(%(uris)s))
  AND (%(last)s::text IS NULL OR item.uri <= %(last)s)
  AND (%(after)s::text IS NULL OR item.uri > %(after)s)
  AND (%(failure_class)s::text IS NULL OR item.failure_class = %(failure_class)s)
  AND (cardinality(%(states)s::text[]) = 0 OR item.state = ANY(%(states)s))
  AND (cardinality(%(kinds)s::text[]) = 0 OR item.kind = ANY(%(kinds)s))
  AND (cardinality(%(types)s::text[]) = 0 OR document.document_type = ANY(%(types)s))
  AND (cardinality(%(tags)s::text[]) = 0 OR item.tags && %(tags)s)
  AND (NOT %(curated)s OR document.boost <> 1)
  AND (cardinality(%(texts)s::text[]) = 0
       OR EXISTS (SELECT FROM unnest(%(texts)s::text[]) AS part
                  WHERE position(lower(part) IN lower(item.uri)) > 0
                     OR position(lower(part) IN lower(coalesce(item.title, ''))) > 0))
  AND CASE WHEN %(failed)s THEN item.state IN ('failed', 'skipped') ELSE item.state <> 'removed' OR %(removed)s END

-- name: items
-- Return a page of items of collections in an order, those after a place in it.
SELECT shown.*, source.location AS taken_from
FROM ({chosen_items}) AS shown
LEFT JOIN source ON source.id = shown.source_id AND source.kind = 'collection'
WHERE %(after_place)s::text IS NULL
   OR CASE WHEN starts_with(%(sort)s::text, '-') THEN place < %(after_place)s ELSE place > %(after_place)s END
   OR place = %(after_place)s AND (shown.collection, shown.uri) > (%(after_collection)s::text, %(after_uri)s::text)
ORDER BY CASE WHEN NOT starts_with(%(sort)s::text, '-') THEN place END,
         CASE WHEN starts_with(%(sort)s::text, '-') THEN place END DESC, shown.collection, shown.uri
LIMIT %(limit)s;

-- name: documents_by_time
-- Return the URIs of the first documents of an order by time, those after a place in it, so that these items alone are read.
SELECT shown.uri
FROM (
    SELECT document.collection, document.uri,
           to_char(CASE ltrim(%(sort)s::text, '-') WHEN 'created' THEN document.created_at
                       WHEN 'updated' THEN document.updated_at ELSE indexed.published_at END AT TIME ZONE 'UTC',
                   'YYYYMMDDHH24MISSUS') AS place
    FROM document
    JOIN collection ON collection.name = document.collection
    LEFT JOIN indexed_document indexed
        ON indexed.generation_id = collection.active_generation_id AND indexed.document_id = document.id
    WHERE document.collection = ANY(%(collections)s::text[])
      AND (document.removed_at IS NULL OR document.config_hash = '' OR %(removed)s)
) AS shown
WHERE place IS NOT NULL
  AND (%(after_place)s::text IS NULL
       OR CASE WHEN starts_with(%(sort)s::text, '-') THEN place < %(after_place)s ELSE place > %(after_place)s END
       OR place = %(after_place)s AND (shown.collection, shown.uri) > (%(after_collection)s::text, %(after_uri)s::text))
ORDER BY CASE WHEN NOT starts_with(%(sort)s::text, '-') THEN place END,
         CASE WHEN starts_with(%(sort)s::text, '-') THEN place END DESC, shown.collection, shown.uri
LIMIT %(limit)s;

-- name: items_by_title_or_size
-- Return the URIs of the first items of an order by title or size, those after a place in it, so that these alone are read.
SELECT shown.uri
FROM (
    SELECT held.collection, held.uri,
           CASE ltrim(%(sort)s::text, '-') WHEN 'title' THEN lower(coalesce(held.title, held.uri))
               ELSE coalesce(lpad(held.size::text, 20, '0'), CASE WHEN starts_with(%(sort)s::text, '-') THEN '' ELSE 'z' END)
           END AS place
    FROM (
        SELECT document.collection, document.uri, document.title, coalesce(file.size, page.size) AS size
        FROM document
        LEFT JOIN raw_file file ON file.source_id = document.source_id AND file.uri = document.uri
        LEFT JOIN crawled_page page ON page.source_id = document.source_id AND page.url = document.uri
        WHERE document.collection = ANY(%(collections)s::text[])
          AND (document.removed_at IS NULL OR document.config_hash = '')
        UNION ALL
        SELECT source.collection, other.uri, NULL, coalesce(file.size, page.size)
        FROM source_item other
        JOIN source ON source.id = other.source_id AND source.removed_at IS NULL
        LEFT JOIN raw_file file ON file.source_id = other.source_id AND file.uri = other.uri
        LEFT JOIN crawled_page page ON page.source_id = other.source_id AND page.url = other.uri
        WHERE source.collection = ANY(%(collections)s::text[]) AND other.excluded_at IS NULL
          AND NOT EXISTS (
              SELECT FROM document
              WHERE document.collection = source.collection AND document.uri = other.uri
                AND (document.removed_at IS NULL OR document.config_hash = ''))
    ) AS held
) AS shown
WHERE %(after_place)s::text IS NULL
   OR CASE WHEN starts_with(%(sort)s::text, '-') THEN place < %(after_place)s ELSE place > %(after_place)s END
   OR place = %(after_place)s AND (shown.collection, shown.uri) > (%(after_collection)s::text, %(after_uri)s::text)
ORDER BY CASE WHEN NOT starts_with(%(sort)s::text, '-') THEN place END,
         CASE WHEN starts_with(%(sort)s::text, '-') THEN place END DESC, shown.collection, shown.uri
LIMIT %(limit)s;

-- name: count_items
-- Return the number of items of a list.
SELECT count(*) FROM ({chosen_items}) AS shown;

-- name: place_of_item
-- Return the place of an item in an order.
SELECT place FROM ({chosen_items}) AS shown LIMIT 1;

-- name: item_tokens
-- Return the tokens of the searchable passages of documents.
SELECT entry.document_id, sum(chunk.token_count)::bigint
FROM search_entry entry JOIN chunk ON chunk.id = entry.chunk_id
WHERE entry.generation_id = ANY(%(generations)s::bigint[]) AND entry.document_id = ANY(%(documents)s::bigint[])
GROUP BY 1;

-- name: last_document_of_page
-- Return the URI of the last document of a page of documents, so that only items up to it are read.
SELECT uri FROM document
WHERE collection = %(collection)s AND (removed_at IS NULL OR %(removed)s) AND (%(after)s::text IS NULL OR uri > %(after)s)
ORDER BY uri OFFSET %(limit)s - 1 LIMIT 1;

-- name: find_documents
-- Return documents by id or URI, of one collection or of any; a URI may be in several. Texts of others are not read.
SELECT item.document_id, item.collection, item.uri, item.title, item.kind, item.media_type, item.language,
       item.version, item.tags, item.state, item.error, item.failure_class, item.attempts, item.next_retry_at, item.parked,
       item.removed_at, document.metadata, document.given_tags, document.given_metadata, document.given_title, parsed.markdown AS text,
       link_of(item.uri, item.source_id, document.metadata) AS link, source.location AS taken_from, document.metadata -> 'left_out' AS left_out,
       document.created_at, document.updated_at, indexed.published_at AS indexed_at, coalesce(file.size, page.size) AS bytes,
       document.boost, document.curated_at, document.curated_by, document.curated_because
FROM item
JOIN document ON document.id = item.document_id
JOIN collection ON collection.name = item.collection
LEFT JOIN indexed_document indexed
    ON indexed.generation_id = collection.active_generation_id AND indexed.document_id = item.document_id
LEFT JOIN source ON source.id = item.source_id AND source.kind = 'collection'
LEFT JOIN raw_file file ON file.source_id = item.source_id AND file.uri = item.uri
LEFT JOIN crawled_page page ON page.source_id = item.source_id AND page.url = item.uri
LEFT JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
WHERE (document.id = %(id)s OR document.uri = %(uri)s)
  AND (%(collection)s::text IS NULL OR document.collection = %(collection)s)
ORDER BY item.state = 'removed', item.collection;

-- name: collection_of_document
-- Return the collection of a document.
SELECT collection FROM document WHERE id = %(id)s;

-- name: uris_by_tail
-- Return the URIs of documents, or of removed ones, that end with one of several texts.
SELECT DISTINCT uri FROM document
JOIN collection ON collection.name = document.collection AND collection.removed_at IS NULL
WHERE (document.removed_at IS NOT NULL) = %(removed)s
  AND (%(collection)s::text IS NULL OR document.collection = %(collection)s)
  AND EXISTS (SELECT FROM unnest(%(ends)s::text[]) AS tail WHERE right(document.uri, length(tail)) = tail)
ORDER BY uri;

-- name: document_chunks
-- Return the published chunks of a document in reading order.
SELECT passage_id(chunk.document_id, chunk.hash) AS passage_id, chunk.ordinal, chunk.text, chunk.heading_path, chunk.anchor, chunk.page, chunk.start_seconds, chunk.end_seconds,
       chunk.start_char, chunk.end_char, chunk.token_count
FROM search_entry entry
JOIN chunk ON chunk.id = entry.chunk_id
JOIN document ON document.id = entry.document_id
JOIN collection ON collection.name = document.collection AND collection.active_generation_id = entry.generation_id
WHERE entry.document_id = %(document_id)s
ORDER BY chunk.ordinal;

-- name: document_history
-- Return when a document came and was last changed in the ledger, and which version of it is searchable since when.
SELECT document.created_at AS came_at, document.updated_at AS changed_at,
       indexed.published_version AS searchable_version, indexed.published_at AS searchable_since
FROM document
JOIN collection ON collection.name = document.collection
LEFT JOIN indexed_document indexed
       ON indexed.document_id = document.id AND indexed.generation_id = collection.active_generation_id
WHERE document.id = %(document)s;

-- name: unlisted_sources
-- Return the sources that could not be listed, in the form of items.
SELECT NULL::bigint AS document_id, source.collection, source.location AS uri, NULL AS title, 'source' AS kind,
       NULL AS media_type, NULL AS language, 0 AS version, 0 AS chunks, 'failed' AS state, source.listing_error AS error,
       coalesce(source.listing_error_class, 'other') AS failure_class
FROM source
JOIN collection ON collection.name = source.collection AND collection.removed_at IS NULL
WHERE source.removed_at IS NULL AND source.listing_error IS NOT NULL
  AND (%(failure_class)s::text IS NULL OR coalesce(source.listing_error_class, 'other') = %(failure_class)s)
  AND (cardinality(%(collections)s::text[]) = 0 OR source.collection = ANY(%(collections)s))
ORDER BY source.collection, source.location;

-- name: items_without_document
-- Return files and pages with a URI that never became a document, with the reason.
SELECT collection, state, error
FROM item
WHERE document_id IS NULL AND uri = %(uri)s AND (%(collection)s::text IS NULL OR collection = %(collection)s)
ORDER BY collection;

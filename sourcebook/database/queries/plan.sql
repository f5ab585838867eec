-- name: planned_removals
-- Return the files and pages of removed sources that are still live.
SELECT raw_file.uri FROM raw_file JOIN source ON source.id = raw_file.source_id
WHERE source.collection = %(collection)s AND source.removed_at IS NOT NULL AND raw_file.removed_at IS NULL
UNION ALL
SELECT page.url FROM crawled_page page JOIN source ON source.id = page.source_id
WHERE source.collection = %(collection)s AND source.removed_at IS NOT NULL AND page.removed_at IS NULL
ORDER BY 1;

-- name: planned_crawls
-- Return the sites that a crawl would visit now, with the numbers of URLs that it would request.
SELECT source.location, due.urls
FROM source
CROSS JOIN LATERAL (
    SELECT CASE WHEN coalesce(crawl_is_due(source), true) OR source.crawl_started_at IS NOT NULL
        THEN greatest(1, (
            SELECT count(*) FROM frontier
            WHERE frontier.source_id = source.id
              AND CASE WHEN source.crawl_started_at IS NOT NULL THEN state IN ('queued', 'fetching')
                  ELSE state NOT IN ('gone', 'beyond') END))
        ELSE (
            SELECT count(*) FROM frontier
            WHERE frontier.source_id = source.id AND state = 'failed' AND is_due(next_attempt_at)) END AS urls
) due
WHERE source.collection = %(collection)s AND source.kind = 'site' AND source.removed_at IS NULL AND due.urls > 0
ORDER BY source.location;

-- name: planned_recordings
-- Return the recordings that are to be transcribed, each with the reason and the engine of the last transcript.
SELECT file.uri, file.media_type, file.size,
       CASE WHEN transcribed.uri IS NULL THEN 'new'
            WHEN transcribed.input_hash <> file.sha256 THEN 'content changed'
            WHEN transcribed.config_hash <> %(engine)s THEN 'parser or engine revised'
            WHEN transcribed.failure IS NOT NULL THEN 'retry due'
            ELSE 'unfinished' END,
       transcribed.config_hash
FROM raw_file file
JOIN source ON source.id = file.source_id
LEFT JOIN transcribed_file transcribed ON transcribed.source_id = file.source_id AND transcribed.uri = file.uri
LEFT JOIN transcript ON transcript.sound_sha256 = transcribed.sound_sha256 AND transcript.engine = transcribed.engine
WHERE source.collection = %(collection)s AND source.removed_at IS NULL
  AND file.removed_at IS NULL AND file.sha256 IS NOT NULL AND file.skip_reason IS NULL AND file.excluded_at IS NULL
  AND is_recording(file.media_type)
  AND (transcribed.uri IS NULL
       OR transcribed.input_hash <> file.sha256
       OR transcribed.config_hash <> %(engine)s
       OR (transcribed.engine IS NOT NULL AND transcript.finished_at IS NULL)
       OR (transcribed.failure IS NOT NULL AND is_due(transcribed.next_retry_at)))
ORDER BY file.uri;

-- name: planned_documents
-- Return the documents that differ from their items, each with the reason, and documents without an item.
WITH item AS MATERIALIZED (
    SELECT * FROM items_in(%(collection)s, %(uris)s)
)
SELECT item.uri, item.media_type, item.size,
       CASE WHEN document.id IS NULL OR document.config_hash = '' THEN 'new'
            WHEN document.removed_at IS NOT NULL THEN 'returned'
            WHEN document.input_hash <> item.sha256 THEN 'content changed'
            WHEN document.config_hash <> wanted.parser THEN 'parser or engine revised'
            WHEN document.failure IS NULL AND document.content_hash <> replaced.content_hash THEN 'content changed'
            WHEN document.failure IS NOT NULL AND is_due(document.next_retry_at) THEN 'retry due'
            ELSE 'settings changed' END AS reason,
       document.config_hash, wanted.parser, coalesce(indexed.chunk_count, given.chunk_count, 0),
       EXISTS (SELECT FROM parsed_content parsed WHERE parsed.sha256 = item.sha256 AND parsed.parser = wanted.parser),
       giver.name, coalesce(given.has_same_vectors, false),
       EXISTS (
           SELECT FROM chunk
           WHERE chunk.generation_id = collection.active_generation_id AND chunk.document_id = document.id
             AND chunk.embedding_hash IS NULL)
FROM item
LEFT JOIN unnest(%(formats)s::text[], %(parsers)s::text[]) AS known (format, parser)
    ON known.format = CASE WHEN item.container IS NULL AND item.kind = 'file' THEN '' ELSE 'within ' END || item.format
CROSS JOIN LATERAL (SELECT coalesce(item.parser, known.parser) AS parser) AS wanted
LEFT JOIN document ON document.collection = item.collection AND document.uri = item.uri
LEFT JOIN parsed_content replaced
    ON replaced.sha256 = document.content_sha256 AND replaced.parser = document.content_parser
LEFT JOIN collection ON collection.name = item.collection
LEFT JOIN indexed_document indexed
    ON indexed.document_id = document.id AND indexed.generation_id = collection.active_generation_id
LEFT JOIN source ON source.id = item.source_id AND source.kind = 'collection'
LEFT JOIN collection giver ON giver.name = source.location
LEFT JOIN LATERAL (
    SELECT published.chunk_count, (giver.settings -> 'chunking', giver.settings -> 'embedding')
           = (collection.settings -> 'chunking', collection.settings -> 'embedding') AS has_same_vectors
    FROM document origin
    JOIN indexed_document published
        ON published.document_id = origin.id AND published.generation_id = giver.active_generation_id
    WHERE origin.collection = giver.name AND origin.uri = item.uri
) given ON true
WHERE wanted.parser IS NOT NULL
  AND (document.id IS NULL
       OR document.removed_at IS NOT NULL
       OR document.input_hash <> item.sha256
       OR document.config_hash <> wanted.parser
       OR (document.failure IS NULL AND document.content_hash <> replaced.content_hash)
       OR (document.failure IS NOT NULL AND is_due(document.next_retry_at))
       OR (document.source_id, coalesce(document.own_tags, document.tags), document.kind) IS DISTINCT FROM (
           item.source_id,
           document_tags(item.tags, coalesce(document.own_metadata, document.metadata), document.media_type), item.kind)
       OR item.metadata <> coalesce(document.own_metadata, document.metadata))
UNION ALL
SELECT document.uri, document.media_type, 0, 'gone', NULL, NULL, 0, true, source.location, true, false
FROM document LEFT JOIN source ON source.id = document.source_id AND source.kind = 'collection'
WHERE document.collection = %(collection)s AND document.removed_at IS NULL
  AND (%(uris)s::text[] IS NULL OR document.uri = ANY(%(uris)s))
  AND NOT EXISTS (SELECT FROM item WHERE item.uri = document.uri)
  AND (document.config_hash <> '' OR EXISTS (  -- or it is announced, and not listed yet
      SELECT FROM raw_file file WHERE file.source_id = document.source_id AND file.uri = document.uri
      UNION ALL SELECT FROM source WHERE id = document.source_id AND removed_at IS NOT NULL))
ORDER BY 1;

-- name: planned_publications
-- Return documents by id with the number of their prepared passages, and whether they were removed.
SELECT document.uri, document.media_type, coalesce(indexed.chunk_count, 0), document.removed_at IS NOT NULL
FROM document
LEFT JOIN indexed_document indexed
    ON indexed.document_id = document.id AND indexed.generation_id = %(generation)s
WHERE document.id = ANY(%(documents)s)
ORDER BY document.uri;

-- name: passages_by_media_type
-- Return the passages and the bytes of the published files of some media types.
SELECT document.media_type, sum(indexed.chunk_count)::bigint, sum(file.size)::bigint
FROM indexed_document indexed
JOIN document ON document.id = indexed.document_id
JOIN raw_file file ON file.source_id = document.source_id AND file.uri = document.uri
WHERE indexed.generation_id = %(generation)s AND document.media_type = ANY(%(media_types)s)
GROUP BY 1;

-- name: published_sizes
-- Return those of some sizes in bytes that live files of a collection have.
SELECT DISTINCT file.size
FROM raw_file file
JOIN source ON source.id = file.source_id
WHERE source.collection = %(collection)s AND file.size = ANY(%(sizes)s) AND file.sha256 IS NOT NULL
  AND file.removed_at IS NULL;

-- name: published_contents
-- Return a published document and its number of passages for each of some hashes of files.
SELECT DISTINCT ON (document.input_hash) document.input_hash, document.uri, indexed.chunk_count
FROM document
JOIN indexed_document indexed ON indexed.document_id = document.id
WHERE indexed.generation_id = %(generation)s AND document.input_hash = ANY(%(hashes)s) AND document.removed_at IS NULL
ORDER BY document.input_hash, document.uri;

-- name: tokens_of_passages
-- Return the average number of tokens of the newest passages of a generation.
SELECT avg(token_count)::float8
FROM (SELECT token_count FROM chunk WHERE generation_id = %(generation)s ORDER BY id DESC LIMIT 1000) newest;

-- name: planned_generation
-- Return the live documents that a generation lacks, with the number of passages of each in the active one.
SELECT document.id, document.uri, coalesce(active.chunk_count, 0)
FROM document
LEFT JOIN indexed_document active ON active.document_id = document.id AND active.generation_id = %(active)s
LEFT JOIN indexed_document indexed
    ON indexed.document_id = document.id AND indexed.generation_id = %(generation)s
WHERE document.collection = %(collection)s AND document.removed_at IS NULL AND document.content_hash IS NOT NULL
  AND indexed.published_hash IS DISTINCT FROM document.content_hash
ORDER BY document.uri;

-- name: planned_vectors
-- Return how many distinct texts of the active generation, in documents that another one lacks, have no vector of a model.
-- `indexes` says whether the other one has vectors of generated indexes, whose chunks may keep no hash of their text.
SELECT count(DISTINCT needed.text_hash)
FROM chunk
CROSS JOIN LATERAL (SELECT coalesce(chunk.embedding_hash, CASE WHEN %(indexes)s
    THEN sha256(convert_to(chunk.context || chunk.text, 'UTF8')) END) AS text_hash) needed
JOIN document ON document.id = chunk.document_id AND document.removed_at IS NULL
LEFT JOIN indexed_document indexed
    ON indexed.document_id = document.id AND indexed.generation_id = %(generation)s
WHERE chunk.generation_id = %(active)s AND document.collection = %(collection)s
  AND indexed.published_hash IS DISTINCT FROM document.content_hash
  AND NOT EXISTS (
      SELECT FROM embedding WHERE embedding.model = %(model)s AND embedding.text_hash = needed.text_hash);

-- name: count_vectors
-- Return how many of some texts have a vector of a model.
SELECT count(*) FROM embedding WHERE model = %(model)s AND text_hash = ANY(%(hashes)s);

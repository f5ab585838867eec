-- name: rename_documents
-- Give documents the new URI of their file or page where equal content has moved.
-- A renamed document keeps its id, version, chunks and entries.
WITH item AS MATERIALIZED (
    SELECT * FROM items_in(%(collection)s, %(uris)s)
), newcomer AS (
    SELECT item.*, row_number() OVER (PARTITION BY item.sha256, item.media_type ORDER BY item.uri) AS nth
    FROM item
    WHERE NOT EXISTS (
        SELECT FROM document WHERE document.collection = item.collection AND document.uri = item.uri)
), orphan AS (
    SELECT document.id, document.input_hash, document.media_type,
           row_number() OVER (PARTITION BY document.input_hash, document.media_type ORDER BY document.uri) AS nth
    FROM document
    WHERE document.collection = %(collection)s AND document.removed_at IS NULL
      AND (%(uris)s::text[] IS NULL OR document.uri = ANY(%(uris)s))
      AND NOT EXISTS (SELECT FROM item WHERE item.uri = document.uri)
)
UPDATE document
SET uri = newcomer.uri, source_id = newcomer.source_id, metadata = coalesce(document.own_metadata, document.metadata),
    tags = document_tags(newcomer.tags, coalesce(document.own_metadata, document.metadata), document.media_type),
    updated_at = now()
FROM newcomer
JOIN orphan ON orphan.input_hash = newcomer.sha256 AND orphan.media_type = newcomer.media_type
           AND orphan.nth = newcomer.nth
LEFT JOIN document AS before ON before.id = orphan.id
LEFT JOIN parsed_content ON parsed_content.sha256 = before.content_sha256 AND parsed_content.parser = before.content_parser
WHERE document.id = orphan.id
RETURNING document.id, document.uri, parsed_content.title IS NULL AS named_after_file;

-- name: set_titles
-- Set the titles of documents.
UPDATE document SET title = named.title
FROM unnest(%(ids)s::bigint[], %(titles)s::text[]) AS named (id, title)
WHERE document.id = named.id;

-- name: remove_documents
-- Mark documents as removed whose file, page or attachment is gone.
WITH item AS MATERIALIZED (
    SELECT * FROM items_in(%(collection)s, %(uris)s)
)
UPDATE document
SET removed_at = now(), failure = NULL, failure_class = NULL, attempts = 0, next_retry_at = NULL, updated_at = now()
WHERE collection = %(collection)s AND removed_at IS NULL
  AND (%(uris)s::text[] IS NULL OR document.uri = ANY(%(uris)s))
  AND NOT EXISTS (SELECT FROM item WHERE item.uri = document.uri)
  AND (document.config_hash <> '' OR EXISTS (  -- or it is announced, and not listed yet
      SELECT FROM raw_file file WHERE file.source_id = document.source_id AND file.uri = document.uri
      UNION ALL SELECT FROM source WHERE id = document.source_id AND removed_at IS NOT NULL));

-- name: restore_documents
-- Mark removed documents as live whose file, page or attachment has returned.
WITH item AS MATERIALIZED (
    SELECT * FROM items_in(%(collection)s, %(uris)s)
)
UPDATE document
SET removed_at = NULL, updated_at = now()
FROM item
WHERE item.collection = document.collection AND item.uri = document.uri
  AND document.collection = %(collection)s AND document.removed_at IS NOT NULL
RETURNING document.uri;

-- name: refresh_document_sources
-- Update the source, tags, kind and page metadata of documents whose content is unchanged.
WITH item AS MATERIALIZED (
    SELECT * FROM items_in(%(collection)s, %(uris)s)
)
UPDATE document
SET source_id = item.source_id, kind = item.kind, updated_at = now(),
    metadata = coalesce(item.metadata, document.own_metadata, document.metadata),
    tags = document_tags(
        item.tags, coalesce(item.metadata, document.own_metadata, document.metadata), document.media_type)
FROM item
WHERE item.collection = document.collection AND item.uri = document.uri
  AND document.collection = %(collection)s
  AND ((document.source_id, coalesce(document.own_tags, document.tags), document.kind) IS DISTINCT FROM (
           item.source_id,
           document_tags(item.tags, coalesce(document.own_metadata, document.metadata), document.media_type), item.kind)
       OR item.metadata <> coalesce(document.own_metadata, document.metadata));

-- name: stale_documents
-- Return items whose document is missing, made from other bytes, by another parser, from a replaced parse, or due for a retry.
-- What is searchable first comes first: up to 256 KB from the newest file to the oldest, then the larger ones by size.
WITH item AS MATERIALIZED (
    SELECT * FROM items_in(%(collection)s, %(uris)s)
)
SELECT item.uri, item.source_id, item.sha256, item.media_type, item.format, wanted.parser, item.tags, item.kind,
       item.size, item.metadata, item.container, item.number, document.id AS document_id, document.content_hash,
       item.parser IS NOT NULL AS is_taken
FROM item
LEFT JOIN unnest(%(formats)s::text[], %(parsers)s::text[]) AS known (format, parser)
    ON known.format = CASE WHEN item.container IS NULL AND item.kind = 'file' THEN '' ELSE 'within ' END || item.format
CROSS JOIN LATERAL (SELECT coalesce(item.parser, known.parser) AS parser) AS wanted
LEFT JOIN document ON document.collection = item.collection AND document.uri = item.uri
LEFT JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
WHERE wanted.parser IS NOT NULL
  AND (cardinality(%(documents)s::text[]) = 0 OR item.uri = ANY(%(documents)s) OR item.container = ANY(%(documents)s))
  AND (cardinality(%(locations)s::text[]) = 0 OR item.source_id IN (
      SELECT id FROM source WHERE collection = %(collection)s AND location = ANY(%(locations)s)))
  AND CASE
      -- An item that failed before it became a document has no document, or an outdated one.
      WHEN %(only_failed)s THEN document.failure IS NOT NULL OR document.id IS NULL OR document.input_hash <> item.sha256
      ELSE document.id IS NULL
          OR document.input_hash <> item.sha256
          OR document.config_hash <> wanted.parser
          OR (document.failure IS NULL AND document.content_hash <> parsed.content_hash)
          OR (document.failure IS NOT NULL AND is_due(document.next_retry_at))
          OR %(force)s
  END
ORDER BY CASE WHEN item.size > 262144 THEN item.size ELSE 0 END,
         (SELECT modified FROM raw_file WHERE raw_file.source_id = item.source_id AND raw_file.uri = item.uri) DESC NULLS LAST,
         item.uri;

-- name: parsed_contents
-- Return the sound parsed contents that exist for given pairs of sha256 and parser.
SELECT parsed.sha256, parsed.parser, parsed.title, parsed.language, parsed.metadata, parsed.content_hash,
       parsed.markdown <> '' AS has_text, parsed.nothing_to_read, parsed.attachments,
       EXISTS (
           SELECT FROM document
           WHERE document.content_sha256 = parsed.sha256 AND document.content_parser = parsed.parser) AS has_document
FROM parsed_content parsed
JOIN unnest(%(sha256s)s::bytea[], %(parsers)s::text[]) AS wanted (sha256, parser)
    ON wanted.sha256 = parsed.sha256 AND wanted.parser = parsed.parser
WHERE parsed.seal = parsed_content_seal(parsed) AND attachments_are_whole(parsed);

-- name: record_parsed_contents
-- Insert or replace parsed contents.
INSERT INTO parsed_content
    (sha256, parser, markdown, blocks, title, page_count, language, metadata, content_hash, nothing_to_read, attachments)
VALUES (%(sha256)s, %(parser)s, %(markdown)s, %(blocks)s, %(title)s, %(page_count)s, %(language)s, %(metadata)s,
        %(content_hash)s, %(nothing_to_read)s, %(attachments)s)
ON CONFLICT (sha256, parser) DO UPDATE SET
    markdown = excluded.markdown, blocks = excluded.blocks, title = excluded.title,
    page_count = excluded.page_count, language = excluded.language, metadata = excluded.metadata,
    content_hash = excluded.content_hash, nothing_to_read = excluded.nothing_to_read,
    attachments = excluded.attachments, parsed_at = now();

-- name: forget_attachments
-- Delete the attachments of a message.
DELETE FROM attachment WHERE container_sha256 = %(sha256)s AND container_parser = %(parser)s;

-- name: record_attachments
-- Insert the attachments of a message.
INSERT INTO attachment (container_sha256, container_parser, number, path, media_type, size, sha256, skip_reason)
SELECT %(container_sha256)s, %(container_parser)s, number - 1, part ->> 0, part ->> 1, (part ->> 2)::bigint,
       decode(part ->> 3, 'hex'), part ->> 4
FROM jsonb_array_elements(%(attachments)s) WITH ORDINALITY AS held (part, number);

-- name: parsing_settings
-- Return the parsing settings of a collection.
SELECT settings -> 'parsing' FROM collection WHERE name = %(collection)s;

-- name: page_contents
-- Return the stored content of crawled pages: the main content of an HTML page, the bytes of any other file.
SELECT page.source_id, page.url, parsed.markdown, parsed.blocks, page.title, page.language, page.content
FROM crawled_page page
JOIN unnest(%(source_ids)s::bigint[], %(urls)s::text[]) AS wanted (source_id, url)
    ON wanted.source_id = page.source_id AND wanted.url = page.url
LEFT JOIN parsed_content parsed ON parsed.sha256 = page.sha256 AND parsed.parser = page.parser;

-- name: follow_page_parser
-- Make the pages of a collection refer to the content of the current parser where it exists.
-- After a change of the parser, the content of the former one is then needed by no page.
UPDATE crawled_page page
SET parser = parsed.parser
FROM source, parsed_content parsed
WHERE source.id = page.source_id AND source.collection = %(collection)s
  AND page.parser <> %(parser)s
  AND parsed.sha256 = page.sha256 AND parsed.parser = %(parser)s;

-- name: record_documents
-- Insert or update documents; the version counts up where the content hash changed.
INSERT INTO document AS known
    (collection, source_id, uri, kind, media_type, tags, title, language, metadata, input_hash, config_hash,
     content_sha256, content_parser, content_hash, version, skip_reason)
VALUES (%(collection)s, %(source_id)s, %(uri)s, %(kind)s, %(media_type)s,
        document_tags(%(tags)s::text[], %(metadata)s::jsonb, %(media_type)s), %(title)s, %(language)s, %(metadata)s,
        %(sha256)s, %(parser)s, %(sha256)s, %(parser)s, %(content_hash)s, 1, %(skip_reason)s)
ON CONFLICT (collection, uri) DO UPDATE SET
    source_id = excluded.source_id, kind = excluded.kind, media_type = excluded.media_type, tags = excluded.tags,
    title = excluded.title, language = excluded.language, metadata = excluded.metadata,
    input_hash = excluded.input_hash, config_hash = excluded.config_hash,
    content_sha256 = excluded.content_sha256, content_parser = excluded.content_parser,
    content_hash = excluded.content_hash,
    version = known.version + CASE WHEN known.content_hash IS DISTINCT FROM excluded.content_hash THEN 1 ELSE 0 END,
    -- A person may have taken the item out while it was being parsed.
    removed_at = greatest(
        (SELECT excluded_at FROM raw_file WHERE source_id = excluded.source_id AND raw_file.uri = excluded.uri),
        (SELECT excluded_at FROM crawled_page page WHERE source_id = excluded.source_id AND page.url = excluded.uri)),
    skip_reason = excluded.skip_reason, failure = NULL, failure_class = NULL, attempts = 0, next_retry_at = NULL,
    updated_at = now();

-- name: record_document_failure
-- Record a failed attempt; the content of an earlier success stays and stays searchable.
-- A temporary failure is retried at once, then after 1, 2, 4 … minutes, until it is parked; any other one is parked.
INSERT INTO document AS known
    (collection, source_id, uri, kind, media_type, tags, title, input_hash, config_hash, failure, failure_class,
     attempts, next_retry_at)
VALUES (%(collection)s, %(source_id)s, %(uri)s, %(kind)s, %(media_type)s, %(tags)s, %(title)s, %(sha256)s, %(parser)s,
        %(failure)s, %(failure_class)s, 1, next_retry(%(collection)s, 1, %(most_attempts)s, at_once => true))
ON CONFLICT (collection, uri) DO UPDATE SET
    source_id = excluded.source_id, kind = excluded.kind, media_type = excluded.media_type, 
    metadata = coalesce(known.own_metadata, known.metadata),
    tags = document_tags(excluded.tags, coalesce(known.own_metadata, known.metadata), excluded.media_type),
    input_hash = excluded.input_hash, config_hash = excluded.config_hash, removed_at = NULL,
    failure = excluded.failure, failure_class = excluded.failure_class,
    (attempts, next_retry_at) = (
        SELECT attempt, next_retry(%(collection)s, attempt, %(most_attempts)s, at_once => true)
        FROM (SELECT CASE WHEN (known.input_hash, known.config_hash) = (excluded.input_hash, excluded.config_hash)
                          THEN known.attempts + 1 ELSE 1 END AS attempt) counted),
    updated_at = now();

-- name: record_other_bytes
-- Update the file whose bytes changed between listing and parsing to the bytes that were parsed.
UPDATE raw_file
SET sha256 = %(sha256)s, size = %(size)s, modified = %(modified)s, media_type = %(media_type)s,
    skip_reason = %(skip_reason)s, hashed_at = now(), changed_at = now()
WHERE source_id = %(source_id)s AND uri = %(uri)s;

-- name: analyze_documents
-- Analyze the tables of this stage for the planner; see analyze_raw_files.
ANALYZE document (
    id, collection, source_id, uri, media_type, input_hash, config_hash, content_hash, removed_at, failure,
    kind, tags, language, metadata, dated_at, created_at, updated_at);

-- name: document_blocks
-- Return the text of a document and its blocks.
SELECT parsed.markdown, parsed.blocks
FROM document
JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
WHERE document.id = %(document)s;

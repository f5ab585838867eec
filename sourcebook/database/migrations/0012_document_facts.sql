-- Titles by hand, documents that are known before they are read, and when a collection was made.
ALTER TABLE document ADD COLUMN given_title text, ADD COLUMN own_title text;
ALTER TABLE collection ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
UPDATE collection SET created_at = least(
    applied_at, (SELECT min(document.created_at) FROM document WHERE document.collection = collection.name),
    (SELECT min(generation.created_at) FROM generation WHERE generation.collection = collection.name));

-- Lay the title that was given by hand over a document's own. A statement that sets one of them sets `title` to its own.
CREATE FUNCTION lay_title_over() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    NEW.own_title := CASE WHEN NEW.given_title IS NOT NULL THEN NEW.title END;
    NEW.title := coalesce(NEW.given_title, NEW.title);
    RETURN NEW;
END
$$;
CREATE TRIGGER documents_given_title BEFORE UPDATE OF title, given_title ON document
    FOR EACH ROW WHEN (NEW.given_title IS NOT NULL OR OLD.given_title IS NOT NULL) EXECUTE FUNCTION lay_title_over();

CREATE OR REPLACE FUNCTION document_seal(held document) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN held.given_tags IS NULL AND held.given_title IS NULL THEN hash_record_extended(ROW(
    held.id, held.collection, held.source_id, held.uri, held.kind, held.media_type, held.tags, held.title, held.language,
    jsonb_send(held.metadata), held.input_hash, held.config_hash, held.content_sha256, held.content_parser,
    held.content_hash, held.version), 0)
WHEN held.given_title IS NULL THEN hash_record_extended(ROW(
    held.id, held.collection, held.source_id, held.uri, held.kind, held.media_type, held.tags, held.title, held.language,
    jsonb_send(held.metadata), held.input_hash, held.config_hash, held.content_sha256, held.content_parser,
    held.content_hash, held.version, held.given_tags, jsonb_send(held.given_metadata), held.own_tags,
    jsonb_send(held.own_metadata)), 0)
ELSE hash_record_extended(ROW(
    held.id, held.collection, held.source_id, held.uri, held.kind, held.media_type, held.tags, held.title, held.language,
    jsonb_send(held.metadata), held.input_hash, held.config_hash, held.content_sha256, held.content_parser,
    held.content_hash, held.version, held.given_tags, jsonb_send(held.given_metadata), held.own_tags,
    jsonb_send(held.own_metadata), held.given_title, held.own_title), 0) END;

DROP TRIGGER documents_sealed ON document;
CREATE TRIGGER documents_sealed BEFORE INSERT OR UPDATE OF
    id, collection, source_id, uri, kind, media_type, tags, title, language, metadata, input_hash, config_hash,
    content_sha256, content_parser, content_hash, version, given_tags, given_metadata, own_tags, own_metadata,
    given_title, own_title
    ON document FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('document');

-- The lasting name of a passage: its document, and the first half of the hash that is its identity within it.
CREATE FUNCTION passage_id(document_id bigint, hash bytea) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN document_id || '-' || encode(substr(hash, 1, 8), 'hex');

DROP FUNCTION passages_of(bigint[]);
CREATE FUNCTION passages_of(chunks bigint[]) RETURNS TABLE (
    chunk_id bigint, generation_id bigint, document_id bigint, collection text, uri text, title text, language text,
    version integer, kind text, media_type text, tags text[], metadata jsonb, link text, heading_path text[],
    anchor text, page integer, start_char integer, end_char integer, start_seconds double precision,
    end_seconds double precision, ordinal integer, text text, sections jsonb, passage_id text, tokens integer,
    total_chunks integer, created_at timestamptz, updated_at timestamptz, indexed_at timestamptz)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT chunk.id, chunk.generation_id, document.id, document.collection, document.uri,
           coalesce(document.given_title, indexed.published_title), indexed.published_language, indexed.published_version,
           document.kind, document.media_type, document.tags, document.metadata,
           CASE WHEN starts_with(document.uri, 'git+')
                  OR EXISTS (SELECT FROM source WHERE id = document.source_id AND web_view IS NOT NULL)
               THEN web_link(document.uri, document.source_id) END,
           chunk.heading_path, chunk.anchor, chunk.page, chunk.start_char, chunk.end_char,
           chunk.start_seconds, chunk.end_seconds, chunk.ordinal, chunk.text, chunk.parts,
           passage_id(document.id, chunk.hash), chunk.token_count, indexed.published_chunks, document.created_at,
           document.updated_at, indexed.published_at
    FROM chunk
    JOIN indexed_document indexed
        ON indexed.generation_id = chunk.generation_id AND indexed.document_id = chunk.document_id
    JOIN document ON document.id = chunk.document_id
    WHERE chunk.id = ANY(chunks);
END
$$;

-- The items of `sourcebook documents`: documents, and files and pages that did not become one.
CREATE OR REPLACE VIEW item AS
SELECT
    document.id AS document_id, document.collection, document.source_id, document.uri, document.title, document.kind,
    document.media_type, document.language, document.version, document.tags,
    CASE
        WHEN held.removed_at IS NOT NULL THEN 'removed'
        WHEN source_item.failure IS NOT NULL OR document.failure IS NOT NULL OR indexed.failure IS NOT NULL THEN 'failed'
        WHEN held.skip_reason IS NOT NULL THEN 'skipped'
        WHEN indexed.published_hash = document.content_hash THEN 'ready'
        ELSE 'pending'
    END AS state,
    coalesce(source_item.failure, document.failure, indexed.failure, held.skip_reason) AS error,
    greatest(source_item.next_retry_at, document.next_retry_at) AS next_retry_at,
    greatest(source_item.attempts, document.attempts) AS attempts,
    CASE WHEN held.removed_at IS NULL THEN coalesce(
        source_item.failure_class, CASE WHEN document.failure IS NOT NULL THEN coalesce(document.failure_class, 'other') END,
        indexed.failure_class)
    END AS failure_class,
    -- A failed item that no time will try again.
    held.removed_at IS NULL AND coalesce(source_item.failure, document.failure, indexed.failure) IS NOT NULL
        AND source_item.next_retry_at IS NULL AND document.next_retry_at IS NULL AS parked,
    held.removed_at
FROM document
JOIN collection ON collection.name = document.collection
LEFT JOIN source_item ON source_item.source_id = document.source_id AND source_item.uri = document.uri
-- A document that was announced and never read is what its file is.
CROSS JOIN LATERAL (
    SELECT document.config_hash = '' AND source_item.uri IS NOT NULL AND source_item.excluded_at IS NULL AS is_unread
) announced
CROSS JOIN LATERAL (
    SELECT CASE WHEN announced.is_unread THEN NULL ELSE document.removed_at END AS removed_at,
           coalesce(document.skip_reason, CASE WHEN announced.is_unread THEN source_item.skip_reason END) AS skip_reason
) held
LEFT JOIN indexed_document indexed
    ON indexed.document_id = document.id AND indexed.generation_id = collection.active_generation_id
UNION ALL
SELECT
    NULL, source.collection, source_item.source_id, source_item.uri, NULL, source_item.kind, source_item.media_type, NULL, 0,
    source.tags,
    CASE
        WHEN source_item.excluded_at IS NOT NULL THEN 'removed'
        WHEN source_item.failure IS NOT NULL THEN 'failed'
        WHEN source_item.skip_reason IS NOT NULL THEN 'skipped'
        ELSE 'pending'
    END,
    coalesce(source_item.failure, source_item.skip_reason), source_item.next_retry_at, source_item.attempts,
    source_item.failure_class,
    source_item.excluded_at IS NULL AND source_item.failure IS NOT NULL AND source_item.next_retry_at IS NULL,
    source_item.excluded_at
FROM source_item
JOIN source ON source.id = source_item.source_id
WHERE source.removed_at IS NULL
  AND NOT EXISTS (
      SELECT FROM document
      WHERE document.collection = source.collection AND document.uri = source_item.uri
        AND (document.removed_at IS NULL OR source_item.excluded_at IS NOT NULL OR document.config_hash = '')
  );

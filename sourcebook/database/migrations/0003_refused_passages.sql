-- Documents whose passages the database refuses fail alone: the reason stands beside what is prepared of them.
ALTER TABLE indexed_document ADD COLUMN failure text, ADD COLUMN failure_class text;
CREATE INDEX indexed_document_failed ON indexed_document (generation_id) WHERE failure IS NOT NULL;

-- A date that programs cannot read is none: it ended every listing that it was in.
CREATE OR REPLACE FUNCTION moment(value text) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    whole text := CASE length(value) WHEN 4 THEN value || '-01-01Z' WHEN 7 THEN value || '-01Z' WHEN 10 THEN value || 'Z'
        ELSE value || CASE WHEN value ~ '(Z|[+-]\d\d(:?\d\d)?)$' THEN '' ELSE 'Z' END END;
BEGIN
    IF value ~ '^\d{4}(-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d(:?\d\d)?)?)?)?)?$'
            AND pg_input_is_valid(whole, 'timestamptz') THEN
        -- Programs that read it have no others, in whatever time zone.
        RETURN CASE WHEN whole::timestamptz BETWEEN '0001-01-02Z' AND '9999-12-31Z' THEN whole::timestamptz END;
    END IF;
    RETURN NULL;
END
$$;
UPDATE document SET updated_at = updated_at WHERE NOT dated_at BETWEEN '0001-01-02Z' AND '9999-12-31Z';

-- Words that no index holds are no tags.
CREATE OR REPLACE FUNCTION document_tags(of_source text[], metadata jsonb, media_type text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN NOT coalesce(metadata ?| ARRAY['tags', 'keywords'], false) THEN of_source ELSE of_source || ARRAY(
    SELECT word
    FROM (
        SELECT coalesce(metadata -> 'tags', CASE WHEN media_type NOT IN ('text/html', 'application/xhtml+xml')
                                                 THEN metadata -> 'keywords' END) AS words
    ) own
    CROSS JOIN LATERAL (
        SELECT btrim(word) AS word, min(place) AS place
        FROM (
            SELECT word, place
            FROM jsonb_array_elements_text(CASE jsonb_typeof(words) WHEN 'array' THEN words ELSE '[]' END)
                WITH ORDINALITY AS listed (word, place)
            UNION ALL
            SELECT word, place
            FROM regexp_split_to_table(CASE jsonb_typeof(words) WHEN 'string' THEN words #>> '{}' ELSE '' END, '[;,]')
                WITH ORDINALITY AS written (word, place)
        ) found
        GROUP BY 1
    ) counted
    WHERE word <> '' AND word <> ALL(of_source) AND octet_length(word) <= 2000  -- what is longer is prose, and fits no index
    ORDER BY place) END;

-- Relations that could not be recorded are read again once the failure of their document is taken back.
CREATE OR REPLACE FUNCTION mark_relations() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO relation_mark (collection, document_id) SELECT collection, id FROM added;
    ELSE
        INSERT INTO relation_mark (collection, document_id)
        SELECT added.collection, added.id
        FROM gone JOIN added ON added.id = gone.id
        WHERE (gone.uri, gone.title, gone.metadata, gone.content_hash, gone.removed_at IS NULL)
            IS DISTINCT FROM (added.uri, added.title, added.metadata, added.content_hash, added.removed_at IS NULL)
            OR (gone.failure IS NOT NULL AND added.failure IS NULL);  -- they may be what could not be recorded
    END IF;
    RETURN NULL;
END
$$;

-- Attachments with addresses that no index holds are no items.
CREATE OR REPLACE FUNCTION items_in(of_collection text, of_uris text[]) RETURNS SETOF present_source_item
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT DISTINCT ON (item.uri) item.*
    FROM (
        SELECT * FROM present_source_item held
        WHERE held.collection = of_collection AND (of_uris IS NULL OR held.uri = ANY(of_uris))
        UNION ALL
        SELECT held.collection, held.uri, held.source_id, held.sha256, held.media_type, held.size, held.tags, 'file',
               held.media_type, NULL, held.container, held.number, NULL
        FROM present_attachment held
        WHERE held.collection = of_collection AND held.skip_reason IS NULL
          AND octet_length(held.uri) <= 2500  -- LONGEST_URI in sourcebook/files/listing.py
          AND (of_uris IS NULL OR held.container = ANY(of_uris))
    ) item
    ORDER BY item.uri, item.parser IS NOT NULL, item.source_id, item.container NULLS FIRST
$$;

-- The reason of a refusal is shown.
CREATE OR REPLACE VIEW item AS
SELECT
    document.id AS document_id, document.collection, document.source_id, document.uri, document.title, document.kind,
    document.media_type, document.language, document.version, document.tags,
    CASE
        WHEN document.removed_at IS NOT NULL THEN 'removed'
        WHEN source_item.failure IS NOT NULL OR document.failure IS NOT NULL OR indexed.failure IS NOT NULL THEN 'failed'
        WHEN document.skip_reason IS NOT NULL THEN 'skipped'
        WHEN indexed.published_hash = document.content_hash THEN 'ready'
        ELSE 'pending'
    END AS state,
    coalesce(source_item.failure, document.failure, indexed.failure, document.skip_reason) AS error,
    greatest(source_item.next_retry_at, document.next_retry_at) AS next_retry_at,
    greatest(source_item.attempts, document.attempts) AS attempts,
    CASE WHEN document.removed_at IS NULL THEN coalesce(
        source_item.failure_class, CASE WHEN document.failure IS NOT NULL THEN coalesce(document.failure_class, 'other') END,
        indexed.failure_class)
    END AS failure_class,
    -- A failed item that no time will try again.
    document.removed_at IS NULL AND coalesce(source_item.failure, document.failure, indexed.failure) IS NOT NULL
        AND source_item.next_retry_at IS NULL AND document.next_retry_at IS NULL AS parked,
    document.removed_at
FROM document
JOIN collection ON collection.name = document.collection
LEFT JOIN source_item ON source_item.source_id = document.source_id AND source_item.uri = document.uri
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
        AND (document.removed_at IS NULL OR source_item.excluded_at IS NOT NULL)
  );

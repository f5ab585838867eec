-- A collection may take documents of other collections by their tags.
ALTER TABLE source DROP CONSTRAINT source_kind_check;
ALTER TABLE source ADD CONSTRAINT source_kind_check CHECK (kind IN ('files', 'site', 'collection'));

-- Whether a membership rule takes a document with some tags: it has one of `tags`, unless there are none, and all of
-- `tags_all`.
CREATE FUNCTION takes_tags(rule jsonb, tags text[]) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (rule -> 'tags' = '[]' OR rule -> 'tags' ?| tags) AND to_jsonb(tags) @> (rule -> 'tags_all');

-- The items of sources that become documents, without attachments. An item in two overlapping sources has two rows.
-- `format` selects the parser: the media type, `page` for an HTML page that a crawl has converted to Markdown, or
-- `transcript` for a recording. A document of another collection, which a membership rule takes, is one of `taken`: it
-- has the parsed content of that document, by `parser`.
CREATE OR REPLACE VIEW present_source_item AS
SELECT source.collection, raw_file.uri, raw_file.source_id, raw_file.sha256, raw_file.media_type, raw_file.size,
    source.tags, 'file' AS kind, raw_file.media_type AS format, NULL::jsonb AS metadata,
    NULL AS container, NULL::integer AS number, NULL AS parser
FROM raw_file
JOIN source ON source.id = raw_file.source_id
WHERE raw_file.removed_at IS NULL
  AND raw_file.sha256 IS NOT NULL
  AND raw_file.skip_reason IS NULL
  AND raw_file.excluded_at IS NULL
  AND source.removed_at IS NULL
  AND is_recording(raw_file.media_type) IS NOT TRUE
UNION ALL
SELECT source.collection, file.uri, file.source_id, transcribed.content_hash, file.media_type, file.size, source.tags,
    'recording', 'transcript',
    recording.metadata || jsonb_strip_nulls(jsonb_build_object('language_probability', transcript.language_probability)),
    NULL, NULL, NULL
FROM transcribed_file transcribed
JOIN raw_file file ON file.source_id = transcribed.source_id AND file.uri = transcribed.uri
JOIN source ON source.id = file.source_id
JOIN recording ON recording.sha256 = transcribed.sha256
JOIN transcript ON transcript.sound_sha256 = transcribed.sound_sha256 AND transcript.engine = transcribed.engine
WHERE file.removed_at IS NULL
  AND file.skip_reason IS NULL
  AND file.excluded_at IS NULL
  AND source.removed_at IS NULL
  AND is_recording(file.media_type)
UNION ALL
SELECT collection, url, source_id, sha256, media_type, size, tags, 'page', CASE WHEN is_html THEN 'page' ELSE media_type END,
    metadata, NULL, NULL, NULL
FROM present_page
UNION ALL
SELECT rule.collection, document.uri, rule.id, document.content_sha256, document.media_type, 0, document.tags, document.kind,
    'taken', document.metadata, NULL, NULL, document.content_parser
FROM source rule
JOIN document ON document.collection = rule.location
WHERE rule.kind = 'collection'
  AND rule.removed_at IS NULL
  AND document.removed_at IS NULL
  AND document.content_hash IS NOT NULL
  AND takes_tags(rule.settings, document.tags);

-- The items that become documents, with the attachments of messages.
CREATE OR REPLACE VIEW present_item AS
SELECT * FROM present_source_item
UNION ALL
SELECT collection, uri, source_id, sha256, media_type, size, tags, 'file', media_type, NULL, container, number, NULL
FROM present_attachment
WHERE skip_reason IS NULL;

-- The items that become documents, one row for each collection and URI: the first source with an item provides it, and
-- the collection's own before those that it takes. In an object store an attachment and a file may have one URI: the
-- file is chosen.
CREATE OR REPLACE VIEW live_item AS
SELECT DISTINCT ON (collection, uri) * FROM present_item
ORDER BY collection, uri, parser IS NOT NULL, source_id, container NULLS FIRST;

-- The rows of live_item of a collection: all of them, or those at some URIs with the attachments of messages there.
CREATE OR REPLACE FUNCTION items_in(of_collection text, of_uris text[]) RETURNS SETOF live_item
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
          AND (of_uris IS NULL OR held.container = ANY(of_uris))
    ) item
    ORDER BY item.uri, item.parser IS NOT NULL, item.source_id, item.container NULLS FIRST
$$;

-- Mark every item of a source that got other tags, left the configuration or returned to it, and the documents that a
-- new or changed membership rule takes or took.
CREATE OR REPLACE FUNCTION follow_sources() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    PERFORM mark_items(array_agg(source_id), array_agg(uri)) FROM raw_file WHERE source_id = NEW.id;
    INSERT INTO changed_item (collection, uri) SELECT NEW.collection, url FROM crawled_page WHERE source_id = NEW.id;
    IF NEW.kind = 'collection' THEN
        INSERT INTO changed_item (collection, uri)
        SELECT NEW.collection, uri FROM document WHERE source_id = NEW.id AND removed_at IS NULL
        UNION
        SELECT NEW.collection, uri FROM document
        WHERE collection = NEW.location AND removed_at IS NULL AND content_hash IS NOT NULL AND NEW.removed_at IS NULL
          AND takes_tags(NEW.settings, tags);
    END IF;
    RETURN NULL;
END
$$;
DROP TRIGGER sources_follow ON source;
CREATE TRIGGER sources_follow AFTER UPDATE ON source
    FOR EACH ROW WHEN (OLD.tags IS DISTINCT FROM NEW.tags OR (OLD.removed_at IS NULL) <> (NEW.removed_at IS NULL)
        OR NEW.kind = 'collection' AND OLD.settings IS DISTINCT FROM NEW.settings)
    EXECUTE FUNCTION follow_sources();
CREATE TRIGGER rules_added AFTER INSERT ON source
    FOR EACH ROW WHEN (NEW.kind = 'collection') EXECUTE FUNCTION follow_sources();

-- Mark the documents that a statement changed in each collection that takes them, or took them, by their tags.
CREATE FUNCTION follow_taken_documents() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM source WHERE kind = 'collection') THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' THEN
        INSERT INTO changed_item (collection, uri)
        SELECT rule.collection, added.uri
        FROM added JOIN source rule ON rule.kind = 'collection' AND rule.location = added.collection
        WHERE rule.removed_at IS NULL AND added.removed_at IS NULL AND added.content_hash IS NOT NULL
          AND takes_tags(rule.settings, added.tags);
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO changed_item (collection, uri)
        SELECT rule.collection, gone.uri
        FROM gone JOIN source rule ON rule.kind = 'collection' AND rule.location = gone.collection
        WHERE rule.removed_at IS NULL AND gone.removed_at IS NULL AND gone.content_hash IS NOT NULL
          AND takes_tags(rule.settings, gone.tags);
    ELSE
        INSERT INTO changed_item (collection, uri)
        SELECT DISTINCT rule.collection, held.uri
        FROM gone
        JOIN added ON added.id = gone.id
        CROSS JOIN LATERAL (VALUES
            (gone.collection, gone.uri, gone.tags, gone.removed_at, gone.content_hash),
            (added.collection, added.uri, added.tags, added.removed_at, added.content_hash)
        ) AS held (collection, uri, tags, removed_at, content_hash)
        JOIN source rule ON rule.kind = 'collection' AND rule.location = held.collection
        WHERE rule.removed_at IS NULL AND held.removed_at IS NULL AND held.content_hash IS NOT NULL
          AND takes_tags(rule.settings, held.tags)
          AND (gone.uri, gone.kind, gone.media_type, gone.tags, gone.metadata, gone.content_sha256, gone.content_parser,
               gone.removed_at IS NULL)
              IS DISTINCT FROM
              (added.uri, added.kind, added.media_type, added.tags, added.metadata, added.content_sha256,
               added.content_parser, added.removed_at IS NULL);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER taken_added AFTER INSERT ON document REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION follow_taken_documents();
CREATE TRIGGER taken_changed AFTER UPDATE ON document REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION follow_taken_documents();
CREATE TRIGGER taken_gone AFTER DELETE ON document REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION follow_taken_documents();

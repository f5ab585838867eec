-- Uploads are a source of their own: the bytes in a store by their content, versions by name, tags of their own.
ALTER TABLE source DROP CONSTRAINT source_kind_check,
    ADD CONSTRAINT source_kind_check CHECK (kind IN ('files', 'site', 'collection', 'uploads'));
ALTER TABLE raw_file ADD COLUMN tags text[] NOT NULL DEFAULT '{}';

-- Bytes that were uploaded, by their content: where they are stored. A row comes before its bytes and goes after them.
CREATE TABLE upload_content (
    sha256 bytea PRIMARY KEY,
    bytes bigint NOT NULL,
    store text NOT NULL,               -- folder or fsspec URL of the store
    stored_at timestamptz NOT NULL DEFAULT now()
);

-- Uploads: one row for each version of a name. The live one is the present version.
CREATE TABLE upload (
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    name text NOT NULL,
    version integer NOT NULL,          -- 1, 2, … by name
    sha256 bytea NOT NULL REFERENCES upload_content (sha256),
    tags text[] NOT NULL,
    uploaded_by text NOT NULL,         -- as audit_event.actor
    uploaded_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz,            -- when it was removed, or the next version came
    PRIMARY KEY (collection, name, version)
);
CREATE UNIQUE INDEX upload_live ON upload (collection, name) WHERE removed_at IS NULL;
CREATE INDEX upload_sha256 ON upload (sha256);

CREATE OR REPLACE VIEW present_attachment AS
SELECT document.collection, document.uri || '/' || attachment.path AS uri, file.source_id, attachment.sha256,
    attachment.media_type, attachment.size, source.tags || file.tags AS tags, attachment.skip_reason, document.uri AS container, attachment.number
FROM attachment
JOIN document ON document.content_sha256 = attachment.container_sha256
             AND document.content_parser = attachment.container_parser
JOIN source ON source.collection = document.collection
JOIN raw_file file ON file.source_id = source.id AND file.uri = document.uri
WHERE file.removed_at IS NULL
  AND file.skip_reason IS NULL
  AND file.excluded_at IS NULL
  AND source.removed_at IS NULL;

CREATE OR REPLACE VIEW present_source_item AS
SELECT source.collection, raw_file.uri, raw_file.source_id, raw_file.sha256, raw_file.media_type, raw_file.size,
    source.tags || raw_file.tags AS tags, 'file' AS kind, raw_file.media_type AS format, NULL::jsonb AS metadata,
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
SELECT source.collection, file.uri, file.source_id, transcribed.content_hash, file.media_type, file.size,
    source.tags || file.tags,
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

CREATE OR REPLACE FUNCTION follow_raw_files() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM mark_items(array_agg(source_id), array_agg(uri)) FROM added;
        INSERT INTO tally (collection, kind, items, digest)
        SELECT source.collection, 'raw_files', count(*), coalesce(sum(item_digest(uri, sha256)), 0)
        FROM added JOIN source ON source.id = added.source_id
        WHERE added.removed_at IS NULL GROUP BY 1;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO tally (collection, kind, items, digest)
        SELECT source.collection, 'raw_files', -count(*), -coalesce(sum(item_digest(uri, sha256)), 0)
        FROM gone JOIN source ON source.id = gone.source_id
        WHERE gone.removed_at IS NULL GROUP BY 1;
    ELSE
        PERFORM mark_items(array_agg(gone.source_id), array_agg(gone.uri))
        FROM gone JOIN added ON added.source_id = gone.source_id AND added.uri = gone.uri
        WHERE (gone.sha256, gone.media_type, gone.skip_reason, gone.removed_at IS NULL, gone.excluded_at IS NULL, gone.tags)
            IS DISTINCT FROM
            (added.sha256, added.media_type, added.skip_reason, added.removed_at IS NULL, added.excluded_at IS NULL,
             added.tags)
        HAVING count(*) > 0;
        INSERT INTO tally (collection, kind, items, digest)
        SELECT source.collection, 'raw_files',
               sum((added.removed_at IS NULL)::integer - (gone.removed_at IS NULL)::integer),
               sum(CASE WHEN added.removed_at IS NULL THEN coalesce(item_digest(added.uri, added.sha256), 0) ELSE 0 END
                   - CASE WHEN gone.removed_at IS NULL THEN coalesce(item_digest(gone.uri, gone.sha256), 0) ELSE 0 END)
        FROM gone
        JOIN added ON added.source_id = gone.source_id AND added.uri = gone.uri
        JOIN source ON source.id = gone.source_id
        WHERE (gone.sha256, gone.removed_at IS NULL) IS DISTINCT FROM (added.sha256, added.removed_at IS NULL)
        GROUP BY 1;
    END IF;
    RETURN NULL;
END
$$;

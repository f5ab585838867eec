-- Tags and metadata that are given by hand lie over those of the document, whatever its source says later.

ALTER TABLE document
    ADD COLUMN given_tags text[],         -- tags that were given by hand; NULL where nothing was
    ADD COLUMN given_metadata jsonb,      -- metadata that were given by hand, likewise
    ADD COLUMN own_tags text[],           -- tags without those given by hand; NULL where nothing was: `tags` are them
    ADD COLUMN own_metadata jsonb;        -- metadata without those given by hand, likewise

CREATE OR REPLACE FUNCTION document_seal(held document) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN held.given_tags IS NULL THEN hash_record_extended(ROW(
    held.id, held.collection, held.source_id, held.uri, held.kind, held.media_type, held.tags, held.title, held.language,
    jsonb_send(held.metadata), held.input_hash, held.config_hash, held.content_sha256, held.content_parser,
    held.content_hash, held.version), 0)
ELSE hash_record_extended(ROW(
    held.id, held.collection, held.source_id, held.uri, held.kind, held.media_type, held.tags, held.title, held.language,
    jsonb_send(held.metadata), held.input_hash, held.config_hash, held.content_sha256, held.content_parser,
    held.content_hash, held.version, held.given_tags, jsonb_send(held.given_metadata), held.own_tags,
    jsonb_send(held.own_metadata)), 0) END;

-- Lay the tags and metadata that were given by hand over a document's own. A statement that sets `tags` or `metadata` sets
-- both, to the document's own. Triggers run in the order of their names: this one before documents_sealed.
CREATE FUNCTION lay_given_over() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF NEW.given_tags IS NULL THEN
        NEW.own_tags := NULL;
        NEW.own_metadata := NULL;
    ELSE
        NEW.own_tags := NEW.tags;
        NEW.own_metadata := NEW.metadata;
        NEW.tags := NEW.tags || ARRAY(SELECT tag FROM unnest(NEW.given_tags) AS tag WHERE tag <> ALL(NEW.own_tags));
        NEW.metadata := NEW.metadata || NEW.given_metadata;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER documents_given_over BEFORE UPDATE OF tags, metadata, given_tags, given_metadata ON document
    FOR EACH ROW WHEN (NEW.given_tags IS NOT NULL OR OLD.given_tags IS NOT NULL) EXECUTE FUNCTION lay_given_over();

DROP TRIGGER documents_sealed ON document;
CREATE TRIGGER documents_sealed BEFORE INSERT OR UPDATE OF
    id, collection, source_id, uri, kind, media_type, tags, title, language, metadata, input_hash, config_hash,
    content_sha256, content_parser, content_hash, version, given_tags, given_metadata, own_tags, own_metadata
    ON document FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('document');

-- Seals of the rows that were read from sources: attachments, pages, recordings and their transcripts.

SELECT set_config('sourcebook.writer', 'library', true);  -- these statements are no foreign changes

-- JSON is hashed as it is sent: its own hash takes an empty object and an empty array for equal. Damaged rows keep seals
-- that do not fit.
CREATE TEMPORARY TABLE damaged_content ON COMMIT DROP AS
SELECT sha256, parser FROM parsed_content WHERE seal IS DISTINCT FROM parsed_content_seal(parsed_content);
CREATE TEMPORARY TABLE damaged_document ON COMMIT DROP AS
SELECT id FROM document WHERE seal IS DISTINCT FROM document_seal(document);

CREATE OR REPLACE FUNCTION parsed_content_seal(held parsed_content) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.sha256, held.parser, held.markdown, jsonb_send(held.blocks), held.title, held.page_count, held.language,
    jsonb_send(held.metadata), held.content_hash, held.nothing_to_read), 0);

CREATE OR REPLACE FUNCTION document_seal(held document) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.id, held.collection, held.source_id, held.uri, held.kind, held.media_type, held.tags, held.title, held.language,
    jsonb_send(held.metadata), held.input_hash, held.config_hash, held.content_sha256, held.content_parser,
    held.content_hash, held.version), 0);

UPDATE parsed_content SET seal = parsed_content_seal(parsed_content)
WHERE NOT EXISTS (
    SELECT FROM damaged_content damaged
    WHERE damaged.sha256 = parsed_content.sha256 AND damaged.parser = parsed_content.parser);
UPDATE document SET seal = document_seal(document)
WHERE NOT EXISTS (SELECT FROM damaged_document damaged WHERE damaged.id = document.id);

ALTER TABLE parsed_content ADD COLUMN attachments integer;  -- number of its attachments; NULL where it is not known
ALTER TABLE crawled_page ADD COLUMN seal bigint;            -- crawled_page_seal of the row
ALTER TABLE recording ADD COLUMN seal bigint;               -- recording_seal of the row
ALTER TABLE transcript
    ADD COLUMN windows integer,                             -- number of its windows; NULL until it is finished
    ADD COLUMN seal bigint;                                 -- transcript_seal of the row
ALTER TABLE transcript_window ADD COLUMN seal bigint;       -- transcript_window_seal of the row
ALTER TABLE transcribed_file ADD COLUMN seal bigint;        -- transcribed_file_seal of the row
ALTER TABLE attachment ADD COLUMN seal bigint;              -- attachment_seal of the row

CREATE FUNCTION attachment_seal(held attachment) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.container_sha256, held.container_parser, held.number, held.path, held.media_type, held.size, held.sha256,
    held.skip_reason), 0);

CREATE FUNCTION crawled_page_seal(held crawled_page) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.source_id, held.url, held.status, held.media_type, held.title, held.language, jsonb_send(held.metadata),
    held.canonical_url, held.content, held.size, held.sha256, held.links, held.rendered, held.parser, held.removed_at IS NULL), 0);

CREATE FUNCTION recording_seal(held recording) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.sha256, held.sound_sha256, held.duration, held.title, jsonb_send(held.metadata)), 0);

CREATE FUNCTION transcript_seal(held transcript) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.sound_sha256, held.engine, held.language, held.language_probability, held.windows), 0);

CREATE FUNCTION transcript_window_seal(held transcript_window) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.sound_sha256, held.engine, held.starts_at, held.ends_at, jsonb_send(held.segments)), 0);

CREATE FUNCTION transcribed_file_seal(held transcribed_file) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.source_id, held.uri, held.sha256, held.sound_sha256, held.engine, held.content_hash), 0);

-- Whether a message has the attachments that were found in it.
CREATE FUNCTION attachments_are_whole(held parsed_content) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT count(*) = coalesce(held.attachments, count(*))
           AND coalesce(bool_and(part.seal IS NOT DISTINCT FROM attachment_seal(part)), true)
    FROM attachment part
    WHERE part.container_sha256 = held.sha256 AND part.container_parser = held.parser);

-- Whether a transcript is the one that was made, as far as it goes.
CREATE FUNCTION transcript_is_whole(held transcript) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT held.seal IS NOT DISTINCT FROM transcript_seal(held)
           AND count(*) = coalesce(held.windows, count(*))
           AND coalesce(bool_and(part.seal IS NOT DISTINCT FROM transcript_window_seal(part)), true)
    FROM transcript_window part
    WHERE part.sound_sha256 = held.sound_sha256 AND part.engine = held.engine);

-- Seal rows that the library writes into tables of what was read from sources.
CREATE FUNCTION seal_source_row() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_ARGV[0] = 'attachment' THEN
        NEW.seal := attachment_seal(NEW);
    ELSIF TG_ARGV[0] = 'crawled_page' THEN
        NEW.seal := crawled_page_seal(NEW);
    ELSIF TG_ARGV[0] = 'recording' THEN
        NEW.seal := recording_seal(NEW);
    ELSIF TG_ARGV[0] = 'transcript' THEN
        NEW.seal := transcript_seal(NEW);
    ELSIF TG_ARGV[0] = 'transcript_window' THEN
        NEW.seal := transcript_window_seal(NEW);
    ELSE
        NEW.seal := transcribed_file_seal(NEW);
    END IF;
    RETURN NEW;
END
$$;

-- What is there is taken for sound.
UPDATE attachment SET seal = attachment_seal(attachment);
UPDATE parsed_content parsed SET attachments = held.number
FROM (SELECT container_sha256, container_parser, count(*) AS number FROM attachment GROUP BY 1, 2) held
WHERE held.container_sha256 = parsed.sha256 AND held.container_parser = parsed.parser;
UPDATE crawled_page SET seal = crawled_page_seal(crawled_page);
UPDATE recording SET seal = recording_seal(recording);
UPDATE transcript SET windows = (
    SELECT count(*) FROM transcript_window part
    WHERE part.sound_sha256 = transcript.sound_sha256 AND part.engine = transcript.engine)
WHERE finished_at IS NOT NULL;
UPDATE transcript SET seal = transcript_seal(transcript);
UPDATE transcript_window SET seal = transcript_window_seal(transcript_window);
UPDATE transcribed_file SET seal = transcribed_file_seal(transcribed_file);

-- A statement that writes none of the sealed columns leaves the seal, and so the damage of the row, as it is.
CREATE TRIGGER attachments_sealed BEFORE INSERT OR UPDATE ON attachment
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('attachment');
CREATE TRIGGER pages_sealed BEFORE INSERT OR UPDATE OF
    status, media_type, title, language, metadata, canonical_url, content, size, sha256, links, rendered, parser, removed_at
    ON crawled_page FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('crawled_page');
CREATE TRIGGER recordings_sealed BEFORE INSERT OR UPDATE ON recording
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('recording');
CREATE TRIGGER transcripts_sealed BEFORE INSERT OR UPDATE ON transcript
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('transcript');
CREATE TRIGGER transcript_windows_sealed BEFORE INSERT OR UPDATE ON transcript_window
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('transcript_window');
CREATE TRIGGER transcribed_files_sealed BEFORE INSERT OR UPDATE OF sha256, sound_sha256, engine, content_hash
    ON transcribed_file FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('transcribed_file');

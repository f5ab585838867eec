-- Seals that stay where nothing sealed is written, and marks that no temporary table hides.

-- A statement that writes none of the sealed columns leaves the seal, and so the damage of the row, as it is: the mark of a
-- removed item, a time of hashing, a retry.
DROP TRIGGER raw_files_sealed ON raw_file;
CREATE TRIGGER raw_files_sealed BEFORE INSERT OR UPDATE OF
    source_id, uri, size, modified, sha256, media_type, skip_reason, failure
    ON raw_file FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('raw_file');
DROP TRIGGER documents_sealed ON document;
CREATE TRIGGER documents_sealed BEFORE INSERT OR UPDATE OF
    id, collection, source_id, uri, kind, media_type, tags, title, language, metadata, input_hash, config_hash,
    content_sha256, content_parser, content_hash, version
    ON document FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('document');

-- These functions run as their owner for whoever changes a table. Unless it is named last, the schema of the session's
-- temporary tables comes first: one named `collection` would hide the change, and a trigger of one named `foreign_change`
-- would run as the owner.
ALTER FUNCTION note_foreign_change() SET search_path = sourcebook, public, pg_temp;
ALTER FUNCTION distrust_urls() SET search_path = sourcebook, public, pg_temp;

-- The parts of a passage with headings, pages or times of their own. The seal of a passage without parts stays as it was.
ALTER TABLE chunk ADD COLUMN parts jsonb;

CREATE OR REPLACE FUNCTION chunk_seal(held chunk) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN held.parts IS NULL THEN hash_record_extended(ROW(
    held.ordinal, held.text, held.context, held.heading_path, held.anchor, held.page, held.start_char, held.end_char,
    held.token_count, held.hash, held.embedding_hash, held.start_seconds, held.end_seconds), 0)
ELSE hash_record_extended(ROW(
    held.ordinal, held.text, held.context, held.heading_path, held.anchor, held.page, held.start_char, held.end_char,
    held.token_count, held.hash, held.embedding_hash, held.start_seconds, held.end_seconds, held.parts), 0) END;

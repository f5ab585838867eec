-- What the planner believes of a table, after a stage moved much of it: without this, the first passes over a new
-- knowledge base are planned for an empty one, long before autovacuum comes by.

-- name: analyze_raw_files
ANALYZE raw_file, source;

-- name: analyze_crawled_pages
ANALYZE crawled_page (source_id, url, sha256, removed_at, first_seen_at, canonical_url, media_type), frontier, source;

-- name: analyze_documents
ANALYZE document (
    id, collection, source_id, uri, media_type, input_hash, config_hash, content_hash, removed_at, failure,
    kind, tags, language, metadata, dated_at, created_at, updated_at);

-- name: analyze_chunks
ANALYZE chunk (id, generation_id, document_id, ordinal, hash, embedding_hash), indexed_document;

-- name: analyze_embeddings
ANALYZE embedding (model, text_hash);

-- name: analyze_transcripts
ANALYZE recording, transcript, transcript_window, transcribed_file;

-- name: count_live_documents
-- Return the number of documents that are not removed.
SELECT count(*) FROM document WHERE removed_at IS NULL;

-- name: analyze_everything
-- Analyze every table: a restored one has no statistics.
ANALYZE;

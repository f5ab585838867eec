-- The index of every document whose text leaves something out, instead of those that lose much text as running heads.
DROP INDEX document_left_out;
CREATE INDEX document_left_out ON document (collection) WHERE removed_at IS NULL AND metadata ? 'left_out';

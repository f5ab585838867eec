-- Whether the reader sees an entry's document is looked up by an index alone: rows of entries are wide.
DROP INDEX search_entry_chunk;
CREATE INDEX search_entry_chunk ON search_entry (chunk_id) INCLUDE (generation_id, document_id);

\schema is_library

-- Change time and inode of a file when it was read. Files that were read before have none: their change time is compared
-- with the time of their reading.
ALTER TABLE sourcebook.raw_file ADD COLUMN touched text;

-- Number of documents of a source before it lacked too many of them at once.
ALTER TABLE sourcebook.source ADD COLUMN held_of integer;

-- Whether the client's statement is one of the library's, by the comment that it begins with; see database/queries.py.
-- The session says nothing: somebody else's statement over the library's own connection has no such comment.
CREATE OR REPLACE FUNCTION sourcebook.is_library() RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
RETURN coalesce(starts_with(current_query(), '/* sourcebook: '), false);

-- Change time and inode of a file when it was read. Files that were read before have none: their change time is compared
-- with the time of their reading.
ALTER TABLE sourcebook.raw_file ADD COLUMN touched text;

-- Number of documents of a source before it lacked too many of them at once.
ALTER TABLE sourcebook.source ADD COLUMN held_of integer;

-- Whether the client's statement is one of the library's, by the comment that it begins with; see database/queries.py.
-- The session says nothing: somebody else's statement over the library's own connection has no such comment.
CREATE OR REPLACE FUNCTION sourcebook.is_library() RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
RETURN coalesce(starts_with(current_query(), '/* sourcebook: '), false);


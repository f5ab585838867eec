-- name: repositories
-- Return the live Git repositories of a collection, or those at the given locations.
SELECT id, location, settings, git_commit, git_mirror, git_error, coalesce(next_fetch_at <= now(), true) AS is_due
FROM source
WHERE collection = %(collection)s AND removed_at IS NULL AND kind = 'files' AND settings ? 'url'
  AND (cardinality(%(locations)s::text[]) = 0 OR location = ANY(%(locations)s))
ORDER BY id;

-- name: record_fetch
-- Record the commit that a repository is read at from now on, or why it could not be fetched.
-- After an error the commit stays: what was read of it is still there.
UPDATE source SET
    git_commit = coalesce(%(commit)s, git_commit), git_mirror = coalesce(%(mirror)s, git_mirror),
    git_error = %(error)s, git_error_class = %(failure_class)s, next_fetch_at = now() + %(seconds)s * interval '1 second'
WHERE collection = %(collection)s AND kind = 'files' AND location = %(location)s;

-- name: read_commits
-- Return the commits that live sources of all collections read from a mirror.
SELECT DISTINCT git_commit FROM source
WHERE removed_at IS NULL AND kind = 'files' AND git_mirror = %(mirror)s AND git_commit IS NOT NULL;

-- name: repository_urls
-- Return the URLs of the repositories that are sources of any collection.
SELECT DISTINCT settings ->> 'url' FROM source WHERE removed_at IS NULL AND kind = 'files' AND settings ? 'url';

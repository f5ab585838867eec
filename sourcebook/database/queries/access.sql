-- name: create_access_key
-- Insert a key, and return its row.
INSERT INTO access_key (name, beginning, sha256, scopes, collections, created_at, expires_at, requests_a_minute)
VALUES (%(name)s, %(beginning)s, %(sha256)s, %(scopes)s, %(collections)s, now(),
        now() + make_interval(secs => %(seconds)s::float8), %(limit)s)
ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING
RETURNING id, name, beginning, scopes, collections, created_at, expires_at, used_at, revoked_at, requests_a_minute;

-- name: access_keys
-- Return every key in the order of creation, revoked and expired ones included.
SELECT id, name, beginning, scopes, collections, created_at, expires_at, used_at, revoked_at, requests_a_minute FROM access_key ORDER BY id;

-- name: revoke_access_key
-- Revoke a living key by its id or its name, and return its row.
UPDATE access_key SET revoked_at = now()
WHERE revoked_at IS NULL AND (id = %(id)s::bigint OR name = %(name)s::text)
RETURNING id, name, beginning, scopes, collections, created_at, expires_at, used_at, revoked_at, requests_a_minute;

-- name: living_access_key
-- Return the key with a SHA-256, unless it was revoked or has expired.
SELECT id, name, beginning, scopes, collections, created_at, expires_at, used_at, revoked_at, requests_a_minute
FROM access_key
WHERE sha256 = %(sha256)s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now());

-- name: record_use_of_key
-- Record the use of a key once a minute.
UPDATE access_key SET used_at = now()
WHERE id = %(id)s AND (used_at IS NULL OR used_at < now() - interval '1 minute');

-- name: record_audit_event
-- Record what was done, by whom and to what.
INSERT INTO audit_event (happened_at, actor, action, subject, details)
VALUES (now(), %(actor)s, %(action)s, %(subject)s, %(details)s);

-- name: audit_events
-- Return what was done, the newest first; before an event where one is given.
SELECT id, happened_at, actor, action, subject, details FROM audit_event
WHERE id < coalesce(%(before)s::bigint, 9223372036854775807)
ORDER BY id DESC LIMIT %(limit)s;

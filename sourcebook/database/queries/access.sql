-- name: create_access_key
-- Insert a key, and return its row; nothing where a living key has the name that its maker, who sees some collections, sees.
INSERT INTO access_key (name, beginning, sha256, scopes, collections, created_at, expires_at, requests_a_minute,
                        principals, on_behalf, origins)
SELECT %(name)s, %(beginning)s, %(sha256)s, %(scopes)s, %(collections)s, now(),
       now() + make_interval(secs => %(seconds)s::float8), %(limit)s, %(principals)s, %(on_behalf)s,
       %(origins)s
WHERE NOT EXISTS (
    SELECT FROM access_key other
    WHERE other.name = %(name)s AND other.revoked_at IS NULL
      AND (%(seen)s::text[] IS NULL OR other.collections <@ %(seen)s))
ON CONFLICT DO NOTHING
RETURNING id, name, beginning, scopes, collections, created_at, expires_at, used_at, revoked_at, requests_a_minute,
          principals, on_behalf, origins;

-- name: access_keys
-- Return every key in the order of creation, revoked and expired ones included.
SELECT id, name, beginning, scopes, collections, created_at, expires_at, used_at, revoked_at, requests_a_minute,
       principals, on_behalf, origins
FROM access_key ORDER BY id;

-- name: revoke_access_key
-- Revoke a living key by its id, or by its name where no other one has it, and return its row.
UPDATE access_key SET revoked_at = now()
WHERE revoked_at IS NULL AND (id = %(id)s::bigint OR name = %(name)s::text AND NOT EXISTS (
    SELECT FROM access_key other
    WHERE other.name = access_key.name AND other.revoked_at IS NULL AND other.id <> access_key.id))
RETURNING id, name, beginning, scopes, collections, created_at, expires_at, used_at, revoked_at, requests_a_minute,
          principals, on_behalf, origins;

-- name: living_access_key
-- Return the key with a SHA-256, unless it was revoked or has expired.
SELECT id, name, beginning, scopes, collections, created_at, expires_at, used_at, revoked_at, requests_a_minute,
       principals, on_behalf, origins
FROM access_key
WHERE sha256 = %(sha256)s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now());

-- name: origins_of_key
-- Return the origins of the pages that may send a key, by its id, unless it was revoked or has expired.
SELECT origins FROM access_key
WHERE id = %(id)s AND origins IS NOT NULL AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now());

-- name: is_origin_of_a_key
-- Return whether a page of an origin may send some key.
SELECT EXISTS (
    SELECT FROM access_key
    WHERE %(origin)s = ANY(origins) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()));

-- name: record_use_of_key
-- Record the use of a key once a minute.
UPDATE access_key SET used_at = now()
WHERE id = %(id)s AND (used_at IS NULL OR used_at < now() - interval '1 minute');

-- name: begin_session
-- Record a browser that was signed in with a key, or by an issuer, and forget those whose time is over.
WITH over AS (
    DELETE FROM page_session
    WHERE used_at < now() - make_interval(secs => %(unused)s) OR began_at < now() - make_interval(secs => %(longest)s)
       OR ends_at < now()
)
INSERT INTO page_session (key_id, sha256, browser, issuer, person, principals, ends_at, subject, provider_session)
VALUES (%(key)s, %(sha256)s, %(browser)s, %(issuer)s, %(person)s, %(principals)s,
        now() + make_interval(secs => %(lasts)s::float8), %(subject)s, %(provider_session)s);

-- name: living_session
-- Return the key with which a browser was signed in, and the session; unless either has ended.
SELECT access_key.id, name, beginning, scopes, collections, created_at, expires_at, access_key.used_at, revoked_at,
       requests_a_minute, access_key.principals, on_behalf, origins, session.id AS session, session.used_at AS session_used_at
FROM page_session session JOIN access_key ON access_key.id = session.key_id
WHERE session.sha256 = %(sha256)s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
  AND session.used_at > now() - make_interval(secs => %(unused)s)
  AND session.began_at > now() - make_interval(secs => %(longest)s);

-- name: living_session_of_person
-- Return the person whom an issuer has signed in to a browser, and the session; unless it has ended.
SELECT id AS session, used_at AS session_used_at, person, principals
FROM page_session
WHERE sha256 = %(sha256)s AND issuer = %(issuer)s AND ends_at > now()
  AND used_at > now() - make_interval(secs => %(unused)s);

-- name: keep_refresh_token
-- Keep what a session is renewed with, and who the issuer says that its person is now.
UPDATE page_session
SET refresh_token = %(refresh_token)s, renew_at = now() + make_interval(secs => %(seconds)s), renewed_at = now(),
    person = %(person)s, principals = %(principals)s
WHERE sha256 = %(sha256)s;

-- name: session_to_renew
-- Return a session whose issuer is to be asked again, and hold it: others wait for the answer.
SELECT person, principals, subject, provider_session, refresh_token FROM page_session
WHERE sha256 = %(sha256)s AND issuer = %(issuer)s AND renew_at <= now() AND ends_at > now()
  AND used_at > now() - make_interval(secs => %(unused)s)
FOR UPDATE;

-- name: renew_later
-- Ask the issuer of a session again later; end the session where it has not answered for long.
WITH later AS (
    UPDATE page_session SET renew_at = now() + make_interval(secs => %(pause)s)
    WHERE sha256 = %(sha256)s AND renewed_at > now() - make_interval(secs => %(longest)s)
    RETURNING id
)
DELETE FROM page_session WHERE sha256 = %(sha256)s AND NOT EXISTS (SELECT FROM later);

-- name: use_logout_token
-- Record a logout token, and forget those that have expired; no row where it was taken before.
WITH over AS (DELETE FROM used_logout_token WHERE ends_at < now())
INSERT INTO used_logout_token (sha256, ends_at) VALUES (%(sha256)s, to_timestamp(%(ends_at)s))
ON CONFLICT DO NOTHING RETURNING true;

-- name: end_sessions_of_provider
-- End the sessions that an issuer has begun for a subject, or in one of its sessions, and return whose they were.
DELETE FROM page_session
WHERE issuer = %(issuer)s AND (%(subject)s::text IS NULL OR subject = %(subject)s)
  AND (%(session)s::text IS NULL OR provider_session = %(session)s
       OR (provider_session IS NULL AND %(subject)s::text IS NOT NULL))
RETURNING person;

-- name: record_use_of_session
-- Record the use of a session once a minute.
UPDATE page_session SET used_at = now() WHERE id = %(id)s AND used_at < now() - interval '1 minute';

-- name: sessions
-- Return the sessions that go on, of everybody or of some keys, the newest first.
SELECT session.id, session.key_id, coalesce(access_key.name, session.person) AS key, session.browser, session.began_at,
       session.used_at,
       least(session.used_at + make_interval(secs => %(unused)s), session.began_at + make_interval(secs => %(longest)s),
             access_key.expires_at, session.ends_at) AS ends_at
FROM page_session session LEFT JOIN access_key ON access_key.id = session.key_id
WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
  AND session.used_at > now() - make_interval(secs => %(unused)s)
  AND session.began_at > now() - make_interval(secs => %(longest)s)
  AND (session.ends_at IS NULL OR session.ends_at > now())
  AND (%(keys)s::bigint[] IS NULL OR session.key_id = ANY(%(keys)s))
ORDER BY session.id DESC;

-- name: end_session
-- End a session, of everybody or of some keys, and return whose it was.
DELETE FROM page_session session
WHERE session.id = %(id)s AND (%(keys)s::bigint[] IS NULL OR session.key_id = ANY(%(keys)s))
RETURNING coalesce((SELECT 'key ' || name FROM access_key WHERE access_key.id = session.key_id), session.person);

-- name: end_session_of_token
-- End the session of a browser that signs out, and return whether an issuer has signed it in.
DELETE FROM page_session WHERE sha256 = %(sha256)s RETURNING key_id IS NULL;

-- name: record_audit_event
-- Record what was done, by whom and to what.
INSERT INTO audit_event (happened_at, actor, action, subject, details)
VALUES (now(), %(actor)s, %(action)s, %(subject)s, %(details)s);

-- name: audit_events
-- Return what was done, the newest first; before an event where one is given.
SELECT id, happened_at, actor, action, subject, details FROM audit_event
WHERE id < coalesce(%(before)s::bigint, 9223372036854775807)
ORDER BY id DESC LIMIT %(limit)s;

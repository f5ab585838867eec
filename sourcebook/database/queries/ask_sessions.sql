-- name: keep_ask_turn
-- Insert a turn of a conversation.
INSERT INTO ask_turn (owner, session, collections, question, answer, reason, sources, asked_at, expires_at)
VALUES (%(owner)s, %(session)s, %(collections)s, %(question)s, %(answer)s, %(reason)s, %(sources)s, %(asked_at)s,
        %(expires_at)s);

-- name: delete_old_ask_turns
-- Delete the turns that are older than they are kept, and those of collections that are no longer there.
DELETE FROM ask_turn
WHERE expires_at < now()
   OR EXISTS (SELECT FROM unnest(collections) AS asked (name) WHERE asked.name NOT IN (SELECT name FROM collection));

-- name: ask_sessions
-- Return the conversations of a caller, the one that was continued last first.
SELECT session,
       array(SELECT DISTINCT name
             FROM ask_turn AS other, unnest(other.collections) AS name
             WHERE other.owner = %(owner)s AND other.session = ask_turn.session AND other.expires_at > now()
             ORDER BY name) AS collections,
       count(*) AS turns, (array_agg(question ORDER BY id))[1] AS question, min(asked_at) AS started_at, max(asked_at) AS last_asked_at, max(expires_at) AS expires_at
FROM ask_turn
WHERE owner = %(owner)s AND expires_at > now()
GROUP BY session
ORDER BY max(id) DESC;

-- name: ask_turns
-- Return the turns of a conversation of a caller, the oldest first.
SELECT question, answer, reason, sources, collections, asked_at
FROM ask_turn
WHERE owner = %(owner)s AND session = %(session)s AND expires_at > now()
ORDER BY id;

-- name: forget_ask_session
-- Delete a conversation of a caller.
DELETE FROM ask_turn WHERE owner = %(owner)s AND session = %(session)s;

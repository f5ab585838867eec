-- name: claim_idempotency_key
-- Take an idempotency key for a request, and return the claim; nothing where a request has it.
--
-- A claim whose request has not ended within a minute is that of a server that died.
INSERT INTO idempotent_answer AS kept (caller, key, request, body_sha256, claim)
VALUES (%(caller)s, %(key)s, %(request)s, %(body_sha256)s, %(claim)s)
ON CONFLICT (caller, key) DO UPDATE
SET request = excluded.request, body_sha256 = excluded.body_sha256, claim = excluded.claim, asked_at = now(),
    status = NULL, headers = NULL, body = NULL
WHERE kept.asked_at < now() - interval '24 hours'
   OR (kept.status IS NULL AND kept.asked_at < now() - interval '1 minute')
RETURNING claim;

-- name: idempotent_answer
-- Return the request that has an idempotency key, and its answer.
SELECT request, body_sha256, status, headers, body FROM idempotent_answer
WHERE caller = %(caller)s AND key = %(key)s;

-- name: keep_idempotent_answer
-- Keep the answer to a request, unless another one has taken its idempotency key.
UPDATE idempotent_answer SET status = %(status)s, headers = %(headers)s, body = %(body)s
WHERE caller = %(caller)s AND key = %(key)s AND claim = %(claim)s;

-- name: release_idempotency_key
-- Give an idempotency key back.
DELETE FROM idempotent_answer WHERE caller = %(caller)s AND key = %(key)s AND claim = %(claim)s;

-- name: delete_old_answers
-- Delete some answers that are older than a day.
DELETE FROM idempotent_answer WHERE (caller, key) IN (
    SELECT caller, key FROM idempotent_answer WHERE asked_at < now() - interval '24 hours'
    ORDER BY asked_at LIMIT %(most)s FOR UPDATE SKIP LOCKED
);

-- The limit of a key: requests a minute; null: that of the server.
ALTER TABLE access_key ADD COLUMN requests_a_minute integer CHECK (requests_a_minute > 0);

-- Answers to requests that were sent with an Idempotency-Key: the same request again is answered with the same answer.
CREATE TABLE idempotent_answer (
    caller text NOT NULL,              -- `key` and its id, or `local caller`
    key text NOT NULL,                 -- the caller's own name of the request
    request text NOT NULL,             -- method, path and query
    body_sha256 bytea NOT NULL,
    claim uuid NOT NULL,               -- the attempt that may write the answer
    asked_at timestamptz NOT NULL DEFAULT now(),
    status integer,                    -- of the answer; null as long as the request runs
    headers jsonb,                     -- those that matter
    body bytea,
    PRIMARY KEY (caller, key)
);
CREATE INDEX idempotent_answer_asked_at ON idempotent_answer (asked_at);

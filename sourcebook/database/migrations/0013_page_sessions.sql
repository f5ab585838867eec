DROP INDEX access_key_name;
-- Two living keys that open the same collections have different names. An administrator of some learns of no name of others.
CREATE UNIQUE INDEX access_key_name ON access_key (name, collections) NULLS NOT DISTINCT WHERE revoked_at IS NULL;

-- Browsers that somebody has signed in with a key: each sends a token of its own, of which the SHA-256 is kept.
CREATE TABLE page_session (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key_id bigint NOT NULL REFERENCES access_key (id) ON DELETE CASCADE,
    sha256 bytea NOT NULL UNIQUE,
    browser text NOT NULL,             -- its own name of itself
    began_at timestamptz NOT NULL DEFAULT now(),
    used_at timestamptz NOT NULL DEFAULT now()  -- last use, to the minute
);

-- Keys of programs, agents and people that reach the knowledge base over a network; of a key only its SHA-256.
CREATE TABLE access_key (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,                -- what a person calls it
    beginning text NOT NULL,           -- first characters of the key, by which a person recognises it
    sha256 bytea NOT NULL UNIQUE,
    scopes text[] NOT NULL,            -- read, write, admin
    collections text[],                -- names of the only collections that it sees; null: every collection
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    used_at timestamptz,               -- last use, to the minute
    revoked_at timestamptz,
    CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'write', 'admin'])
);
-- Two living keys have different names.
CREATE UNIQUE INDEX access_key_name ON access_key (name) WHERE revoked_at IS NULL;

-- What was changed through a key, the command or a page, by whom and when. Rows outlive the keys.
CREATE TABLE audit_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    happened_at timestamptz NOT NULL,
    actor text NOT NULL,               -- `key NAME`, or the account of the operating system
    action text NOT NULL,              -- such as key.create
    subject text NOT NULL,             -- what it was done to
    details jsonb NOT NULL
);
CREATE INDEX audit_event_happened_at ON audit_event (happened_at);

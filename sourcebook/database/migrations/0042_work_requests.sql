-- Work that a person, a program or an agent asked for: one row a request, which every face reads.
CREATE TABLE work_request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    kind text NOT NULL,                -- sync
    arguments jsonb NOT NULL,          -- the part of the collection, as a selection
    idempotency_key text,              -- the asker's own; the same one again is the same request
    state text NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'running', 'succeeded', 'failed', 'cancelled')),
    stage text,                        -- name of the asset that works now, or worked last
    done bigint NOT NULL DEFAULT 0,    -- items of that stage: done, known so far, failed
    total bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    error text,                        -- reason of a failed request
    run_id text,                       -- the Dagster run that does it
    worker text,                       -- host and process that does it
    asked_by text NOT NULL,            -- `key NAME`, or the account of the operating system
    cancel_asked boolean NOT NULL DEFAULT false,
    revision bigint NOT NULL DEFAULT 1,  -- number of the last change, from 1
    asked_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    changed_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz
);
CREATE UNIQUE INDEX work_request_idempotency ON work_request (asked_by, collection, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX work_request_open ON work_request (id) WHERE state IN ('waiting', 'running');
CREATE INDEX work_request_collection ON work_request (collection, id);

-- Count a change of a request, and tell those who listen on the channel sourcebook_work its id.
CREATE FUNCTION note_work_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        NEW.revision := OLD.revision + 1;
        NEW.changed_at := now();
    END IF;
    PERFORM pg_notify('sourcebook_work', NEW.id::text);
    RETURN NEW;
END
$$;
CREATE TRIGGER work_request_noted BEFORE INSERT OR UPDATE ON work_request
    FOR EACH ROW EXECUTE FUNCTION note_work_request();

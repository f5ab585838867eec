-- Small changes that are done and not yet recorded as runs of Dagster.
CREATE TABLE finished_run (
    run_id uuid PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    reports jsonb NOT NULL,            -- reports of the stages by asset
    outcomes jsonb NOT NULL,           -- outcomes of the checks
    finished_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempts smallint NOT NULL DEFAULT 0,
    error text                         -- reason why the last attempt to record it failed
);

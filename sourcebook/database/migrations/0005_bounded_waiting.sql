-- Requests that share a run, and how long the changes of each source have been waiting.
ALTER TABLE work_request ADD COLUMN led_by bigint;
CREATE INDEX work_request_led_by ON work_request (coalesce(led_by, id)) WHERE state = 'running';

CREATE TABLE waiting_source (
    source_id bigint PRIMARY KEY REFERENCES source (id) ON DELETE CASCADE,
    behind_since timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Count how often a request for work was taken: the worker of an earlier attempt can no longer write to its row.
ALTER TABLE work_request ADD COLUMN attempts integer NOT NULL DEFAULT 0;

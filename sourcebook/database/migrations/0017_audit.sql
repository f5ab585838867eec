-- The audit of reading: who asked for what, and which documents the answer showed, of collections with the setting
-- `retention.audit`, for that long. A row is written before the answer is given.
CREATE TABLE audit_reading (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    happened_at timestamptz NOT NULL DEFAULT now(),
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    actor text NOT NULL,               -- as audit_event.actor
    principals text[],                 -- for whom it asked, persons first; null where everything in scope was asked
    operation text NOT NULL,           -- such as search
    question text,                     -- without addresses, long numbers and keys; null where there is none
    documents bigint[] NOT NULL,       -- ids of the documents of this collection that the answer showed
    uris text[] NOT NULL               -- their addresses, and those of files that are no documents yet
);
CREATE INDEX audit_reading_happened_at ON audit_reading (collection, happened_at);
-- The second wall, as in permissions.sql: the role of principals is not granted this table, and sees no row of it.
ALTER TABLE audit_reading ENABLE ROW LEVEL SECURITY;
CREATE POLICY unseen ON audit_reading USING (current_user <> 'sourcebook_reader');

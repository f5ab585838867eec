-- Records of tables and programs are sources.
ALTER TABLE source ADD COLUMN record_state jsonb;

-- The records of tables and programs, as of the last look at their source: what raw_file is compared with.
CREATE TABLE source_record (
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    uri text NOT NULL,
    version text NOT NULL,             -- sha256 of the content in hexadecimal, `deleted`, or why there is no content
    mark text,                         -- its `updated` in the source; NULL: the next look reads it again
    content bytea,                     -- the bytes of its document
    skip_reason text,
    failure text,
    failure_class text,
    removed_at timestamptz,            -- since when its source does not have it
    PRIMARY KEY (source_id, uri)
);
CREATE INDEX source_record_failed ON source_record (source_id) WHERE failure IS NOT NULL;
\schema records_added records_changed records_gone link_of passages_of

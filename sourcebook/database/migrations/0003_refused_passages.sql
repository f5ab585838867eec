-- Documents whose passages the database refuses fail alone: the reason stands beside what is prepared of them.
ALTER TABLE indexed_document ADD COLUMN failure text, ADD COLUMN failure_class text;
CREATE INDEX indexed_document_failed ON indexed_document (generation_id) WHERE failure IS NOT NULL;

-- A date that programs cannot read is none: it ended every listing that it was in.
\schema moment
UPDATE document SET updated_at = updated_at WHERE NOT dated_at BETWEEN '0001-01-02Z' AND '9999-12-31Z';

-- Words that no index holds are no tags.
\schema document_tags

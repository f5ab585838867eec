-- Titles by hand, documents that are known before they are read, and when a collection was made.
ALTER TABLE document ADD COLUMN given_title text, ADD COLUMN own_title text;
ALTER TABLE collection ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
UPDATE collection SET created_at = least(
    applied_at, (SELECT min(document.created_at) FROM document WHERE document.collection = collection.name),
    (SELECT min(generation.created_at) FROM generation WHERE generation.collection = collection.name));

\schema lay_title_over documents_given_title document_seal

DROP TRIGGER documents_sealed ON document;
\schema documents_sealed passage_id

DROP FUNCTION passages_of(bigint[]);

\schema item

-- Documents are published by their words before their passages have vectors.
ALTER TABLE indexed_document ADD COLUMN awaits_vectors boolean NOT NULL DEFAULT false;
CREATE INDEX indexed_document_awaiting ON indexed_document (generation_id, document_id) WHERE awaits_vectors;

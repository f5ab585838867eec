-- Types of documents, and the metadata fields that a type promises and the document lacks.
ALTER TABLE document
    ADD COLUMN document_type text,        -- name of a type in the settings; NULL where it has none
    ADD COLUMN lacking text[];            -- promised fields that it lacks; NULL where it lacks none
CREATE INDEX document_of_type ON document (collection, document_type) WHERE document_type IS NOT NULL;
CREATE INDEX document_lacking ON document (collection) WHERE lacking IS NOT NULL;

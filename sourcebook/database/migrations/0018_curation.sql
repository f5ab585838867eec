-- Documents that are hidden from search, or boosted, by hand.
ALTER TABLE document
    ADD COLUMN boost real NOT NULL DEFAULT 1 CHECK (boost = 0 OR boost BETWEEN 0.25 AND 4),
    ADD COLUMN curated_at timestamptz,
    ADD COLUMN curated_by text,
    ADD COLUMN curated_because text;
CREATE INDEX document_curated ON document (collection) WHERE boost <> 1;

-- Collections with a document that was once hidden or boosted by hand: a search of others asks for none.
CREATE TABLE curated_collection (
    collection text PRIMARY KEY REFERENCES collection (name) ON DELETE CASCADE
);
\schema note_curation documents_noted_as_curated take_curation documents_take_curation follow_curation
\schema documents_curated

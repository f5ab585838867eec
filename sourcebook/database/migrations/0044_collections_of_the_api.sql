-- Collections that the API has made live in the database alone: `sourcebook.yaml` neither changes nor removes them.
ALTER TABLE collection
    ADD COLUMN declared_in text NOT NULL DEFAULT 'file' CHECK (declared_in IN ('file', 'api')),
    ADD COLUMN written_settings jsonb;

-- Keys ask for principals, or may say for whom they ask.
ALTER TABLE access_key
    ADD COLUMN principals text[],
    ADD COLUMN on_behalf text CHECK (on_behalf IN ('required', 'optional')),
    ADD CHECK (principals IS NULL OR on_behalf IS NULL);

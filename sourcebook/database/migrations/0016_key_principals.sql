-- Keys ask for principals, or may say for whom they ask.
ALTER TABLE access_key
    ADD COLUMN principals text[],
    ADD COLUMN on_behalf text CHECK (on_behalf IN ('required', 'optional')),
    ADD CHECK (principals IS NULL OR on_behalf IS NULL);

-- Browsers are also signed in by the issuer of signed tokens, who says who the person is.
ALTER TABLE page_session
    ALTER COLUMN key_id DROP NOT NULL,
    ADD COLUMN issuer text,
    ADD COLUMN person text,
    ADD COLUMN principals text[],
    ADD COLUMN ends_at timestamptz,
    ADD CHECK (num_nulls(issuer, person, principals, ends_at) = CASE WHEN key_id IS NULL THEN 0 ELSE 4 END);

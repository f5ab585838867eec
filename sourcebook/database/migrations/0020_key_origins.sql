-- Keys that pages of other sites hold: bound to the origins of these pages, they search and ask alone.
ALTER TABLE access_key
    ADD COLUMN origins text[],
    DROP CONSTRAINT access_key_scopes_check,
    ADD CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'write', 'admin', 'unredacted', 'search']),
    ADD CONSTRAINT access_key_of_origins CHECK (
        CASE WHEN 'search' = ANY(scopes)
             THEN cardinality(scopes) = 1 AND cardinality(origins) > 0 AND num_nonnulls(origins, principals, on_behalf) = 1
             ELSE origins IS NULL END);

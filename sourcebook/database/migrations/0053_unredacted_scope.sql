-- A scope of keys that lifts redaction.
ALTER TABLE access_key DROP CONSTRAINT access_key_scopes_check;
ALTER TABLE access_key ADD CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'write', 'admin', 'unredacted']);

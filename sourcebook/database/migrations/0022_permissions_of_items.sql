-- Permissions of single items are asked again where other settings say whose they are.
\schema follow_permissions delete_documents_first collections_gone_with_documents

-- Sessions of persons end with those at the issuer, and are renewed there. Those of before do not say which these are.
DELETE FROM page_session WHERE key_id IS NULL;
ALTER TABLE page_session ADD COLUMN subject text;
ALTER TABLE page_session ADD COLUMN provider_session text;
ALTER TABLE page_session ADD COLUMN refresh_token bytea;
ALTER TABLE page_session ADD COLUMN renew_at timestamptz;
ALTER TABLE page_session ADD COLUMN renewed_at timestamptz;
CREATE TABLE used_logout_token (
    sha256 bytea PRIMARY KEY,
    ends_at timestamptz NOT NULL
);

-- Permissions of single items are asked again where other settings say whose they are.
CREATE OR REPLACE FUNCTION follow_permissions() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF OLD.permissions ? 'by_item' AND OLD.permissions - 'denied' IS DISTINCT FROM NEW.permissions - 'denied' THEN
        DELETE FROM item_permission WHERE source_id = NEW.id;
        UPDATE listed_folder SET digest = NULL, revision = DEFAULT WHERE source_id = NEW.id;  -- all is asked again
    END IF;
    IF NEW.kind = 'uploads' OR NEW.permissions IS NULL OR (NEW.permissions ->> 'by_document')::boolean
       OR (NEW.permissions ->> 'by_record')::boolean THEN
        UPDATE document SET audience_id = found.audience_id
        FROM (SELECT id, audience_for(source_id, uri, coalesce(own_metadata, metadata)) AS audience_id
              FROM document WHERE source_id = NEW.id OFFSET 0) found
        WHERE document.id = found.id AND document.audience_id <> found.audience_id;
        RETURN NULL;
    END IF;
    IF NEW.permissions ? 'by_item' THEN
        WITH said AS MATERIALIZED (
            SELECT allowed, denied, audience_of(
                allowed, denied || ARRAY(SELECT jsonb_array_elements_text(NEW.permissions -> 'denied'))) AS audience_id
            FROM (SELECT DISTINCT allowed, denied FROM item_permission WHERE source_id = NEW.id) each
        )
        UPDATE document SET audience_id = coalesce(said.audience_id, 2)
        FROM document known
        LEFT JOIN item_permission item ON item.source_id = known.source_id AND item.uri = known.uri
        LEFT JOIN said ON said.allowed = item.allowed AND said.denied = item.denied
        WHERE known.source_id = NEW.id AND document.id = known.id
          AND document.audience_id <> coalesce(said.audience_id, 2)
          AND NOT EXISTS (SELECT FROM attachment_roots(NEW.collection) AS inside WHERE inside.uri = known.uri);
        RETURN NULL;
    END IF;
    WITH rule AS MATERIALIZED (
        SELECT place, said ->> 'path' AS path,
               audience_of(ARRAY(SELECT jsonb_array_elements_text(said -> 'allowed')),
                           ARRAY(SELECT jsonb_array_elements_text(NEW.permissions -> 'denied'))) AS audience_id
        FROM jsonb_array_elements(NEW.permissions -> 'rules') WITH ORDINALITY AS given (said, place)
    ), fitting AS (
        SELECT DISTINCT ON (held.id) held.id, rule.audience_id
        FROM rule
        CROSS JOIN LATERAL (
            SELECT id FROM document
            WHERE source_id = NEW.id AND (rule.path IS NULL OR uri ~ rule.path)
            OFFSET 0
        ) held
        ORDER BY held.id, rule.place
    )
    UPDATE document SET audience_id = coalesce(fitting.audience_id, 2)
    FROM document known
    LEFT JOIN fitting USING (id)
    WHERE known.source_id = NEW.id AND document.id = known.id
      AND document.audience_id <> coalesce(fitting.audience_id, 2)
      AND NOT EXISTS (SELECT FROM attachment_roots(NEW.collection) AS inside WHERE inside.uri = known.uri);
    RETURN NULL;
END
$$;

-- Delete the documents of a collection before it: counts of what not everyone sees refer to it.
CREATE FUNCTION delete_documents_first() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    DELETE FROM document WHERE collection = OLD.name;
    RETURN OLD;
END
$$;
CREATE TRIGGER collections_gone_with_documents BEFORE DELETE ON collection
    FOR EACH ROW EXECUTE FUNCTION delete_documents_first();

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

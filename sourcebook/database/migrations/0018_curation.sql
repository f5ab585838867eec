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
CREATE FUNCTION note_curation() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    INSERT INTO curated_collection VALUES (NEW.collection) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER documents_noted_as_curated AFTER INSERT OR UPDATE OF boost ON document
    FOR EACH ROW WHEN (NEW.boost <> 1) EXECUTE FUNCTION note_curation();

-- Curation by hand: copies in collections that take a document follow it, new ones and those that are there.
CREATE FUNCTION take_curation() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    giver document;
BEGIN
    SELECT held.* INTO giver
    FROM source JOIN document held ON held.collection = source.location AND held.uri = NEW.uri
    WHERE source.id = NEW.source_id AND source.kind = 'collection';
    IF FOUND THEN
        NEW.boost := giver.boost;
        NEW.curated_at := giver.curated_at;
        NEW.curated_by := giver.curated_by;
        NEW.curated_because := giver.curated_because;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER documents_take_curation BEFORE INSERT ON document
    FOR EACH ROW EXECUTE FUNCTION take_curation();
CREATE FUNCTION follow_curation() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    UPDATE document copy
    SET boost = NEW.boost, curated_at = NEW.curated_at, curated_by = NEW.curated_by, curated_because = NEW.curated_because
    FROM source
    WHERE source.kind = 'collection' AND source.location = NEW.collection
      AND copy.collection = source.collection AND copy.uri = NEW.uri AND copy.source_id = source.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER documents_curated AFTER UPDATE OF boost, curated_at ON document
    FOR EACH ROW WHEN (ROW(OLD.boost, OLD.curated_at) IS DISTINCT FROM ROW(NEW.boost, NEW.curated_at))
    EXECUTE FUNCTION follow_curation();

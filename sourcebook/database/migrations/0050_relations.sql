-- Names of documents: what other documents call a live one. A relation means the document with its target as a name.
CREATE TABLE document_name (
    document_id bigint NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    collection text NOT NULL,
    name text COLLATE "C" NOT NULL,    -- in normal form
    rank smallint NOT NULL,            -- 0: its URI, then id, alias, file name, title
    exact text COLLATE "C",            -- its URI with the extension
    PRIMARY KEY (document_id, name)
);
CREATE INDEX document_name_name ON document_name (collection, name);

-- Relations as documents write them, each with the document that it means, where that is there.
CREATE TABLE document_relation (
    document_id bigint NOT NULL REFERENCES document (id) ON DELETE CASCADE,  -- the document that writes it
    collection text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('references', 'requires', 'implements', 'supersedes', 'creates', 'part_of')),
    is_inverse boolean NOT NULL,       -- whether the target is the one that supersedes, requires, …
    target text COLLATE "C" NOT NULL,  -- in normal form: a document_name of the same collection
    exact text COLLATE "C",            -- of a link: the URI with the extension
    written text NOT NULL,
    origin text NOT NULL CHECK (origin IN ('field', 'link', 'id', 'attachment')),
    resolved_id bigint REFERENCES document (id) ON DELETE SET NULL,
    PRIMARY KEY (document_id, kind, is_inverse, target)
);
CREATE INDEX document_relation_target ON document_relation (collection, target);
CREATE INDEX document_relation_resolved ON document_relation (resolved_id) WHERE resolved_id IS NOT NULL;
CREATE INDEX document_relation_superseding ON document_relation (document_id) WHERE kind = 'supersedes';

-- Marks on documents whose relations are to be read; relation_rules says by which rules all others were read.
CREATE TABLE relation_mark (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL,
    document_id bigint NOT NULL
);
CREATE INDEX relation_mark_collection ON relation_mark (collection);

CREATE TABLE relation_rules (
    collection text PRIMARY KEY REFERENCES collection (name) ON DELETE CASCADE,
    digest text NOT NULL
);

-- Mark the documents that a statement changed in what decides their names and relations.
CREATE FUNCTION mark_relations() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO relation_mark (collection, document_id) SELECT collection, id FROM added;
    ELSE
        INSERT INTO relation_mark (collection, document_id)
        SELECT added.collection, added.id
        FROM gone JOIN added ON added.id = gone.id
        WHERE (gone.uri, gone.title, gone.metadata, gone.content_hash, gone.removed_at IS NULL)
            IS DISTINCT FROM (added.uri, added.title, added.metadata, added.content_hash, added.removed_at IS NULL);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER relations_added AFTER INSERT ON document REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION mark_relations();
CREATE TRIGGER relations_changed AFTER UPDATE ON document REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION mark_relations();

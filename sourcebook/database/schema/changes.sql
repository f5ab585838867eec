-- What changed since a run compared it: marks and kept counts, by triggers on the ledger.

-- The digest of one item in a sum: sums of digests are equal for equal sets, in whatever order their items came.
CREATE FUNCTION item_digest(key text, hash bytea) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ('0x' || substr(encode(sha256(convert_to(key || ' ' || encode(hash, 'hex'), 'UTF8')), 'hex'), 1, 30))::numeric;
-- PostgreSQL 15 reads no hexadecimal numbers: the same value from two halves, in twice the time.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer < 160000 THEN
        CREATE OR REPLACE FUNCTION item_digest(key text, hash bytea) RETURNS numeric
        LANGUAGE sql IMMUTABLE PARALLEL SAFE
        RETURN (SELECT ('x' || substr(digits, 1, 15))::bit(60)::bigint * 2::numeric ^ 60
                       + ('x' || substr(digits, 16, 15))::bit(60)::bigint
                FROM encode(sha256(convert_to(key || ' ' || encode(hash, 'hex'), 'UTF8')), 'hex') AS digits);
    END IF;
END $$;

-- Kept counts of a collection, as a sum over rows: each change inserts a row in its own transaction, so that writers
-- never wait for each other, and a run folds the rows into one.
CREATE TABLE tally (
    collection text NOT NULL,
    kind text NOT NULL,                -- raw_files, crawled_pages, documents: live ones; removed: removed documents
    items bigint NOT NULL,
    digest numeric NOT NULL            -- sum of item_digest over the live items that have content
);
CREATE INDEX tally_collection ON tally (collection, kind);

-- Marks on items that changed since a run compared them with their documents. A mark is written in the transaction of
-- the change, and is deleted by the run that read it; collection.compared_with says by which parsers all others are settled.
CREATE TABLE changed_item (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL,
    uri text NOT NULL
);
CREATE INDEX changed_item_collection ON changed_item (collection);

-- Marks on documents that changed since a run published them; generation.prepared_with says by which rules all others
-- are published.
CREATE TABLE changed_document (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL,
    document_id bigint NOT NULL
);
CREATE INDEX changed_document_collection ON changed_document (collection);

-- Mark items of sources. A message is marked with its attachments, so that a mark of an attachment never stands alone.
CREATE FUNCTION mark_items(source_ids bigint[], uris text[]) RETURNS void
LANGUAGE sql SET search_path = sourcebook, public
AS $$
    INSERT INTO changed_item (collection, uri)
    SELECT source.collection, changed.uri
    FROM unnest(source_ids, uris) AS changed (source_id, uri) JOIN source ON source.id = changed.source_id
    UNION ALL
    SELECT source.collection, changed.uri || '/' || attachment.path
    FROM unnest(source_ids, uris) AS changed (source_id, uri)
    JOIN source ON source.id = changed.source_id
    JOIN document ON document.collection = source.collection AND document.uri = changed.uri
    JOIN attachment ON attachment.container_sha256 = document.content_sha256
                   AND attachment.container_parser = document.content_parser
    UNION ALL
    -- In an object store a file may have the URI of an attachment: the attachment takes its place when it goes.
    SELECT source.collection, message.uri
    FROM unnest(source_ids, uris) AS changed (source_id, uri)
    JOIN source ON source.id = changed.source_id
    JOIN document message
        ON message.collection = source.collection AND message.uri = regexp_replace(changed.uri, '/[^/]*$', '')
    WHERE EXISTS (
        SELECT FROM attachment
        WHERE attachment.container_sha256 = message.content_sha256
          AND attachment.container_parser = message.content_parser);
$$;

-- Mark and count the files that a statement changed.
CREATE FUNCTION follow_raw_files() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM mark_items(array_agg(source_id), array_agg(uri)) FROM added;
        INSERT INTO tally (collection, kind, items, digest)
        SELECT source.collection, 'raw_files', count(*), coalesce(sum(item_digest(uri, sha256)), 0)
        FROM added JOIN source ON source.id = added.source_id
        WHERE added.removed_at IS NULL GROUP BY 1;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO tally (collection, kind, items, digest)
        SELECT source.collection, 'raw_files', -count(*), -coalesce(sum(item_digest(uri, sha256)), 0)
        FROM gone JOIN source ON source.id = gone.source_id
        WHERE gone.removed_at IS NULL GROUP BY 1;
    ELSE
        PERFORM mark_items(array_agg(gone.source_id), array_agg(gone.uri))
        FROM gone FULL JOIN added ON added.source_id = gone.source_id AND added.uri = gone.uri  -- as in follow_documents
        WHERE (gone.media_type, gone.skip_reason, gone.removed_at IS NULL, gone.excluded_at IS NULL, gone.tags)
            IS DISTINCT FROM
            (added.media_type, added.skip_reason, added.removed_at IS NULL, added.excluded_at IS NULL, added.tags)
        HAVING count(*) > 0;
        -- The files within a file that has other bytes are the same until it is read.
        INSERT INTO changed_item (collection, uri)
        SELECT source.collection, moved.uri
        FROM (
            SELECT added.source_id, added.uri
            FROM gone FULL JOIN added ON added.source_id = gone.source_id AND added.uri = gone.uri
            WHERE gone.sha256 IS DISTINCT FROM added.sha256
            OFFSET 0
        ) moved
        JOIN source ON source.id = moved.source_id;
        INSERT INTO tally (collection, kind, items, digest)
        SELECT source.collection, 'raw_files',
               sum(is_live::integer - was_live::integer),
               sum(CASE WHEN is_live THEN coalesce(item_digest(uri, sha256), 0) ELSE 0 END
                   - CASE WHEN was_live THEN coalesce(item_digest(uri, old_sha256), 0) ELSE 0 END)
        FROM (
            SELECT added.source_id, added.uri, added.sha256, gone.sha256 AS old_sha256,
                   added.removed_at IS NULL AS is_live, gone.removed_at IS NULL AS was_live
            FROM gone FULL JOIN added ON added.source_id = gone.source_id AND added.uri = gone.uri
            WHERE (gone.sha256, gone.removed_at IS NULL) IS DISTINCT FROM (added.sha256, added.removed_at IS NULL)
            OFFSET 0
        ) moved
        JOIN source ON source.id = moved.source_id
        GROUP BY 1;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER items_added AFTER INSERT ON raw_file REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION follow_raw_files();
CREATE TRIGGER items_changed AFTER UPDATE ON raw_file REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION follow_raw_files();
CREATE TRIGGER items_gone AFTER DELETE ON raw_file REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION follow_raw_files();

-- Mark pages, the pages that name one of them as canonical, and the pages with the content of any of these: which URL
-- stands for a content depends on all of them.
CREATE FUNCTION mark_pages(source_ids bigint[], urls text[], sha256s bytea[]) RETURNS void
LANGUAGE sql SET search_path = sourcebook, public
AS $$
    WITH changed AS (
        SELECT * FROM unnest(source_ids, urls, sha256s) AS changed (source_id, url, sha256)
    ), displaced AS (
        SELECT source_id, url, sha256 FROM changed
        UNION
        SELECT page.source_id, page.url, page.sha256
        FROM changed JOIN crawled_page page ON page.source_id = changed.source_id AND page.canonical_url = changed.url
    )
    INSERT INTO changed_item (collection, uri)
    SELECT source.collection, marked.url
    FROM (
        SELECT source_id, url FROM displaced
        UNION
        SELECT twin.source_id, twin.url
        FROM (SELECT DISTINCT source_id, sha256 FROM displaced) held
        JOIN crawled_page twin
            ON twin.source_id = held.source_id AND twin.sha256 = held.sha256 AND twin.removed_at IS NULL
    ) marked
    JOIN source ON source.id = marked.source_id;
$$;

-- Mark and count the pages that a statement changed.
CREATE FUNCTION follow_crawled_pages() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM mark_pages(array_agg(source_id), array_agg(url), array_agg(sha256)) FROM added;
        INSERT INTO tally (collection, kind, items, digest)
        SELECT source.collection, 'crawled_pages', count(*), sum(item_digest(url, sha256))
        FROM added JOIN source ON source.id = added.source_id
        WHERE added.removed_at IS NULL GROUP BY 1;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO tally (collection, kind, items, digest)
        SELECT source.collection, 'crawled_pages', -count(*), -sum(item_digest(url, sha256))
        FROM gone JOIN source ON source.id = gone.source_id
        WHERE gone.removed_at IS NULL GROUP BY 1;
    ELSE
        PERFORM mark_pages(array_agg(source_id), array_agg(url), array_agg(sha256))
        FROM (
            SELECT gone.source_id, gone.url, unnest(ARRAY[gone.sha256, added.sha256]) AS sha256
            FROM gone FULL JOIN added ON added.source_id = gone.source_id AND added.url = gone.url  -- as in follow_documents
            WHERE (gone.sha256, gone.media_type, gone.metadata, gone.canonical_url, gone.parser IS NULL,
                   gone.removed_at IS NULL, gone.excluded_at IS NULL, gone.tags)
                IS DISTINCT FROM
                (added.sha256, added.media_type, added.metadata, added.canonical_url, added.parser IS NULL,
                 added.removed_at IS NULL, added.excluded_at IS NULL, added.tags)
        ) changed
        HAVING count(*) > 0;
        INSERT INTO tally (collection, kind, items, digest)
        SELECT source.collection, 'crawled_pages',
               sum(is_live::integer - was_live::integer),
               sum(CASE WHEN is_live THEN item_digest(url, sha256) ELSE 0 END
                   - CASE WHEN was_live THEN item_digest(url, old_sha256) ELSE 0 END)
        FROM (
            SELECT added.source_id, added.url, added.sha256, gone.sha256 AS old_sha256,
                   added.removed_at IS NULL AS is_live, gone.removed_at IS NULL AS was_live
            FROM gone FULL JOIN added ON added.source_id = gone.source_id AND added.url = gone.url
            WHERE (gone.sha256, gone.removed_at IS NULL) IS DISTINCT FROM (added.sha256, added.removed_at IS NULL)
            OFFSET 0
        ) moved
        JOIN source ON source.id = moved.source_id
        GROUP BY 1;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER pages_added AFTER INSERT ON crawled_page REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION follow_crawled_pages();
CREATE TRIGGER pages_changed AFTER UPDATE ON crawled_page REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION follow_crawled_pages();
CREATE TRIGGER pages_gone AFTER DELETE ON crawled_page REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION follow_crawled_pages();

-- Mark the recordings whose transcript, description or language changed.
CREATE FUNCTION follow_transcripts() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_TABLE_NAME = 'transcribed_file' THEN
        IF TG_OP <> 'INSERT' THEN
            PERFORM mark_items(ARRAY[OLD.source_id], ARRAY[OLD.uri]);
        ELSE
            PERFORM mark_items(ARRAY[NEW.source_id], ARRAY[NEW.uri]);
        END IF;
    ELSIF TG_TABLE_NAME = 'recording' THEN
        PERFORM mark_items(array_agg(source_id), array_agg(uri)) FROM transcribed_file WHERE sha256 = NEW.sha256;
    ELSE
        PERFORM mark_items(array_agg(source_id), array_agg(uri))
        FROM transcribed_file WHERE sound_sha256 = NEW.sound_sha256 AND engine = NEW.engine;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER transcribed_files_follow AFTER INSERT OR UPDATE OR DELETE ON transcribed_file
    FOR EACH ROW EXECUTE FUNCTION follow_transcripts();
CREATE TRIGGER recordings_follow AFTER UPDATE ON recording
    FOR EACH ROW WHEN (OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION follow_transcripts();
CREATE TRIGGER transcripts_follow AFTER UPDATE ON transcript
    FOR EACH ROW WHEN (OLD.language_probability IS DISTINCT FROM NEW.language_probability)
    EXECUTE FUNCTION follow_transcripts();

-- Mark every item of a source that got other tags, left the configuration or returned to it, and the documents that a
-- new or changed membership rule takes or took.
CREATE FUNCTION follow_sources() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    PERFORM mark_items(array_agg(source_id), array_agg(uri)) FROM raw_file WHERE source_id = NEW.id;
    INSERT INTO changed_item (collection, uri) SELECT NEW.collection, url FROM crawled_page WHERE source_id = NEW.id;
    IF NEW.kind = 'collection' THEN
        INSERT INTO changed_item (collection, uri)
        SELECT NEW.collection, uri FROM document WHERE source_id = NEW.id AND removed_at IS NULL
        UNION
        SELECT NEW.collection, uri FROM document
        WHERE collection = NEW.location AND removed_at IS NULL AND content_hash IS NOT NULL AND NEW.removed_at IS NULL
          AND takes_tags(NEW.settings, tags);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER sources_follow AFTER UPDATE ON source
    FOR EACH ROW WHEN (OLD.tags IS DISTINCT FROM NEW.tags OR (OLD.removed_at IS NULL) <> (NEW.removed_at IS NULL)
        OR NEW.kind = 'collection' AND OLD.settings IS DISTINCT FROM NEW.settings)
    EXECUTE FUNCTION follow_sources();
CREATE TRIGGER rules_added AFTER INSERT ON source
    FOR EACH ROW WHEN (NEW.kind = 'collection') EXECUTE FUNCTION follow_sources();

-- Mark messages with attachments that a statement inserted or deleted, and these attachments.
CREATE FUNCTION follow_attachments() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    INSERT INTO changed_item (collection, uri)
    SELECT DISTINCT document.collection, marked.uri
    FROM changed
    JOIN document ON document.content_sha256 = changed.container_sha256
                 AND document.content_parser = changed.container_parser
    CROSS JOIN LATERAL (VALUES (document.uri), (document.uri || '/' || changed.path)) AS marked (uri);
    RETURN NULL;
END
$$;
CREATE TRIGGER attachments_added AFTER INSERT ON attachment REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION follow_attachments();
CREATE TRIGGER attachments_gone AFTER DELETE ON attachment REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION follow_attachments();

-- Mark and count the documents that a statement changed, and mark the attachments that differ of messages that got other
-- content or another URI.
CREATE FUNCTION follow_documents() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO changed_document (collection, document_id) SELECT collection, id FROM added;
        INSERT INTO tally (collection, kind, items, digest)
        SELECT collection, CASE WHEN removed_at IS NULL THEN 'documents' ELSE 'removed' END, count(*),
               coalesce(sum(item_digest(uri, content_hash)) FILTER (WHERE removed_at IS NULL), 0)
        FROM added GROUP BY 1, 2;
        INSERT INTO changed_item (collection, uri)
        SELECT added.collection, marked.uri
        FROM added
        JOIN attachment ON attachment.container_sha256 = added.content_sha256
                       AND attachment.container_parser = added.content_parser
        CROSS JOIN LATERAL (VALUES (added.uri), (added.uri || '/' || attachment.path)) AS marked (uri);
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO tally (collection, kind, items, digest)
        SELECT collection, CASE WHEN removed_at IS NULL THEN 'documents' ELSE 'removed' END, -count(*),
               -coalesce(sum(item_digest(uri, content_hash)) FILTER (WHERE removed_at IS NULL), 0)
        FROM gone GROUP BY 1, 2;
    ELSE
        INSERT INTO changed_document (collection, document_id)
        SELECT added.collection, added.id
        FROM gone FULL JOIN added ON added.id = gone.id  -- no nested loop, however few rows the plan was made for
        WHERE (gone.content_hash, gone.version, gone.title, gone.language, gone.removed_at IS NULL)
            IS DISTINCT FROM (added.content_hash, added.version, added.title, added.language, added.removed_at IS NULL);
        INSERT INTO tally (collection, kind, items, digest)
        SELECT collection, CASE WHEN is_live THEN 'documents' ELSE 'removed' END, sum(step),
               coalesce(sum(step * item_digest(uri, content_hash)) FILTER (WHERE is_live), 0)
        FROM (
            SELECT moved.*
            FROM gone
            FULL JOIN added ON added.id = gone.id
            CROSS JOIN LATERAL (VALUES
                (gone.collection, gone.uri, gone.content_hash, gone.removed_at IS NULL, -1),
                (added.collection, added.uri, added.content_hash, added.removed_at IS NULL, 1)
            ) AS moved (collection, uri, content_hash, is_live, step)
            WHERE (gone.uri, gone.content_hash, gone.removed_at IS NULL)
                IS DISTINCT FROM (added.uri, added.content_hash, added.removed_at IS NULL)
        ) moved
        GROUP BY 1, 2;
        INSERT INTO changed_item (collection, uri)
        WITH part AS (
            SELECT gone.id, held.*
            FROM gone
            FULL JOIN added ON added.id = gone.id
            CROSS JOIN LATERAL (VALUES
                (gone.collection, gone.uri, gone.content_sha256, gone.content_parser, false),
                (added.collection, added.uri, added.content_sha256, added.content_parser, true)
            ) AS message (collection, uri, content_sha256, content_parser, is_new)
            CROSS JOIN LATERAL (
                SELECT message.collection, message.uri AS message_uri, message.uri || '/' || attachment.path AS uri,
                       attachment.sha256, attachment.media_type, attachment.skip_reason, message.is_new
                FROM attachment
                WHERE attachment.container_sha256 = message.content_sha256
                  AND attachment.container_parser = message.content_parser
            ) held
            WHERE (gone.uri, gone.content_sha256, gone.content_parser)
                IS DISTINCT FROM (added.uri, added.content_sha256, added.content_parser)
        )
        SELECT DISTINCT collection, message_uri FROM part
        UNION ALL
        SELECT collection, min(uri) FROM part
        GROUP BY id, collection, uri, sha256, media_type, skip_reason
        HAVING count(DISTINCT is_new) = 1;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER documents_added AFTER INSERT ON document REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION follow_documents();
CREATE TRIGGER documents_changed AFTER UPDATE ON document REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION follow_documents();
CREATE TRIGGER documents_gone AFTER DELETE ON document REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION follow_documents();

-- Mark the documents of every collection whose parsed content was replaced by another one. An attachment is marked with
-- the messages and archives that hold it, in whichever folder of these it is.
CREATE FUNCTION follow_parsed_contents() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    INSERT INTO changed_item (collection, uri)
    SELECT held.collection, marked.uri
    FROM document held
    CROSS JOIN LATERAL (
        SELECT held.uri
        UNION ALL
        SELECT container.uri
        FROM (SELECT string_to_array(held.uri, '/') AS parts) AS split
        CROSS JOIN LATERAL generate_series(1, cardinality(parts) - 1) AS place
        JOIN document container
            ON container.collection = held.collection AND container.uri = array_to_string(parts[:place], '/')
        WHERE EXISTS (
            SELECT FROM attachment
            WHERE attachment.container_sha256 = container.content_sha256
              AND attachment.container_parser = container.content_parser)
    ) AS marked (uri)
    WHERE held.content_sha256 = NEW.sha256 AND held.content_parser = NEW.parser
      AND held.content_hash IS DISTINCT FROM NEW.content_hash;
    RETURN NULL;
END
$$;
CREATE TRIGGER contents_replaced AFTER UPDATE ON parsed_content
    FOR EACH ROW WHEN (OLD.content_hash IS DISTINCT FROM NEW.content_hash) EXECUTE FUNCTION follow_parsed_contents();

-- Mark the documents that a statement changed in each collection that takes them, or took them, by their tags.
CREATE FUNCTION follow_taken_documents() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM source WHERE kind = 'collection') THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' THEN
        INSERT INTO changed_item (collection, uri)
        SELECT rule.collection, added.uri
        FROM added JOIN source rule ON rule.kind = 'collection' AND rule.location = added.collection
        WHERE rule.removed_at IS NULL AND added.removed_at IS NULL AND added.content_hash IS NOT NULL
          AND takes_tags(rule.settings, added.tags);
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO changed_item (collection, uri)
        SELECT rule.collection, gone.uri
        FROM gone JOIN source rule ON rule.kind = 'collection' AND rule.location = gone.collection
        WHERE rule.removed_at IS NULL AND gone.removed_at IS NULL AND gone.content_hash IS NOT NULL
          AND takes_tags(rule.settings, gone.tags);
    ELSE
        INSERT INTO changed_item (collection, uri)
        SELECT DISTINCT rule.collection, held.uri
        FROM gone
        FULL JOIN added ON added.id = gone.id
        CROSS JOIN LATERAL (VALUES
            (gone.collection, gone.uri, gone.tags, gone.removed_at, gone.content_hash),
            (added.collection, added.uri, added.tags, added.removed_at, added.content_hash)
        ) AS held (collection, uri, tags, removed_at, content_hash)
        JOIN source rule ON rule.kind = 'collection' AND rule.location = held.collection
        WHERE rule.removed_at IS NULL AND held.removed_at IS NULL AND held.content_hash IS NOT NULL
          AND takes_tags(rule.settings, held.tags)
          AND (gone.uri, gone.kind, gone.media_type, gone.tags, gone.metadata, gone.content_sha256, gone.content_parser,
               gone.removed_at IS NULL)
              IS DISTINCT FROM
              (added.uri, added.kind, added.media_type, added.tags, added.metadata, added.content_sha256,
               added.content_parser, added.removed_at IS NULL);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER taken_added AFTER INSERT ON document REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION follow_taken_documents();
CREATE TRIGGER taken_changed AFTER UPDATE ON document REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION follow_taken_documents();
CREATE TRIGGER taken_gone AFTER DELETE ON document REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION follow_taken_documents();

-- The counts of `tally`, counted.
CREATE FUNCTION counted_items(of_collection text, of_kind text) RETURNS TABLE (items bigint, digest numeric)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT count(*), coalesce(sum(item_digest(raw_file.uri, raw_file.sha256)), 0)
    FROM raw_file JOIN source ON source.id = raw_file.source_id
    WHERE of_kind = 'raw_files' AND source.collection = of_collection AND raw_file.removed_at IS NULL
    HAVING of_kind = 'raw_files'
    UNION ALL
    SELECT count(*), coalesce(sum(item_digest(page.url, page.sha256)), 0)
    FROM crawled_page page JOIN source ON source.id = page.source_id
    WHERE of_kind = 'crawled_pages' AND source.collection = of_collection AND page.removed_at IS NULL
    HAVING of_kind = 'crawled_pages'
    UNION ALL
    SELECT count(*), coalesce(sum(item_digest(uri, content_hash)) FILTER (WHERE removed_at IS NULL), 0)
    FROM document
    WHERE of_kind IN ('documents', 'removed') AND collection = of_collection
      AND (removed_at IS NULL) = (of_kind = 'documents')
    HAVING of_kind IN ('documents', 'removed');
END;

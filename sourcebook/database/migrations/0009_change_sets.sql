-- Change sets: the rows that changed since a run settled them, so that a run costs what changed; and kept counts.

ALTER TABLE collection ADD COLUMN compared_with text, ADD COLUMN checked_at timestamptz;
ALTER TABLE generation ADD COLUMN prepared_with text, ADD COLUMN text_count bigint NOT NULL DEFAULT 0;

CREATE INDEX raw_file_failed ON raw_file (source_id) WHERE failure IS NOT NULL;
CREATE INDEX raw_file_skipped ON raw_file (source_id) WHERE skip_reason IS NOT NULL;
CREATE INDEX raw_file_recording ON raw_file (source_id) WHERE removed_at IS NULL AND is_recording(media_type);
CREATE INDEX crawled_page_canonical ON crawled_page (source_id, canonical_url) WHERE canonical_url IS NOT NULL;
CREATE INDEX transcribed_file_failed ON transcribed_file (source_id) WHERE failure IS NOT NULL;
CREATE INDEX attachment_sha256 ON attachment (sha256);
CREATE INDEX attachment_skipped ON attachment (container_sha256, container_parser) WHERE skip_reason IS NOT NULL;
CREATE INDEX document_failed ON document (collection) WHERE failure IS NOT NULL;
CREATE INDEX document_skipped ON document (collection) WHERE skip_reason IS NOT NULL;
CREATE INDEX document_removed ON document (collection, removed_at) WHERE removed_at IS NOT NULL;
CREATE INDEX indexed_document_published ON indexed_document (generation_id, published_at);
CREATE INDEX indexed_document_uncovered ON indexed_document (generation_id) WHERE uncovered > 0;

-- The number of entries left in each block of keyword_block.
CREATE TABLE keyword_block_size (
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    block integer NOT NULL,
    entries integer NOT NULL,
    PRIMARY KEY (generation_id, block)
);
INSERT INTO keyword_block_size (generation_id, block, entries)
SELECT held.generation_id, held.block,
       (SELECT count(*) FROM keyword_entry entry
        WHERE entry.generation_id = held.generation_id AND entry.block = held.block)
FROM (SELECT DISTINCT generation_id, block FROM keyword_block) held;

UPDATE generation
SET text_count = (
    SELECT count(DISTINCT chunk.embedding_hash)
    FROM search_entry entry JOIN chunk ON chunk.id = entry.chunk_id
    WHERE entry.generation_id = generation.id);

CREATE OR REPLACE FUNCTION follow_search_entries() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    part record;
BEGIN
    -- The generation's row comes first: who holds it is alone with the rest, and so nobody waits in a circle.
    IF TG_OP <> 'INSERT' THEN
        UPDATE generation SET entry_count = entry_count - lost.entries, total_length = total_length - lost.length
        FROM (SELECT generation_id, count(*) AS entries, sum(keyword_length(lexemes)) AS length FROM gone GROUP BY 1) lost
        WHERE id = lost.generation_id;
        UPDATE lexeme SET entries = lexeme.entries - word.entries
        FROM (SELECT generation_id, word.lexeme AS token, count(*) AS entries
              FROM gone CROSS JOIN LATERAL unnest(lexemes) AS word GROUP BY 1, 2) word
        WHERE lexeme.generation_id = word.generation_id AND lexeme.token = word.token;
        UPDATE text_configuration known SET entries = known.entries - lost.entries
        FROM (SELECT generation_id, configuration, count(*) AS entries FROM gone GROUP BY 1, 2) lost
        WHERE known.generation_id = lost.generation_id AND known.name = lost.configuration;
        WITH lost AS (
            DELETE FROM keyword_entry USING gone
            WHERE keyword_entry.generation_id = gone.generation_id AND keyword_entry.chunk_id = gone.chunk_id
            RETURNING keyword_entry.generation_id, keyword_entry.block
        )
        UPDATE keyword_block_size held SET entries = held.entries - lost.entries
        FROM (SELECT generation_id, block, count(*) AS entries FROM lost WHERE block IS NOT NULL GROUP BY 1, 2) lost
        WHERE held.generation_id = lost.generation_id AND held.block = lost.block;
    END IF;
    IF TG_OP = 'DELETE' THEN
        -- Texts whose last entry is gone. The chunks are still there: they are deleted after their entries.
        UPDATE generation SET text_count = text_count - lost.texts
        FROM (
            SELECT generation_id, count(*) AS texts
            FROM (SELECT DISTINCT gone.generation_id, chunk.embedding_hash
                  FROM gone JOIN chunk ON chunk.id = gone.chunk_id) text
            WHERE (  -- with LIMIT, so that one entry is looked for and not all of them joined
                SELECT true FROM chunk other
                JOIN search_entry entry ON entry.generation_id = other.generation_id AND entry.chunk_id = other.id
                WHERE other.embedding_hash = text.embedding_hash AND other.generation_id = text.generation_id
                LIMIT 1) IS NULL
            GROUP BY 1
        ) lost
        WHERE id = lost.generation_id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        UPDATE generation
        SET entry_count = entry_count + won.entries, total_length = total_length + won.length,
            average_length = coalesce(average_length, nullif(won.length, 0)::real / won.entries),
            averaged_entries = CASE WHEN average_length IS NULL THEN won.entries ELSE averaged_entries END
        FROM (SELECT generation_id, count(*) AS entries, sum(keyword_length(lexemes)) AS length FROM added GROUP BY 1) won
        WHERE id = won.generation_id;
        WITH word AS (
            SELECT generation_id, word.lexeme AS token, count(*) AS entries
            FROM added CROSS JOIN LATERAL unnest(lexemes) AS word GROUP BY 1, 2
        ), known AS (
            UPDATE lexeme SET entries = lexeme.entries + word.entries
            FROM word WHERE lexeme.generation_id = word.generation_id AND lexeme.token = word.token
        )
        INSERT INTO lexeme (generation_id, token, entries)
        SELECT generation_id, token, entries FROM word
        WHERE NOT EXISTS (
            SELECT FROM lexeme WHERE lexeme.generation_id = word.generation_id AND lexeme.token = word.token);
        INSERT INTO text_configuration AS known (generation_id, name, entries)
        SELECT generation_id, configuration, count(*) FROM added GROUP BY 1, 2
        ON CONFLICT (generation_id, name) DO UPDATE SET entries = known.entries + excluded.entries;
        FOR part IN SELECT generation_id, array_agg(chunk_id) AS chunks FROM added GROUP BY 1 LOOP
            INSERT INTO keyword_entry (generation_id, chunk_id, length, weights)
            SELECT part.generation_id, chunk_id, length, weights FROM keyword_weights(part.generation_id, part.chunks);
        END LOOP;
    END IF;
    IF TG_OP = 'INSERT' THEN
        -- Texts that had no entry before.
        UPDATE generation SET text_count = text_count + won.texts
        FROM (
            SELECT generation_id, count(*) AS texts
            FROM (SELECT DISTINCT added.generation_id, chunk.embedding_hash
                  FROM added JOIN chunk ON chunk.id = added.chunk_id) text
            WHERE (
                SELECT true FROM chunk other
                JOIN search_entry entry ON entry.generation_id = other.generation_id AND entry.chunk_id = other.id
                WHERE other.embedding_hash = text.embedding_hash AND other.generation_id = text.generation_id
                  AND NOT EXISTS (SELECT FROM added WHERE added.chunk_id = other.id)
                LIMIT 1) IS NULL
            GROUP BY 1
        ) won
        WHERE id = won.generation_id;
    END IF;
    RETURN NULL;
END
$$;
-- The items of sources that become documents, without attachments. An item in two overlapping sources has two rows.
-- `format` selects the parser: the media type, `page` for an HTML page that a crawl has converted to Markdown, or
-- `transcript` for a recording.
CREATE VIEW present_source_item AS
SELECT source.collection, raw_file.uri, raw_file.source_id, raw_file.sha256, raw_file.media_type, raw_file.size,
    source.tags, 'file' AS kind, raw_file.media_type AS format, NULL::jsonb AS metadata,
    NULL AS container, NULL::integer AS number
FROM raw_file
JOIN source ON source.id = raw_file.source_id
WHERE raw_file.removed_at IS NULL
  AND raw_file.sha256 IS NOT NULL
  AND raw_file.skip_reason IS NULL
  AND raw_file.excluded_at IS NULL
  AND source.removed_at IS NULL
  AND is_recording(raw_file.media_type) IS NOT TRUE
UNION ALL
SELECT source.collection, file.uri, file.source_id, transcribed.content_hash, file.media_type, file.size, source.tags,
    'recording', 'transcript',
    recording.metadata || jsonb_strip_nulls(jsonb_build_object('language_probability', transcript.language_probability)),
    NULL, NULL
FROM transcribed_file transcribed
JOIN raw_file file ON file.source_id = transcribed.source_id AND file.uri = transcribed.uri
JOIN source ON source.id = file.source_id
JOIN recording ON recording.sha256 = transcribed.sha256
JOIN transcript ON transcript.sound_sha256 = transcribed.sound_sha256 AND transcript.engine = transcribed.engine
WHERE file.removed_at IS NULL
  AND file.skip_reason IS NULL
  AND file.excluded_at IS NULL
  AND source.removed_at IS NULL
  AND is_recording(file.media_type)
UNION ALL
SELECT collection, url, source_id, sha256, media_type, size, tags, 'page', CASE WHEN is_html THEN 'page' ELSE media_type END,
    metadata, NULL, NULL
FROM present_page;

-- The items that become documents, with the attachments of messages.
CREATE OR REPLACE VIEW present_item AS
SELECT * FROM present_source_item
UNION ALL
SELECT collection, uri, source_id, sha256, media_type, size, tags, 'file', media_type, NULL, container, number
FROM present_attachment
WHERE skip_reason IS NULL;

-- The digest of one item in a sum: sums of digests are equal for equal sets, in whatever order their items came.
CREATE FUNCTION item_digest(key text, hash bytea) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ('0x' || substr(encode(sha256(convert_to(key || ' ' || encode(hash, 'hex'), 'UTF8')), 'hex'), 1, 30))::numeric;

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
        FROM gone JOIN added ON added.source_id = gone.source_id AND added.uri = gone.uri
        WHERE (gone.sha256, gone.media_type, gone.skip_reason, gone.removed_at IS NULL, gone.excluded_at IS NULL)
            IS DISTINCT FROM
            (added.sha256, added.media_type, added.skip_reason, added.removed_at IS NULL, added.excluded_at IS NULL)
        HAVING count(*) > 0;
        INSERT INTO tally (collection, kind, items, digest)
        SELECT source.collection, 'raw_files',
               sum((added.removed_at IS NULL)::integer - (gone.removed_at IS NULL)::integer),
               sum(CASE WHEN added.removed_at IS NULL THEN coalesce(item_digest(added.uri, added.sha256), 0) ELSE 0 END
                   - CASE WHEN gone.removed_at IS NULL THEN coalesce(item_digest(gone.uri, gone.sha256), 0) ELSE 0 END)
        FROM gone
        JOIN added ON added.source_id = gone.source_id AND added.uri = gone.uri
        JOIN source ON source.id = gone.source_id
        WHERE (gone.sha256, gone.removed_at IS NULL) IS DISTINCT FROM (added.sha256, added.removed_at IS NULL)
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
            FROM gone JOIN added ON added.source_id = gone.source_id AND added.url = gone.url
            WHERE (gone.sha256, gone.media_type, gone.metadata, gone.canonical_url, gone.parser IS NULL,
                   gone.removed_at IS NULL, gone.excluded_at IS NULL)
                IS DISTINCT FROM
                (added.sha256, added.media_type, added.metadata, added.canonical_url, added.parser IS NULL,
                 added.removed_at IS NULL, added.excluded_at IS NULL)
        ) changed
        HAVING count(*) > 0;
        INSERT INTO tally (collection, kind, items, digest)
        SELECT source.collection, 'crawled_pages',
               sum((added.removed_at IS NULL)::integer - (gone.removed_at IS NULL)::integer),
               sum(CASE WHEN added.removed_at IS NULL THEN item_digest(added.url, added.sha256) ELSE 0 END
                   - CASE WHEN gone.removed_at IS NULL THEN item_digest(gone.url, gone.sha256) ELSE 0 END)
        FROM gone
        JOIN added ON added.source_id = gone.source_id AND added.url = gone.url
        JOIN source ON source.id = gone.source_id
        WHERE (gone.sha256, gone.removed_at IS NULL) IS DISTINCT FROM (added.sha256, added.removed_at IS NULL)
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

-- Mark every item of a source that got other tags, left the configuration or returned to it.
CREATE FUNCTION follow_sources() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    PERFORM mark_items(array_agg(source_id), array_agg(uri)) FROM raw_file WHERE source_id = NEW.id;
    INSERT INTO changed_item (collection, uri) SELECT NEW.collection, url FROM crawled_page WHERE source_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER sources_follow AFTER UPDATE ON source
    FOR EACH ROW WHEN (OLD.tags IS DISTINCT FROM NEW.tags OR (OLD.removed_at IS NULL) <> (NEW.removed_at IS NULL))
    EXECUTE FUNCTION follow_sources();

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

-- Mark and count the documents that a statement changed, and mark the attachments of messages that got other content
-- or another URI.
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
        FROM gone JOIN added ON added.id = gone.id
        WHERE (gone.content_hash, gone.version, gone.title, gone.language, gone.removed_at IS NULL)
            IS DISTINCT FROM (added.content_hash, added.version, added.title, added.language, added.removed_at IS NULL);
        INSERT INTO tally (collection, kind, items, digest)
        SELECT collection, CASE WHEN is_live THEN 'documents' ELSE 'removed' END, sum(step),
               coalesce(sum(step * item_digest(uri, content_hash)) FILTER (WHERE is_live), 0)
        FROM (
            SELECT moved.*
            FROM gone
            JOIN added ON added.id = gone.id
            CROSS JOIN LATERAL (VALUES
                (gone.collection, gone.uri, gone.content_hash, gone.removed_at IS NULL, -1),
                (added.collection, added.uri, added.content_hash, added.removed_at IS NULL, 1)
            ) AS moved (collection, uri, content_hash, is_live, step)
            WHERE (gone.uri, gone.content_hash, gone.removed_at IS NULL)
                IS DISTINCT FROM (added.uri, added.content_hash, added.removed_at IS NULL)
        ) moved
        GROUP BY 1, 2;
        INSERT INTO changed_item (collection, uri)
        SELECT message.collection, marked.uri
        FROM (
            SELECT held.*
            FROM gone
            JOIN added ON added.id = gone.id
            CROSS JOIN LATERAL (VALUES
                (gone.collection, gone.uri, gone.content_sha256, gone.content_parser),
                (added.collection, added.uri, added.content_sha256, added.content_parser)
            ) AS held (collection, uri, content_sha256, content_parser)
            WHERE (gone.uri, gone.content_sha256, gone.content_parser)
                IS DISTINCT FROM (added.uri, added.content_sha256, added.content_parser)
        ) message
        JOIN attachment ON attachment.container_sha256 = message.content_sha256
                       AND attachment.container_parser = message.content_parser
        CROSS JOIN LATERAL (VALUES (message.uri), (message.uri || '/' || attachment.path)) AS marked (uri);
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

-- The rows of live_item of a collection: all of them, or those at some URIs with the attachments of messages there.
CREATE FUNCTION items_in(of_collection text, of_uris text[]) RETURNS SETOF live_item
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT DISTINCT ON (item.uri) item.*
    FROM (
        SELECT * FROM present_source_item held
        WHERE held.collection = of_collection AND (of_uris IS NULL OR held.uri = ANY(of_uris))
        UNION ALL
        SELECT held.collection, held.uri, held.source_id, held.sha256, held.media_type, held.size, held.tags, 'file',
               held.media_type, NULL, held.container, held.number
        FROM present_attachment held
        WHERE held.collection = of_collection AND held.skip_reason IS NULL
          AND (of_uris IS NULL OR held.container = ANY(of_uris))
    ) item
    ORDER BY item.uri, item.source_id, item.container NULLS FIRST
$$;

-- The counts of what is there already. compared_with and prepared_with are NULL: the first run compares everything.
INSERT INTO tally (collection, kind, items, digest)
SELECT collection.name, kind, counted.items, counted.digest
FROM collection
CROSS JOIN (VALUES ('raw_files'), ('crawled_pages'), ('documents'), ('removed')) AS kinds (kind)
CROSS JOIN LATERAL counted_items(collection.name, kind) AS counted;

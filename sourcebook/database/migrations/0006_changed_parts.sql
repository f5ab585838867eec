-- Of a file that has other bytes, only the parts that differ are marked: an export of ten thousand records in which one was
-- edited leaves the others alone.

CREATE OR REPLACE FUNCTION follow_raw_files() RETURNS trigger
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
        WHERE (gone.media_type, gone.skip_reason, gone.removed_at IS NULL, gone.excluded_at IS NULL, gone.tags)
            IS DISTINCT FROM
            (added.media_type, added.skip_reason, added.removed_at IS NULL, added.excluded_at IS NULL, added.tags)
        HAVING count(*) > 0;
        -- The files within a file that has other bytes are the same until it is read.
        INSERT INTO changed_item (collection, uri)
        SELECT source.collection, added.uri
        FROM gone
        JOIN added ON added.source_id = gone.source_id AND added.uri = gone.uri
        JOIN source ON source.id = added.source_id
        WHERE gone.sha256 IS DISTINCT FROM added.sha256;
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

CREATE OR REPLACE FUNCTION follow_documents() RETURNS trigger
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
        WITH part AS (
            SELECT gone.id, held.*
            FROM gone
            JOIN added ON added.id = gone.id
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

CREATE OR REPLACE FUNCTION items_in(of_collection text, of_uris text[]) RETURNS SETOF present_source_item
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT DISTINCT ON (item.uri) item.*
    FROM (
        SELECT * FROM present_source_item held
        WHERE held.collection = of_collection AND (of_uris IS NULL OR held.uri = ANY(of_uris))
        UNION ALL
        SELECT held.collection, held.uri, held.source_id, held.sha256, held.media_type, held.size, held.tags, 'file',
               held.media_type, NULL, held.container, held.number, NULL
        FROM present_attachment held
        WHERE held.collection = of_collection AND held.skip_reason IS NULL
          AND octet_length(held.uri) <= 2500  -- LONGEST_URI in sourcebook/files/listing.py
          AND (of_uris IS NULL OR held.container = ANY(of_uris) AND held.uri = ANY(of_uris))
    ) item
    ORDER BY item.uri, item.parser IS NOT NULL, item.source_id, item.container NULLS FIRST
$$;

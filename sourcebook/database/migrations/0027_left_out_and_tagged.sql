-- What the patterns of a site leave out, and the tags that they give its pages.

ALTER TABLE source ADD COLUMN left_out jsonb NOT NULL DEFAULT '[]';  -- URLs that its patterns leave out, by the pattern
ALTER TABLE crawled_page ADD COLUMN tags text[] NOT NULL DEFAULT '{}';  -- tags that the site's patterns give the page

-- The pages that become documents, with the tags of their site and their own.
CREATE OR REPLACE VIEW present_page AS
SELECT collection, url, source_id, sha256, media_type, size, tags, is_html,
    CASE WHEN is_html AND holders > 1 THEN metadata || jsonb_build_object('also_at', array_remove(urls, url))
         WHEN is_html THEN metadata END AS metadata  -- for other documents the parser finds the metadata
FROM (
    SELECT source.collection, page.url, page.source_id, page.sha256, page.media_type, page.size, page.metadata,
        source.tags || ARRAY(SELECT tag FROM unnest(page.tags) AS tag WHERE tag <> ALL(source.tags)) AS tags,
        page.parser IS NOT NULL AS is_html,
        row_number() OVER same_content AS place,
        count(*) OVER everywhere AS holders,
        array_agg(page.url) OVER everywhere AS urls,
        bool_or(page.excluded_at IS NOT NULL) OVER everywhere AS excluded
    FROM crawled_page page
    JOIN source ON source.id = page.source_id
    WHERE page.removed_at IS NULL AND source.removed_at IS NULL
      AND NOT EXISTS (
          SELECT FROM crawled_page canonical
          WHERE canonical.source_id = page.source_id AND canonical.url = page.canonical_url
            AND canonical.url <> page.url AND canonical.canonical_url IS NULL AND canonical.removed_at IS NULL)
    WINDOW
        same_content AS (PARTITION BY page.source_id, page.sha256 ORDER BY page.first_seen_at, length(page.url), page.url),
        everywhere AS (PARTITION BY page.source_id, page.sha256)
) page
WHERE place = 1 AND NOT excluded;

-- Mark and count the pages that a statement changed.
CREATE OR REPLACE FUNCTION follow_crawled_pages() RETURNS trigger
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
                   gone.removed_at IS NULL, gone.excluded_at IS NULL, gone.tags)
                IS DISTINCT FROM
                (added.sha256, added.media_type, added.metadata, added.canonical_url, added.parser IS NULL,
                 added.removed_at IS NULL, added.excluded_at IS NULL, added.tags)
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

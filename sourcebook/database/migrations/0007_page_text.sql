-- The text of a crawled HTML page is stored once: in parsed_content, like that of every other document. The page refers
-- to it by sha256 and parser.

ALTER TABLE crawled_page ADD COLUMN parser text;
ALTER TABLE crawled_page DROP CONSTRAINT crawled_page_check;

-- Pages that never became a document, and those whose document was deleted or has other content, have no parsed content.
-- Theirs gets a parser of its own, so that `documents` parses them as if they had just been fetched.
INSERT INTO parsed_content (sha256, parser, markdown, blocks, title, language, metadata, content_hash)
SELECT DISTINCT ON (page.sha256)
       page.sha256, 'page/0', page.markdown, page.blocks, page.title, page.language, '{}', page.sha256
FROM crawled_page page
WHERE page.markdown IS NOT NULL
  AND NOT EXISTS (
      SELECT FROM parsed_content parsed
      WHERE parsed.sha256 = page.sha256 AND parsed.markdown = page.markdown AND parsed.blocks = page.blocks)
ORDER BY page.sha256, page.fetched_at DESC;

UPDATE crawled_page page
SET parser = coalesce((
        SELECT parsed.parser FROM parsed_content parsed
        WHERE parsed.sha256 = page.sha256 AND parsed.markdown = page.markdown AND parsed.blocks = page.blocks
        ORDER BY parsed.parsed_at DESC
        LIMIT 1), 'page/0'),
    markdown = NULL, blocks = NULL
WHERE page.markdown IS NOT NULL;

CREATE OR REPLACE VIEW present_page AS
SELECT collection, url, source_id, sha256, media_type, size, tags, is_html,
    CASE WHEN is_html AND holders > 1 THEN metadata || jsonb_build_object('also_at', array_remove(urls, url))
         WHEN is_html THEN metadata END AS metadata  -- for other documents the parser finds the metadata
FROM (
    SELECT source.collection, page.url, page.source_id, page.sha256, page.media_type, page.size, source.tags, page.metadata,
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

ALTER TABLE crawled_page
    DROP COLUMN markdown,
    DROP COLUMN blocks,
    ADD CHECK ((parser IS NULL) <> (content IS NULL)),
    ADD FOREIGN KEY (sha256, parser) REFERENCES parsed_content (sha256, parser);
CREATE INDEX crawled_page_content ON crawled_page (sha256, parser);

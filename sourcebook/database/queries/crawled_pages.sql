-- name: add_parsed_contents
-- Insert the main content of HTML pages; equal content is already there, and is replaced where it is damaged.
INSERT INTO parsed_content
    (sha256, parser, markdown, blocks, title, page_count, language, metadata, content_hash, nothing_to_read)
VALUES (%(sha256)s, %(parser)s, %(markdown)s, %(blocks)s, %(title)s, %(page_count)s, %(language)s, %(metadata)s,
        %(content_hash)s, %(nothing_to_read)s)
ON CONFLICT (sha256, parser) DO UPDATE SET
    markdown = excluded.markdown, blocks = excluded.blocks, title = excluded.title,
    page_count = excluded.page_count, language = excluded.language, metadata = excluded.metadata,
    content_hash = excluded.content_hash, nothing_to_read = excluded.nothing_to_read, parsed_at = now()
WHERE parsed_content.seal IS DISTINCT FROM parsed_content_seal(parsed_content);

-- name: record_pages
-- Insert or update the rows of fetched pages.
INSERT INTO crawled_page AS known
    (source_id, url, status, media_type, etag, last_modified, lastmod, title, language, metadata, canonical_url, parser,
     content, size, sha256, links, rendered, cleaner, tags, depth)
VALUES (%(source_id)s, %(url)s, %(status)s, %(media_type)s, %(etag)s, %(last_modified)s, %(lastmod)s, %(title)s, %(language)s,
        %(metadata)s, %(canonical_url)s, %(parser)s, %(content)s, %(size)s, %(sha256)s, %(links)s, %(rendered)s, %(cleaner)s,
        %(tags)s, %(depth)s)
ON CONFLICT (source_id, url) DO UPDATE SET
    status = excluded.status, media_type = excluded.media_type, etag = excluded.etag,
    last_modified = excluded.last_modified, lastmod = excluded.lastmod, title = excluded.title,
    language = excluded.language, metadata = excluded.metadata, canonical_url = excluded.canonical_url,
    parser = excluded.parser, content = excluded.content, size = excluded.size,
    sha256 = excluded.sha256, links = excluded.links, rendered = excluded.rendered, cleaner = excluded.cleaner,
    tags = excluded.tags, depth = excluded.depth, fetched_at = now(), removed_at = NULL,
    changed_at = CASE WHEN known.sha256 <> excluded.sha256 THEN now() ELSE known.changed_at END;

-- name: confirm_pages
-- Mark pages as fetched now without a new body: the server answered that they are unmodified.
UPDATE crawled_page page SET fetched_at = now(), lastmod = confirmed.lastmod
FROM unnest(%(urls)s::text[], %(lastmods)s::text[]) AS confirmed (url, lastmod)
WHERE page.source_id = %(source_id)s AND page.url = confirmed.url;

-- name: remove_pages
-- Mark pages of a site as removed.
UPDATE crawled_page SET removed_at = now()
WHERE source_id = %(source_id)s AND url = ANY(%(urls)s) AND removed_at IS NULL;

-- name: remove_pages_of_removed_sources
-- Mark the pages of removed sites as removed.
UPDATE crawled_page page SET removed_at = now()
FROM source
WHERE source.id = page.source_id AND source.collection = %(collection)s AND source.removed_at IS NOT NULL
  AND page.removed_at IS NULL;

-- name: page_hashes
-- Return the content hashes of the live pages of a site.
SELECT sha256 FROM crawled_page WHERE source_id = %(source_id)s AND removed_at IS NULL;

-- name: page_links
-- Return the links of every live page of a site, to decide which URLs belong to it after its settings changed.
SELECT page.url, frontier.depth, page.links
FROM crawled_page page
JOIN frontier ON frontier.source_id = page.source_id AND frontier.url = page.url
WHERE page.source_id = %(source_id)s AND page.removed_at IS NULL;

-- name: unknown_links
-- Return each link of the live pages of a site that is no known URL, with the page nearest to the start that has it.
SELECT DISTINCT ON (link) link, page.url, page.depth
FROM crawled_page page CROSS JOIN LATERAL unnest(page.links) AS link
WHERE page.source_id = %(source_id)s AND page.removed_at IS NULL
  AND NOT EXISTS (SELECT FROM frontier WHERE frontier.source_id = page.source_id AND frontier.url = link)
ORDER BY link, page.depth, page.url;

-- name: page_tags
-- Return the URLs of the stored pages of a site, with the tags that patterns gave them.
SELECT url, tags FROM crawled_page WHERE source_id = %(source_id)s;

-- name: tag_pages
-- Replace the tags that patterns gave pages.
UPDATE crawled_page page SET tags = ARRAY(SELECT jsonb_array_elements_text(tagged.tags))
FROM unnest(%(urls)s::text[]) WITH ORDINALITY AS named (url, place)
JOIN jsonb_array_elements(%(tags)s) WITH ORDINALITY AS tagged (tags, place) USING (place)
WHERE page.source_id = %(source_id)s AND page.url = named.url;

-- name: named_canonicals
-- Return the texts of the live pages of a site that name another one as canonical, each with the text of that one.
-- There is no text where one of them is no HTML. Pages of equal content are one document anyway.
SELECT page.url, own.markdown, other.markdown
FROM crawled_page page
JOIN crawled_page canonical
    ON canonical.source_id = page.source_id AND canonical.url = page.canonical_url AND canonical.removed_at IS NULL
LEFT JOIN parsed_content own ON own.sha256 = page.sha256 AND own.parser = page.parser
LEFT JOIN parsed_content other ON other.sha256 = canonical.sha256 AND other.parser = canonical.parser
WHERE page.source_id = %(source_id)s AND page.removed_at IS NULL AND page.canonical_url IS NOT NULL
  AND page.sha256 <> canonical.sha256;

-- name: forget_canonicals
-- Forget which page some pages of a site name as canonical.
UPDATE crawled_page SET canonical_url = NULL
WHERE source_id = %(source_id)s AND url = ANY(%(urls)s) AND canonical_url IS NOT NULL;

-- name: canonical_pages
-- Return the canonical pages of a site for which other pages are no documents; see the view present_page.
SELECT canonical.url, count(*)::integer, (array_agg(page.url ORDER BY page.url))[:3]
FROM crawled_page page
JOIN crawled_page canonical ON canonical.source_id = page.source_id AND canonical.url = page.canonical_url
WHERE page.source_id = %(source_id)s AND page.removed_at IS NULL
  AND canonical.url <> page.url AND canonical.canonical_url IS NULL AND canonical.removed_at IS NULL
GROUP BY canonical.url ORDER BY 2 DESC, 1;

-- name: record_left_out
-- Record what the patterns of a site left out of its last round.
UPDATE source SET left_out = %(left_out)s WHERE id = %(source_id)s;

-- name: left_out
-- Return what the patterns of each site of a collection left out of its last round.
SELECT location, left_out FROM source
WHERE collection = %(collection)s AND kind = 'site' AND removed_at IS NULL AND left_out <> '[]'
ORDER BY id;

-- name: other_urls
-- Return the URLs that given URLs lead to by redirects, a canonical link or equal content.
WITH RECURSIVE other (url) AS (
    SELECT unnest(%(urls)s::text[])
    UNION
    SELECT target.url FROM other CROSS JOIN LATERAL (
        SELECT frontier.redirects_to FROM frontier
        WHERE frontier.url = other.url AND frontier.redirects_to IS NOT NULL
        UNION ALL
        SELECT page.canonical_url FROM crawled_page page
        WHERE page.url = other.url AND page.canonical_url IS NOT NULL
        UNION ALL
        SELECT twin.url
        FROM crawled_page page
        JOIN crawled_page twin
            ON twin.source_id = page.source_id AND twin.sha256 = page.sha256 AND twin.removed_at IS NULL
        WHERE page.url = other.url AND page.removed_at IS NULL
    ) target (url)
)
SELECT url FROM other WHERE url <> ALL(%(urls)s::text[]);

-- name: analyze_crawled_pages
-- Analyze the tables of this stage for the planner; see analyze_raw_files.
ANALYZE crawled_page (source_id, url, sha256, removed_at, first_seen_at, canonical_url, media_type), frontier, source;

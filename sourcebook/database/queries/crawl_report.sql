-- name: crawled_urls
-- Return the known URLs of a site with their pages; of pages with equal content the one that is the document comes first.
SELECT frontier.url, frontier.role, frontier.state, frontier.depth, frontier.parent, frontier.last_error AS reason,
       frontier.rule, frontier.failure_class, frontier.redirects_to, frontier.seconds, page.media_type, page.size,
       page.sha256, page.canonical_url, page.links
FROM frontier
LEFT JOIN crawled_page page
    ON page.source_id = frontier.source_id AND page.url = frontier.url AND page.removed_at IS NULL
WHERE frontier.source_id = %(source_id)s
ORDER BY page.first_seen_at, length(frontier.url), frontier.url;

-- name: crawl_end
-- Return the reason why the last crawl of a site is not complete, and what its patterns left out.
SELECT listing_error, left_out FROM source WHERE id = %(source_id)s;

-- name: dead_links
-- Return the URLs of a collection's sites that do not exist, with the pages that link to them and the lists that name them.
WITH dead AS (
    SELECT frontier.source_id, frontier.url, frontier.last_error, frontier.state, frontier.parent
    FROM frontier JOIN source ON source.id = frontier.source_id
    WHERE source.collection = %(collection)s AND source.removed_at IS NULL AND frontier.role = 'page'
      AND (frontier.state = 'gone' OR (frontier.state = 'refused' AND frontier.rule = 'dead')
           OR (frontier.state = 'failed' AND frontier.failure_class = 'missing'))
), referrer AS (
    SELECT dead.source_id, dead.url, page.url AS referrer
    FROM crawled_page page
    CROSS JOIN LATERAL unnest(page.links) AS link (url)
    JOIN dead ON dead.source_id = page.source_id AND dead.url = link.url
    WHERE page.removed_at IS NULL AND page.source_id IN (SELECT source_id FROM dead)
    UNION
    SELECT source_id, url, parent FROM dead WHERE state <> 'gone' AND parent IS NOT NULL
)
SELECT dead.url, dead.last_error AS reason,
       coalesce(array_agg(referrer.referrer ORDER BY referrer.referrer) FILTER (WHERE referrer.referrer IS NOT NULL), '{}')
           AS referrers
FROM dead
LEFT JOIN referrer ON referrer.source_id = dead.source_id AND referrer.url = dead.url
GROUP BY dead.source_id, dead.url, dead.last_error, dead.state
HAVING dead.state <> 'gone' OR count(referrer.referrer) > 0
ORDER BY dead.url;

-- name: crawl_notices
-- Return sentences on the sites and lists of a collection that were not taken as a whole.
SELECT source.location || ': max_pages left out ' || count(*) || ' of the known URLs; '
    || 'raise it (crawl --max-pages) to take them'
FROM frontier JOIN source ON source.id = frontier.source_id
WHERE source.collection = %(collection)s AND source.removed_at IS NULL AND frontier.state = 'beyond'
GROUP BY source.id
UNION ALL
(SELECT frontier.url || ': ' || frontier.last_error
FROM frontier JOIN source ON source.id = frontier.source_id
WHERE source.collection = %(collection)s AND source.removed_at IS NULL
  AND frontier.role <> 'page' AND frontier.state = 'fetched' AND frontier.last_error IS NOT NULL
ORDER BY frontier.id);

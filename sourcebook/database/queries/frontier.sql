-- name: sites
-- Return the live sites of a collection, or those at the given locations.
SELECT source.id, source.location, source.settings, source.crawl_started_at, source.crawl_scope,
       coalesce(crawl_is_due(source), true) AS due,
       coalesce(nullif(collection.settings #>> '{parsing,html}', 'auto'), 'main') AS keep,
       source.collection, nullif(collection.settings -> 'removals', 'null') AS removals,
       source.listing_error_class IS NOT DISTINCT FROM 'held' AS is_held,
       nullif(collection.settings -> 'redaction', 'null') AS redaction
FROM source
JOIN collection ON collection.name = source.collection
WHERE source.collection = %(collection)s AND source.removed_at IS NULL AND source.kind = 'site'
  AND (cardinality(%(locations)s::text[]) = 0 OR source.location = ANY(%(locations)s))
ORDER BY source.id;

-- name: due_pages
-- Return for each site how many URLs a crawl would request now, and the time since which it has been due.
SELECT source.location,
       CASE
           WHEN cardinality(%(urls)s::text[]) > 0 THEN (
               SELECT count(*) FROM frontier WHERE frontier.source_id = source.id AND frontier.url = ANY(%(urls)s))
           WHEN %(retry_now)s THEN (
               SELECT count(*) FROM frontier WHERE frontier.source_id = source.id AND frontier.state = 'failed')
           WHEN coalesce(crawl_is_due(source), true) OR %(force)s
                OR (%(accept)s AND source.listing_error_class = 'held') THEN greatest(1, (
               SELECT count(*) FROM frontier
               WHERE frontier.source_id = source.id AND frontier.state NOT IN ('gone', 'beyond')))
           ELSE (
               SELECT count(*) FROM frontier
               WHERE frontier.source_id = source.id AND frontier.state = 'failed' AND is_due(frontier.next_attempt_at))
       END AS urls,
       coalesce(source.next_crawl_at, 'epoch') AS since
FROM source
WHERE source.collection = %(collection)s AND source.removed_at IS NULL AND source.kind = 'site'
  AND (cardinality(%(locations)s::text[]) = 0 OR source.location = ANY(%(locations)s))
ORDER BY source.id;

-- name: next_due
-- Return the time at which the next page of a collection is due; NULL without a site.
SELECT min(coalesce(moment, now())) FROM (
    SELECT source.next_crawl_at AS moment FROM source
    WHERE source.collection = %(collection)s AND source.removed_at IS NULL AND source.kind = 'site'
    UNION ALL
    SELECT frontier.next_attempt_at FROM frontier JOIN source ON source.id = frontier.source_id
    WHERE source.collection = %(collection)s AND source.removed_at IS NULL AND frontier.state = 'failed'
      AND frontier.next_attempt_at IS NOT NULL
) due;

-- name: request_crawl
-- Mark a site as due now.
UPDATE source SET next_crawl_at = now()
WHERE collection = %(collection)s AND kind = 'site' AND location = %(location)s AND removed_at IS NULL;

-- name: begin_crawl
-- Record the start of a crawl round and the scope that it uses.
UPDATE source SET crawl_started_at = now(), crawl_scope = %(scope)s WHERE id = %(source_id)s;

-- name: transaction_time
-- Return the time at which the transaction began.
SELECT now();

-- name: requeue_urls
-- Queue every URL of a site for a new round, and removed pages for 30 days.
-- The lastmod of a sitemap is reset: it counts only while the sitemap gives it. The attempts of failed URLs stay.
UPDATE frontier
SET state = 'queued', attempts = CASE state WHEN 'failed' THEN attempts ELSE 0 END, next_attempt_at = NULL, lastmod = NULL
WHERE source_id = %(source_id)s
  AND (state IN ('fetched', 'redirected', 'failed', 'refused', 'beyond')
       OR (state = 'gone' AND EXISTS (
               SELECT FROM crawled_page page
               WHERE page.source_id = frontier.source_id AND page.url = frontier.url
                 AND page.removed_at > now() - interval '30 days')));

-- name: recover_urls
-- Queue the URLs that a killed crawl had claimed.
UPDATE frontier SET state = 'queued' WHERE source_id = %(source_id)s AND state = 'fetching';

-- name: queue_failed_urls
-- Queue failed URLs that are due for a retry, or all of them.
-- A round also queues its failed start URLs: it goes no further before they have been requested again.
UPDATE frontier SET state = 'queued', next_attempt_at = NULL
WHERE source_id = %(source_id)s AND state = 'failed'
  AND (%(now)s OR is_due(next_attempt_at) OR (%(is_round)s AND role <> 'page' AND depth >= 0));

-- name: release_urls
-- End the pause of queued URLs that robots.txt asked for: its rules, or the settings, may have changed.
UPDATE frontier SET next_attempt_at = NULL
WHERE source_id = %(source_id)s AND state = 'queued' AND failure_class = 'forbidden' AND next_attempt_at IS NOT NULL;

-- name: demote_starts
-- Mark the redirect targets of a start URL as plain pages: each round follows its redirects afresh.
UPDATE frontier SET role = 'page'
WHERE source_id = %(source_id)s AND role <> 'page' AND depth >= 0 AND url <> %(start)s;

-- name: queue_named_urls
-- Queue the given URLs.
UPDATE frontier SET state = 'queued', next_attempt_at = NULL
WHERE source_id = %(source_id)s AND url = ANY(%(urls)s) AND state NOT IN ('queued', 'fetching');

-- name: add_urls
-- Insert URLs that were found, and queue known ones again where they had gone.
-- A known URL may also come closer to the start, or turn out to be the redirect target of the start; neither a page nor
-- the start becomes a list. An attempt in the future is one by a clock that was ahead.
INSERT INTO frontier AS known (source_id, url, role, listed, depth, parent, lastmod)
SELECT %(source_id)s, url, role, listed, depth, parent, lastmod
FROM unnest(%(urls)s::text[], %(roles)s::text[], %(listed)s::boolean[], %(depths)s::integer[], %(parents)s::text[],
            %(lastmods)s::text[]) AS found (url, role, listed, depth, parent, lastmod)
ON CONFLICT (source_id, url) DO UPDATE SET
    depth = CASE
        WHEN known.depth < 0 AND excluded.depth < 0 THEN greatest(known.depth, excluded.depth)
        WHEN known.depth >= 0 AND excluded.depth >= 0 THEN least(known.depth, excluded.depth)
        WHEN excluded.role = 'start' THEN excluded.depth
        ELSE known.depth END,
    listed = known.listed OR excluded.listed,
    role = CASE WHEN excluded.role = 'start' AND (known.role = 'page' OR known.depth < 0) THEN 'start' ELSE known.role END,
    lastmod = coalesce(excluded.lastmod, known.lastmod),
    state = CASE WHEN known.state IN ('gone', 'refused', 'beyond')
                      AND NOT known.attempted_at BETWEEN %(since)s AND now() + interval '1 hour' THEN 'queued'
        ELSE known.state END
    WHERE (known.depth > excluded.depth AND (known.depth < 0) = (excluded.depth < 0))
       OR (known.depth < excluded.depth AND excluded.depth < 0)
       OR (excluded.role = 'start' AND known.depth < 0)
       OR (excluded.listed AND NOT known.listed)
       OR (excluded.role = 'start' AND known.role = 'page')
       OR excluded.lastmod IS DISTINCT FROM coalesce(known.lastmod, excluded.lastmod)
       OR (excluded.lastmod IS NOT NULL AND known.lastmod IS NULL)
       OR (known.state IN ('gone', 'refused', 'beyond')
           AND NOT known.attempted_at BETWEEN %(since)s AND now() + interval '1 hour')
RETURNING xmax = 0 AS is_new;

-- name: skip_unchanged_urls
-- Mark queued pages as fetched whose lastmod in the sitemap equals the one they were fetched with.
-- A date alone may hide a second change on the same day, so it counts from the second day on.
UPDATE frontier SET state = 'fetched', last_error = NULL, failure_class = NULL, attempts = 0
FROM crawled_page page
WHERE page.source_id = frontier.source_id AND page.url = frontier.url
  AND frontier.source_id = %(source_id)s AND frontier.state = 'queued' AND frontier.role = 'page'
  AND frontier.lastmod = page.lastmod AND page.removed_at IS NULL AND page.cleaner = %(cleaner)s
  AND page.fetched_at < now() + interval '1 hour'
  AND frontier.lastmod < to_char((page.fetched_at - interval '1 day') AT TIME ZONE 'UTC', 'YYYY-MM-DD');

-- name: claim_lists
-- Mark the next queued starts and lists as being fetched, those nearest to the start first, and return them.
WITH next AS (
    SELECT id FROM frontier
    WHERE source_id = %(source_id)s AND state = 'queued' AND role <> 'page'
      AND (next_attempt_at IS NULL OR is_due(next_attempt_at))
      AND (depth >= 0 OR NOT %(starts_only)s)
    ORDER BY depth DESC, id
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE frontier SET state = 'fetching', attempted_at = now()
    FROM next WHERE frontier.id = next.id
    RETURNING frontier.id, frontier.source_id, frontier.url, frontier.role, frontier.listed, frontier.depth, frontier.parent,
              frontier.attempts, frontier.lastmod
)
SELECT claimed.id, claimed.url, claimed.role, claimed.listed, claimed.depth, claimed.parent, claimed.attempts, claimed.lastmod,
       page.etag, page.last_modified, page.cleaner, page.sha256, coalesce(page.rendered, false) AS rendered,
       page.url IS NOT NULL AND page.removed_at IS NULL AS live
FROM claimed
LEFT JOIN crawled_page page ON page.source_id = claimed.source_id AND page.url = claimed.url
ORDER BY claimed.depth DESC, claimed.id;

-- name: claim_pages
-- Mark the next queued pages as being fetched and return them with the validators of their pages.
-- With `patient` those pages that have failed or asked to wait several times; otherwise all others.
WITH next AS (
    SELECT id FROM frontier
    WHERE source_id = %(source_id)s AND state = 'queued' AND role = 'page'
      AND (next_attempt_at IS NULL OR is_due(next_attempt_at))
      AND (attempts >= %(most_postponed)s) = %(patient)s
      AND (NOT %(known_only)s OR EXISTS (
          SELECT FROM crawled_page page
          WHERE page.source_id = frontier.source_id AND page.url = frontier.url AND page.removed_at IS NULL))
    ORDER BY depth, id
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE frontier SET state = 'fetching', attempted_at = now()
    FROM next WHERE frontier.id = next.id
    RETURNING frontier.id, frontier.source_id, frontier.url, frontier.role, frontier.listed, frontier.depth, frontier.parent,
              frontier.attempts, frontier.lastmod
)
SELECT claimed.id, claimed.url, claimed.role, claimed.listed, claimed.depth, claimed.parent, claimed.attempts, claimed.lastmod,
       page.etag, page.last_modified, page.cleaner, page.sha256, coalesce(page.rendered, false) AS rendered,
       page.url IS NOT NULL AND page.removed_at IS NULL AS live
FROM claimed
LEFT JOIN crawled_page page ON page.source_id = claimed.source_id AND page.url = claimed.url
ORDER BY claimed.depth, claimed.id;

-- name: mark_fetched
-- Mark URLs as fetched; a list with the notice of what it left out.
UPDATE frontier
SET state = 'fetched', attempts = 0, next_attempt_at = NULL, last_error = fetched.notice, failure_class = NULL, rule = NULL,
    redirects_to = NULL, seconds = fetched.seconds
FROM unnest(%(ids)s::bigint[], %(seconds)s::real[], %(notices)s::text[]) AS fetched (id, seconds, notice)
WHERE frontier.id = fetched.id;

-- name: start_urls
-- Return the start URL of a site and the redirect targets it led to in the last round.
-- Where others have changed the URLs since, these are the remembered ones.
SELECT found ->> 0, found ->> 1
FROM source
CROSS JOIN LATERAL jsonb_array_elements(
    coalesce(CASE crawl_scope WHEN '' THEN crawl_starts END, starts_of(id, %(start)s))) AS found
WHERE id = %(source_id)s;

-- name: set_roles
-- Set the roles of start URLs: page or list.
UPDATE frontier SET role = turned_out.role
FROM unnest(%(ids)s::bigint[], %(roles)s::text[]) AS turned_out (id, role)
WHERE frontier.id = turned_out.id AND frontier.role <> turned_out.role;

-- name: mark_redirected
-- Mark URLs as redirects to their targets.
UPDATE frontier
SET state = 'redirected', attempts = 0, next_attempt_at = NULL, last_error = NULL, failure_class = NULL, rule = NULL,
    redirects_to = moved.target, seconds = moved.seconds
FROM unnest(%(ids)s::bigint[], %(seconds)s::real[], %(targets)s::text[]) AS moved (id, seconds, target)
WHERE frontier.id = moved.id;

-- name: mark_gone
-- Mark URLs as gone.
UPDATE frontier
SET state = 'gone', failure_class = NULL, rule = NULL, attempts = 0, next_attempt_at = NULL, last_error = gone.reason,
    seconds = gone.seconds
FROM unnest(%(ids)s::bigint[], %(seconds)s::real[], %(reasons)s::text[]) AS gone (id, seconds, reason)
WHERE frontier.id = gone.id;

-- name: mark_refused
-- Mark URLs as refused, with the rule that excludes them.
UPDATE frontier
SET state = 'refused', failure_class = NULL, rule = refused.rule, attempts = 0, next_attempt_at = NULL,
    last_error = refused.reason, seconds = refused.seconds
FROM unnest(%(ids)s::bigint[], %(seconds)s::real[], %(reasons)s::text[], %(rules)s::text[])
    AS refused (id, seconds, reason, rule)
WHERE frontier.id = refused.id;

-- name: mark_failed
-- Mark URLs as failed.
-- A transient failure is retried after 1, 2, 4 … minutes (at most a day), but not before the time in Retry-After, until
-- it is parked.
UPDATE frontier
SET state = 'failed', attempts = frontier.attempts + 1, last_error = failed.reason, failure_class = failed.failure_class,
    rule = NULL, seconds = failed.seconds,
    next_attempt_at = CASE WHEN failed.transient
        THEN greatest(next_retry(source.collection, frontier.attempts + 1),
                      now() + nullif(make_interval(secs => failed.retry_after), interval '0')) END
FROM unnest(%(ids)s::bigint[], %(seconds)s::real[], %(reasons)s::text[], %(failure_classes)s::text[],
            %(transient)s::boolean[], %(retry_after)s::double precision[])
    AS failed (id, seconds, reason, failure_class, transient, retry_after), source
WHERE frontier.id = failed.id AND source.id = frontier.source_id;

-- name: postpone_urls
-- Postpone URLs by given times from now.
-- During a round they stay queued; outside a round they wait as failed URLs, and so do those that have answered several
-- times in a row with a pause.
UPDATE frontier
SET state = CASE WHEN source.crawl_started_at IS NULL
                      OR frontier.attempts + postponed.answered::integer >= %(most_postponed)s AND postponed.answered
        THEN 'failed' ELSE 'queued' END,
    attempts = frontier.attempts + postponed.answered::integer, failure_class = postponed.failure_class,
    next_attempt_at = now() + postponed.wait, last_error = postponed.reason
FROM source, unnest(%(ids)s::bigint[], %(waits)s::interval[], %(reasons)s::text[], %(answered)s::boolean[],
                    %(failure_classes)s::text[]) AS postponed (id, wait, reason, answered, failure_class)
WHERE frontier.id = postponed.id AND source.id = frontier.source_id;

-- name: mark_beyond
-- Mark the pages that are still queued when max_pages is reached: known, counted and not requested.
-- With `new_only` not those that are stored.
UPDATE frontier SET state = 'beyond', next_attempt_at = NULL, last_error = NULL
WHERE source_id = %(source_id)s AND state = 'queued' AND role = 'page'
  AND NOT (%(new_only)s AND EXISTS (
      SELECT FROM crawled_page page
      WHERE page.source_id = frontier.source_id AND page.url = frontier.url AND page.removed_at IS NULL));

-- name: end_crawl
-- Record the end of a complete crawl and the time of the next one.
-- Starts and depths are kept beside the URLs, unless others have changed these meanwhile.
WITH placed AS (
    UPDATE crawled_page page SET depth = frontier.depth
    FROM frontier, source
    WHERE page.source_id = %(source_id)s AND page.removed_at IS NULL
      AND frontier.source_id = page.source_id AND frontier.url = page.url AND frontier.depth IS DISTINCT FROM page.depth
      AND source.id = page.source_id AND source.crawl_scope <> ''
)
UPDATE source
SET listed_at = now(), listing_error = NULL, listing_error_class = NULL, crawl_started_at = NULL,
    next_crawl_at = now() + make_interval(secs => %(refresh)s),
    crawl_starts = CASE WHEN crawl_scope <> '' THEN starts_of(id, %(start)s) ELSE crawl_starts END
WHERE id = %(source_id)s;

-- name: pause_crawl
-- Record that a crawl goes on with the next ingest.
UPDATE source
SET listing_error = NULL, listing_error_class = NULL, next_crawl_at = now(),
    crawl_starts = CASE WHEN crawl_scope <> '' THEN starts_of(id, %(start)s) ELSE crawl_starts END
WHERE id = %(source_id)s;

-- name: paused_crawls
-- Count the sites of a collection, or of those at the given locations, whose crawls have paused.
SELECT count(*) FROM source
WHERE collection = %(collection)s AND kind = 'site' AND removed_at IS NULL AND crawl_started_at IS NOT NULL
  AND listing_error IS NULL AND next_crawl_at <= now()
  AND (cardinality(%(locations)s::text[]) = 0 OR location = ANY(%(locations)s));

-- name: interrupt_crawl
-- Record why a crawl cannot continue now and when it will; queued URLs stay queued.
UPDATE source
SET listing_error = %(error)s, listing_error_class = %(failure_class)s,
    next_crawl_at = coalesce(%(until)s::timestamptz, now() + %(wait)s::interval)
WHERE id = %(source_id)s;

-- name: refuse_crawl
-- Record that a crawl ended without any page, and the time of the next one.
UPDATE source
SET listing_error = %(error)s, listing_error_class = %(failure_class)s, crawl_started_at = NULL,
    next_crawl_at = now() + make_interval(secs => %(refresh)s)
WHERE id = %(source_id)s;

-- name: frontier_counts
-- Return how many URLs of a site are queued, how many of those are known, when the first is due, and the live pages.
-- Lists and stored pages are known.
SELECT
    count(*) AS queued,
    count(*) FILTER (WHERE frontier.role <> 'page' OR page.url IS NOT NULL) AS known,
    min(frontier.next_attempt_at) AS next_attempt_at,
    (SELECT count(*) FROM crawled_page page WHERE page.source_id = %(source_id)s AND page.removed_at IS NULL) AS live
FROM frontier
LEFT JOIN crawled_page page
    ON page.source_id = frontier.source_id AND page.url = frontier.url AND page.removed_at IS NULL
WHERE frontier.source_id = %(source_id)s AND frontier.state = 'queued';

-- name: list_urls
-- Return the URLs of the lists of a site that are known, without those that are gone.
SELECT url FROM frontier
WHERE source_id = %(source_id)s AND role = 'list' AND depth < 0 AND state NOT IN ('gone', 'refused');

-- name: frontier_urls
-- Return every URL that is known of a site.
SELECT id, url, depth, role FROM frontier WHERE source_id = %(source_id)s;

-- name: forget_urls
-- Delete every URL of a site, and those of no site: a new one may get its number.
DELETE FROM frontier
WHERE source_id = %(source_id)s OR NOT EXISTS (SELECT FROM source WHERE source.id = frontier.source_id);

-- name: restore_depths
-- Insert the live pages of a site whose depth in the last round is known, or lower the depth of their URLs to it.
INSERT INTO frontier AS known (source_id, url, depth)
SELECT source_id, url, depth FROM crawled_page
WHERE source_id = %(source_id)s AND removed_at IS NULL AND depth >= 0
ON CONFLICT (source_id, url) DO UPDATE SET depth = excluded.depth WHERE known.depth > excluded.depth;

-- name: pages_without_url
-- Return the live pages of a site that are not in its frontier.
SELECT page.url FROM crawled_page page
WHERE page.source_id = %(source_id)s AND page.removed_at IS NULL
  AND NOT EXISTS (SELECT FROM frontier WHERE frontier.source_id = page.source_id AND frontier.url = page.url)
ORDER BY page.url;

-- name: delete_urls
-- Delete URLs from the frontier.
DELETE FROM frontier WHERE id = ANY(%(ids)s);

-- name: lock_host
-- Return whether this session has obtained the lock of a host.
SELECT pg_try_advisory_lock(hashtextextended('sourcebook host ' || %(host)s, 0));

-- name: unlock_host
-- Release the lock of a host.
SELECT pg_advisory_unlock(hashtextextended('sourcebook host ' || %(host)s, 0));

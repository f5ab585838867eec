-- Web sites as sources: the frontier, the crawled pages, and views that know both kinds of item.

ALTER TABLE source DROP CONSTRAINT source_kind_check;
ALTER TABLE source ADD CONSTRAINT source_kind_check CHECK (kind IN ('files', 'site'));
ALTER TABLE source ADD COLUMN settings jsonb NOT NULL DEFAULT '{}';
ALTER TABLE source ADD COLUMN crawl_started_at timestamptz;
ALTER TABLE source ADD COLUMN crawl_scope text;
ALTER TABLE source ADD COLUMN next_crawl_at timestamptz;

-- Every URL of a site that is known, and how far it is: what a crawl works through, and where it goes on after a crash.
CREATE TABLE frontier (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    url text NOT NULL,                 -- in normal form
    role text NOT NULL DEFAULT 'page' CHECK (role IN ('start', 'list', 'page')),  -- list: a sitemap or an llms.txt
    listed boolean NOT NULL DEFAULT false,  -- named by the configuration, a sitemap or an llms.txt, not only by a link
    depth integer NOT NULL,            -- links from the start; what a list names has depth 0, a list itself -1
    parent text,                       -- the page or list that names it
    state text NOT NULL DEFAULT 'queued' CHECK (
        state IN ('queued', 'fetching', 'fetched', 'redirected', 'failed', 'gone', 'refused', 'beyond')),
    attempts integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz,
    last_error text,                   -- why it failed, or was refused
    redirects_to text,
    lastmod text,                      -- as the sitemap gives it
    discovered_at timestamptz NOT NULL DEFAULT now(),
    attempted_at timestamptz,
    UNIQUE (source_id, url)
);
CREATE INDEX frontier_queue ON frontier (source_id, depth, id) WHERE state = 'queued';
CREATE INDEX frontier_redirect ON frontier (url) WHERE redirects_to IS NOT NULL;
CREATE INDEX frontier_retry ON frontier (source_id, next_attempt_at) WHERE state = 'failed';

-- The pages and linked documents of sites, as they were when they were last fetched with success.
CREATE TABLE crawled_page (
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    url text NOT NULL,
    status integer NOT NULL,
    media_type text NOT NULL,
    etag text,
    last_modified text,
    lastmod text,                      -- the sitemap's, when it was fetched
    title text,
    language text,                     -- as the page declares it
    metadata jsonb NOT NULL DEFAULT '{}',
    canonical_url text,                -- where the page says it belongs, if that is elsewhere in the site
    markdown text,                     -- main content of an HTML page
    blocks jsonb,
    content bytea,                     -- anything else: the bytes
    size bigint NOT NULL,
    sha256 bytea NOT NULL,             -- of the content without what changes by itself
    links text[] NOT NULL DEFAULT '{}',
    rendered boolean NOT NULL DEFAULT false,
    cleaner text NOT NULL,             -- what turned the page into Markdown
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    fetched_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz,
    excluded_at timestamptz,           -- when a person took it out with `sourcebook remove`; a crawl does not undo it
    PRIMARY KEY (source_id, url),
    CHECK ((markdown IS NULL) = (blocks IS NULL) AND (markdown IS NULL) <> (content IS NULL))
);
ALTER TABLE crawled_page ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX crawled_page_url ON crawled_page (url);
CREATE INDEX crawled_page_sha256 ON crawled_page (source_id, sha256) WHERE removed_at IS NULL;

ALTER TABLE document DROP CONSTRAINT document_kind_check;
ALTER TABLE document ADD CONSTRAINT document_kind_check CHECK (kind IN ('file', 'page'));

DROP VIEW item;
DROP VIEW live_file;
DROP VIEW present_file;

-- The pages that ought to be documents now: where several URLs of a site hold one content, the canonical one, or else
-- the one that was known first; `also_at` names the others.
CREATE VIEW present_page AS
SELECT collection, url, source_id, sha256, media_type, size, tags, is_html,
    CASE WHEN is_html AND holders > 1 THEN metadata || jsonb_build_object('also_at', array_remove(urls, url))
         WHEN is_html THEN metadata END AS metadata  -- that of other documents is what their parser finds
FROM (
    SELECT source.collection, page.url, page.source_id, page.sha256, page.media_type, page.size, source.tags, page.metadata,
        page.markdown IS NOT NULL AS is_html,
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

-- The items that ought to be documents now. One that two overlapping sources hold is there twice.
-- `format` tells the parser: the media type, or `page` for an HTML page, of which the crawl kept the main content.
CREATE VIEW present_item AS
SELECT source.collection, raw_file.uri, raw_file.source_id, raw_file.sha256, raw_file.media_type, raw_file.size,
    source.tags, 'file' AS kind, raw_file.media_type AS format, NULL::jsonb AS metadata
FROM raw_file
JOIN source ON source.id = raw_file.source_id
WHERE raw_file.removed_at IS NULL
  AND raw_file.sha256 IS NOT NULL
  AND raw_file.skip_reason IS NULL
  AND raw_file.excluded_at IS NULL
  AND source.removed_at IS NULL
UNION ALL
SELECT collection, url, source_id, sha256, media_type, size, tags, 'page', CASE WHEN is_html THEN 'page' ELSE media_type END,
    metadata
FROM present_page;

-- The same, one row a collection and URI: the first source that holds an item provides it.
CREATE VIEW live_item AS
SELECT DISTINCT ON (collection, uri) * FROM present_item ORDER BY collection, uri, source_id;

-- How each file and each URL of a site stands that may be, or may have become, a document.
CREATE VIEW source_item AS
SELECT source_id, uri, 'file' AS kind, media_type, failure, skip_reason, excluded_at, attempts, next_retry_at
FROM raw_file
WHERE removed_at IS NULL
UNION ALL
SELECT frontier.source_id, frontier.url, 'page', page.media_type,
    CASE WHEN frontier.state = 'failed' THEN frontier.last_error END,
    CASE WHEN frontier.state = 'refused' THEN frontier.last_error END,
    page.excluded_at, frontier.attempts, frontier.next_attempt_at
FROM frontier
LEFT JOIN crawled_page page ON page.source_id = frontier.source_id AND page.url = frontier.url
WHERE frontier.state IN ('failed', 'refused') OR page.excluded_at IS NOT NULL;

-- Everything a person may ask about: documents, and files and pages that did not become one.
CREATE VIEW item AS
SELECT
    document.id AS document_id, document.collection, document.source_id, document.uri, document.title, document.kind,
    document.media_type, document.language, document.version, document.tags,
    CASE
        WHEN document.removed_at IS NOT NULL THEN 'removed'
        WHEN source_item.failure IS NOT NULL OR document.failure IS NOT NULL THEN 'failed'
        WHEN document.skip_reason IS NOT NULL THEN 'skipped'
        WHEN indexed.published_hash = document.content_hash THEN 'ready'
        ELSE 'pending'
    END AS state,
    coalesce(source_item.failure, document.failure, document.skip_reason) AS error,
    greatest(source_item.next_retry_at, document.next_retry_at) AS next_retry_at,
    greatest(source_item.attempts, document.attempts) AS attempts
FROM document
JOIN collection ON collection.name = document.collection
LEFT JOIN source_item ON source_item.source_id = document.source_id AND source_item.uri = document.uri
LEFT JOIN indexed_document indexed
    ON indexed.document_id = document.id AND indexed.generation_id = collection.active_generation_id
UNION ALL
SELECT
    NULL, source.collection, source_item.source_id, source_item.uri, NULL, source_item.kind, source_item.media_type, NULL, 0,
    source.tags,
    CASE
        WHEN source_item.excluded_at IS NOT NULL THEN 'removed'
        WHEN source_item.failure IS NOT NULL THEN 'failed'
        WHEN source_item.skip_reason IS NOT NULL THEN 'skipped'
        ELSE 'pending'
    END,
    coalesce(source_item.failure, source_item.skip_reason), source_item.next_retry_at, source_item.attempts
FROM source_item
JOIN source ON source.id = source_item.source_id
WHERE source.removed_at IS NULL
  AND NOT EXISTS (
      SELECT FROM document
      WHERE document.collection = source.collection AND document.uri = source_item.uri
        AND (document.removed_at IS NULL OR source_item.excluded_at IS NOT NULL)
  );

-- The ledger: what was made from what. This file is the truth for a new database; migrations/ brings
-- older ones to it, and a test builds a database both ways and compares the catalogs.
--
-- Every stage row keeps input_hash (what its last attempt was made from) and config_hash (the settings and
-- code version that made it). A row is stale where one of them differs from what is wanted now.

CREATE TABLE schema_migration (
    version integer PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- A named body of knowledge. `settings` are those of the configuration file when it was last applied.
CREATE TABLE collection (
    name text PRIMARY KEY,
    settings jsonb NOT NULL,
    active_generation_id bigint,
    applied_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz
);

-- One place a collection draws from.
CREATE TABLE source (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('files', 'site')),
    location text NOT NULL,
    include text[] NOT NULL,
    exclude text[] NOT NULL,
    tags text[] NOT NULL,
    max_bytes bigint NOT NULL,
    listed_at timestamptz,
    listing_error text,
    removed_at timestamptz,
    settings jsonb NOT NULL DEFAULT '{}',  -- of a site: everything its entry in the configuration says
    crawl_started_at timestamptz,      -- of a site: when the crawl began that is not finished yet
    crawl_scope text,                  -- of a site: digest of the settings that decide what belongs to it
    next_crawl_at timestamptz,         -- of a site: when it is looked at again; NULL until it was crawled once
    UNIQUE (collection, kind, location)
);

-- The inventory: one row a file that was ever seen in a source.
-- A file that was seen in the source's last complete listing has removed_at NULL; source.listed_at says when.
CREATE TABLE raw_file (
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    uri text NOT NULL,
    size bigint NOT NULL,
    modified text NOT NULL,            -- the store's own mark of change: mtime in nanoseconds, or an ETag
    sha256 bytea,                      -- NULL while the content was never read
    media_type text,
    hashed_at timestamptz,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz,
    skip_reason text,                  -- why it is not read on purpose (unknown type, too large)
    failure text,                      -- why it could not be read
    excluded_at timestamptz,           -- when a person took it out with `sourcebook remove`; listing does not undo it
    attempts integer NOT NULL DEFAULT 0,
    next_retry_at timestamptz,
    PRIMARY KEY (source_id, uri)
);

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

-- What a file of sound or video holds, by the file's bytes: told without transcribing it.
CREATE TABLE recording (
    sha256 bytea PRIMARY KEY,
    probe text NOT NULL,               -- what looked at it
    sound_sha256 bytea NOT NULL,       -- of the encoded sound alone: other tags or another container change nothing
    duration double precision NOT NULL,  -- seconds
    title text,                        -- from its tags
    metadata jsonb NOT NULL
);

-- What was said in a sound: transcribed once, whatever files hold it.
CREATE TABLE transcript (
    sound_sha256 bytea NOT NULL,
    engine text NOT NULL,              -- engine, weights, language and decoding options
    language text,                     -- NULL where nobody speaks
    language_probability real,
    finished_at timestamptz,           -- NULL until its last window is there
    PRIMARY KEY (sound_sha256, engine)
);

-- A part of a transcript, written as soon as it is done: a run that is killed goes on behind the last one.
CREATE TABLE transcript_window (
    sound_sha256 bytea NOT NULL,
    engine text NOT NULL,
    starts_at double precision NOT NULL,  -- seconds
    ends_at double precision NOT NULL,
    segments jsonb NOT NULL,           -- rows of start, end, text, average log-probability, no-speech probability
    PRIMARY KEY (sound_sha256, engine, starts_at),
    FOREIGN KEY (sound_sha256, engine) REFERENCES transcript (sound_sha256, engine) ON DELETE CASCADE
);

-- Which transcript a file has. One row a file of sound or video.
CREATE TABLE transcribed_file (
    source_id bigint NOT NULL,
    uri text NOT NULL,
    input_hash bytea NOT NULL,         -- sha256 of the bytes of the last attempt
    config_hash text NOT NULL,         -- engine of the last attempt
    sha256 bytea REFERENCES recording (sha256),  -- the recording of the last success
    sound_sha256 bytea,                -- with engine: its transcript
    engine text,
    content_hash bytea,                -- sha256 over title, language and segments of the last success
    failure text,
    attempts integer NOT NULL DEFAULT 0,
    next_retry_at timestamptz,
    PRIMARY KEY (source_id, uri),
    FOREIGN KEY (source_id, uri) REFERENCES raw_file (source_id, uri) ON DELETE CASCADE,
    FOREIGN KEY (sound_sha256, engine) REFERENCES transcript (sound_sha256, engine),
    CHECK ((content_hash IS NULL) = (sha256 IS NULL) AND (content_hash IS NULL) = (engine IS NULL))
);
CREATE INDEX transcribed_file_sha256 ON transcribed_file (sha256);
CREATE INDEX transcribed_file_transcript ON transcribed_file (sound_sha256, engine);

-- Parsing, cached by content: the same bytes are parsed once, wherever they lie.
CREATE TABLE parsed_content (
    sha256 bytea NOT NULL,
    parser text NOT NULL,
    markdown text NOT NULL,
    blocks jsonb NOT NULL,
    title text,
    page_count integer,
    language text,
    metadata jsonb NOT NULL,
    content_hash bytea NOT NULL,       -- sha256 over Markdown, blocks and title
    parsed_at timestamptz NOT NULL DEFAULT now(),
    nothing_to_read text,              -- why there is no text although nothing is wrong
    PRIMARY KEY (sha256, parser)
);

-- The files within a parsed file, such as those that came with a message. Their bytes stay in there.
CREATE TABLE attachment (
    container_sha256 bytea NOT NULL,
    container_parser text NOT NULL,
    number integer NOT NULL,           -- place in the container, counted from 0
    path text NOT NULL,                -- its name, as the last part of its URI
    media_type text NOT NULL,
    size bigint NOT NULL,
    sha256 bytea NOT NULL,
    skip_reason text,                  -- why it becomes no document
    PRIMARY KEY (container_sha256, container_parser, number),
    FOREIGN KEY (container_sha256, container_parser) REFERENCES parsed_content (sha256, parser) ON DELETE CASCADE
);

CREATE TABLE document (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    uri text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('file', 'page', 'recording')),
    media_type text NOT NULL,
    tags text[] NOT NULL,
    title text,
    language text,
    metadata jsonb NOT NULL DEFAULT '{}',
    input_hash bytea NOT NULL,         -- sha256 of the bytes of the last attempt
    config_hash text NOT NULL,         -- parser of the last attempt
    content_sha256 bytea,              -- with content_parser: the parsed_content of the last success
    content_parser text,
    content_hash bytea,
    version integer NOT NULL DEFAULT 0,
    removed_at timestamptz,
    skip_reason text,
    failure text,
    attempts integer NOT NULL DEFAULT 0,
    next_retry_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (collection, uri),
    FOREIGN KEY (content_sha256, content_parser) REFERENCES parsed_content (sha256, parser)
);
CREATE INDEX document_content ON document (content_sha256, content_parser);
CREATE INDEX document_source ON document (source_id);

-- One way of indexing a collection. Its settings never change.
CREATE TABLE generation (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    chunking jsonb NOT NULL,
    embedding jsonb NOT NULL,
    model text NOT NULL,               -- identity of the embedding model: name and digest of its weights
    dimensions integer NOT NULL CHECK (dimensions > 0),
    configurations regconfig[] NOT NULL DEFAULT '{}',  -- text-search configurations its entries were made with
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX generation_collection ON generation (collection);
ALTER TABLE collection ADD CONSTRAINT collection_active_generation
    FOREIGN KEY (active_generation_id) REFERENCES generation (id) ON DELETE SET NULL;

-- Passages of documents. A chunk with a search_entry is published; one without is prepared.
CREATE TABLE chunk (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    document_id bigint NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    ordinal integer NOT NULL,
    text text NOT NULL,
    context text NOT NULL,             -- title and heading path as embedded before the text
    heading_path text[] NOT NULL,
    anchor text,
    page integer,
    start_char integer NOT NULL,
    end_char integer NOT NULL,
    token_count integer NOT NULL,
    hash bytea NOT NULL,               -- identity within the document: text, heading path, anchor, context
    embedding_hash bytea NOT NULL,     -- sha256 of context and text as embedded
    start_seconds double precision,    -- of a recording: when the passage begins and ends
    end_seconds double precision
);
CREATE INDEX chunk_document ON chunk (document_id, generation_id, ordinal);
CREATE INDEX chunk_generation ON chunk (generation_id);
CREATE INDEX chunk_embedding_hash ON chunk (embedding_hash);

-- What the index holds of each document, and what is prepared for it.
CREATE TABLE indexed_document (
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    document_id bigint NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    input_hash bytea NOT NULL,         -- document.content_hash the prepared chunks were cut from
    config_hash text NOT NULL,
    chunk_count integer NOT NULL,
    published_hash bytea,              -- input_hash that is searchable now; NULL where nothing is
    published_config text,
    published_version integer,
    published_title text,
    published_language text,
    published_at timestamptz,
    uncovered integer NOT NULL DEFAULT 0,  -- characters of content that lie in no prepared chunk: none, or it is a fault
    PRIMARY KEY (generation_id, document_id)
);
CREATE INDEX indexed_document_document ON indexed_document (document_id);

-- Vectors by content: the same text is embedded once by a model.
CREATE TABLE embedding (
    model text NOT NULL,
    text_hash bytea NOT NULL,
    vector halfvec NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (model, text_hash)
);
ALTER TABLE embedding ALTER COLUMN vector SET STORAGE PLAIN;

-- What is searched: one partition a generation, each with its own indexes.
CREATE TABLE search_entry (
    generation_id bigint NOT NULL,
    chunk_id bigint NOT NULL REFERENCES chunk (id) ON DELETE CASCADE,
    document_id bigint NOT NULL,
    vector halfvec NOT NULL,
    lexemes tsvector NOT NULL,
    PRIMARY KEY (generation_id, chunk_id)
) PARTITION BY LIST (generation_id);
ALTER TABLE search_entry ALTER COLUMN vector SET STORAGE PLAIN;
CREATE INDEX search_entry_document ON search_entry (generation_id, document_id);
CREATE INDEX search_entry_chunk ON search_entry (chunk_id);

-- The text-search configuration of a language (ISO 639-1); every one that PostgreSQL ships, otherwise `simple`.
CREATE FUNCTION text_search_configuration(language text) RETURNS regconfig
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE language
    WHEN 'ar' THEN 'arabic' WHEN 'hy' THEN 'armenian' WHEN 'eu' THEN 'basque' WHEN 'ca' THEN 'catalan'
    WHEN 'da' THEN 'danish' WHEN 'nl' THEN 'dutch' WHEN 'en' THEN 'english' WHEN 'et' THEN 'estonian'
    WHEN 'fi' THEN 'finnish' WHEN 'fr' THEN 'french' WHEN 'de' THEN 'german' WHEN 'el' THEN 'greek'
    WHEN 'hi' THEN 'hindi' WHEN 'hu' THEN 'hungarian' WHEN 'id' THEN 'indonesian' WHEN 'ga' THEN 'irish'
    WHEN 'it' THEN 'italian' WHEN 'lt' THEN 'lithuanian' WHEN 'ne' THEN 'nepali' WHEN 'no' THEN 'norwegian'
    WHEN 'nb' THEN 'norwegian' WHEN 'nn' THEN 'norwegian' WHEN 'pt' THEN 'portuguese' WHEN 'ro' THEN 'romanian'
    WHEN 'ru' THEN 'russian' WHEN 'sr' THEN 'serbian' WHEN 'es' THEN 'spanish' WHEN 'sv' THEN 'swedish'
    WHEN 'ta' THEN 'tamil' WHEN 'tr' THEN 'turkish' WHEN 'yi' THEN 'yiddish'
    ELSE 'simple'
END::regconfig;

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

-- Whether a file of this type is a recording, which is transcribed and not parsed.
CREATE FUNCTION is_recording(media_type text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN media_type LIKE 'audio/%' OR media_type LIKE 'video/%';

-- What came with the messages that are there: of a message that changed and cannot be read, what the last one read held.
CREATE VIEW present_attachment AS
SELECT document.collection, document.uri || '/' || attachment.path AS uri, file.source_id, attachment.sha256,
    attachment.media_type, attachment.size, source.tags, attachment.skip_reason, document.uri AS container, attachment.number
FROM attachment
JOIN document ON document.content_sha256 = attachment.container_sha256
             AND document.content_parser = attachment.container_parser
JOIN source ON source.collection = document.collection
JOIN raw_file file ON file.source_id = source.id AND file.uri = document.uri
WHERE file.removed_at IS NULL
  AND file.skip_reason IS NULL
  AND file.excluded_at IS NULL
  AND source.removed_at IS NULL;

-- The items that ought to be documents now. One that two overlapping sources hold is there twice.
-- `format` tells the parser: the media type, `page` for an HTML page, of which the crawl kept the main content, or
-- `transcript` for a recording, of which the words are kept.
CREATE VIEW present_item AS
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
FROM present_page
UNION ALL
SELECT collection, uri, source_id, sha256, media_type, size, tags, 'file', media_type, NULL, container, number
FROM present_attachment
WHERE skip_reason IS NULL;

-- The same, one row a collection and URI: the first source that holds an item provides it. An object store may hold both
-- a message and a file under the name of what came with it: the file it is.
CREATE VIEW live_item AS
SELECT DISTINCT ON (collection, uri) * FROM present_item ORDER BY collection, uri, source_id, container NULLS FIRST;

-- How each file and each URL of a site stands that may be, or may have become, a document.
CREATE VIEW source_item AS
SELECT file.source_id, file.uri, CASE WHEN is_recording(file.media_type) THEN 'recording' ELSE 'file' END AS kind,
    file.media_type, coalesce(file.failure, transcribed.failure) AS failure, file.skip_reason, file.excluded_at,
    greatest(file.attempts, transcribed.attempts) AS attempts,
    greatest(file.next_retry_at, transcribed.next_retry_at) AS next_retry_at
FROM raw_file file
LEFT JOIN transcribed_file transcribed
    ON transcribed.source_id = file.source_id AND transcribed.uri = file.uri AND is_recording(file.media_type)
WHERE file.removed_at IS NULL
UNION ALL
SELECT frontier.source_id, frontier.url, 'page', page.media_type,
    CASE WHEN frontier.state = 'failed' THEN frontier.last_error END,
    CASE WHEN frontier.state = 'refused' THEN frontier.last_error END,
    page.excluded_at, frontier.attempts, frontier.next_attempt_at
FROM frontier
LEFT JOIN crawled_page page ON page.source_id = frontier.source_id AND page.url = frontier.url
WHERE frontier.state IN ('failed', 'refused') OR page.excluded_at IS NOT NULL
UNION ALL
SELECT source_id, uri, 'file', media_type, NULL, skip_reason, NULL, 0, NULL
FROM present_attachment
WHERE skip_reason IS NOT NULL;

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

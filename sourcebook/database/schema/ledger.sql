-- The ledger: the rows of every stage, with the inputs that they were made from.
--
-- Every stage row keeps input_hash (of the input of its last attempt) and config_hash (of the settings and the
-- code version of that attempt). A row is stale where one of them differs from the current one.

CREATE TABLE schema_migration (
    version integer PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- A named body of knowledge. `settings` are a copy of the configuration file as it was last applied.
CREATE TABLE collection (
    name text PRIMARY KEY,
    settings jsonb NOT NULL,
    active_generation_id bigint,
    applied_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz,
    compared_with text,                -- digest of the parsers that every unmarked item was compared with
    checked_at timestamptz,            -- start of the last checks without a violation
    building_generation_id bigint,     -- generation that is built beside the active one, by the settings as applied
    overruled_settings jsonb,          -- applied chunking and embedding that nobody builds: a person activated others
    generation_error text,             -- reason why no generation by the applied settings can be begun
    model_choice jsonb,                -- embedding model that was chosen where the settings name none, and why
    declared_in text NOT NULL DEFAULT 'file' CHECK (declared_in IN ('file', 'api')),
    written_settings jsonb,            -- of a collection of the API: its settings as they were written, for patches
    created_at timestamptz NOT NULL DEFAULT now()
);

-- One folder, store or site that a collection reads, or another collection whose documents it takes by their tags.
CREATE TABLE source (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('files', 'site', 'collection', 'uploads')),
    location text NOT NULL,            -- of a collection: its name; of uploads: upload:// and a random name
    include text[] NOT NULL,
    exclude text[] NOT NULL,
    tags text[] NOT NULL,
    max_bytes bigint NOT NULL,
    listed_at timestamptz,
    listing_error text,
    removed_at timestamptz,
    settings jsonb NOT NULL DEFAULT '{}',  -- of a site: its entry in the configuration; of a folder: root,
                                       -- follow_links; of a repository: url, path, link; of a collection: tags, tags_all
    crawl_started_at timestamptz,      -- of a site: start of the unfinished crawl
    crawl_scope text,                  -- of a site: digest of the settings that select its URLs; empty where others changed these
    next_crawl_at timestamptz,         -- of a site: time of the next crawl; NULL before the first one ends
    listing_error_class text,          -- class of listing_error, one of FailureClass in sourcebook/errors.py
    left_out jsonb NOT NULL DEFAULT '[]',  -- of a site: URLs that its patterns leave out, counted by the pattern
    git_commit text,                   -- of a repository: the commit whose files are read
    git_mirror text,                   -- of a repository: its mirror in the state folder
    git_error text,                    -- of a repository: why the last look at it failed
    git_error_class text,              -- class of git_error
    next_fetch_at timestamptz,         -- of a repository or records: time of the next look; NULL: at once; of a bucket: when its ACLs are asked for again
    crawl_starts jsonb,                -- of a site: starts_of it after its last round
    held_of integer,                   -- documents before it lacked too many at once; NULL: nothing is held back
    web_view jsonb,                    -- of a folder in a Git checkout with a web view: link with the place {path}, root as URI
    record_state jsonb,                -- of records: where the last look ended, and its error
    permissions jsonb,                 -- who may see its items, as audience_for reads it; NULL: everyone
    UNIQUE (collection, kind, location)
);

-- The inventory: one row for each file that a listing of a source ever had.
-- A file in the source's last complete listing, at source.listed_at, has removed_at NULL.
CREATE TABLE raw_file (
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    uri text NOT NULL,
    size bigint NOT NULL,
    modified text NOT NULL,            -- version in the store: mtime in nanoseconds, or an ETag
    sha256 bytea,                      -- NULL until the content has been read
    media_type text,
    hashed_at timestamptz,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz,
    skip_reason text,                  -- reason why it is deliberately not read (unknown type, too large)
    failure text,                      -- reason why it could not be read
    excluded_at timestamptz,           -- when a person took it out with `sourcebook remove`; listing does not undo it
    attempts integer NOT NULL DEFAULT 0,
    next_retry_at timestamptz,         -- NULL with a failure: parked until its content changes or somebody asks
    failure_class text,                -- class of the failure, one of FailureClass in sourcebook/errors.py
    seal bigint,                       -- raw_file_seal of the row
    tags text[] NOT NULL DEFAULT '{}', -- of an upload: its own, beside those of its source
    touched text,                      -- change time and inode when it was read, see FileEntry; NULL: not recorded
    PRIMARY KEY (source_id, uri)
);
CREATE INDEX raw_file_failed ON raw_file (source_id) WHERE failure IS NOT NULL;
CREATE INDEX raw_file_skipped ON raw_file (source_id) WHERE skip_reason IS NOT NULL;

-- The URI of the folder of a file, with a slash at the end.
CREATE FUNCTION folder_of(uri text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN coalesce(substring(uri FROM '^.*/'), '');

CREATE INDEX raw_file_folder ON raw_file (source_id, folder_of(uri));

-- Whether a media type is a recording, which is transcribed and not parsed.
CREATE FUNCTION is_recording(media_type text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN media_type LIKE 'audio/%' OR media_type LIKE 'video/%';
CREATE INDEX raw_file_recording ON raw_file (source_id) WHERE removed_at IS NULL AND is_recording(media_type);

-- Bytes that were uploaded, by their content: where they are stored. A row comes before its bytes and goes after them.
CREATE TABLE upload_content (
    sha256 bytea PRIMARY KEY,
    bytes bigint NOT NULL,
    store text NOT NULL,               -- folder or fsspec URL of the store
    stored_at timestamptz NOT NULL DEFAULT now()
);

-- Uploads: one row for each version of a name. The live one is the present version.
CREATE TABLE upload (
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    name text NOT NULL,
    version integer NOT NULL,          -- 1, 2, … by name
    sha256 bytea NOT NULL REFERENCES upload_content (sha256),
    tags text[] NOT NULL,
    uploaded_by text NOT NULL,         -- as audit_event.actor
    uploaded_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz,            -- when it was removed, or the next version came
    PRIMARY KEY (collection, name, version)
);
CREATE UNIQUE INDEX upload_live ON upload (collection, name) WHERE removed_at IS NULL;
CREATE INDEX upload_sha256 ON upload (sha256);

-- The records of tables and programs, as of the last look at their source: what raw_file is compared with.
CREATE TABLE source_record (
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    uri text NOT NULL,
    version text NOT NULL,             -- sha256 of the content in hexadecimal, `deleted`, or why there is no content
    mark text,                         -- its `updated` in the source; NULL: the next look reads it again
    content bytea,                     -- the bytes of its document
    skip_reason text,
    failure text,
    failure_class text,
    removed_at timestamptz,            -- since when its source does not have it
    allowed text[],                    -- principals that the record says itself; NULL: it says nothing
    PRIMARY KEY (source_id, uri)
);
CREATE INDEX source_record_failed ON source_record (source_id) WHERE failure IS NOT NULL;

-- Settled listings, one row for each folder with files in the inventory: a folder whose files are as they were needs none
-- of its rows of the inventory.
CREATE TABLE listed_folder (
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    uri text NOT NULL,
    digest bytea,                      -- of the last listing without a difference; NULL after a change of its rows
    files integer NOT NULL DEFAULT 0,  -- files in that listing
    revision bigserial NOT NULL,       -- changes with every change of its rows
    PRIMARY KEY (source_id, uri)
);

-- Unsettle the folders of changed rows of the inventory, in the transaction that changes them.
CREATE FUNCTION unsettle_folders() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        -- A removed file and a file without a row are the same to a listing.
        UPDATE listed_folder folder SET digest = NULL, revision = DEFAULT
        FROM (SELECT DISTINCT source_id, folder_of(uri) AS uri FROM changed WHERE removed_at IS NULL) gone
        WHERE folder.source_id = gone.source_id AND folder.uri = gone.uri;
    ELSE
        INSERT INTO listed_folder (source_id, uri)
        SELECT DISTINCT source_id, folder_of(uri) FROM changed ORDER BY 1, 2
        ON CONFLICT (source_id, uri) DO UPDATE SET digest = NULL, revision = excluded.revision;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER files_added AFTER INSERT ON raw_file REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION unsettle_folders();
CREATE TRIGGER files_changed AFTER UPDATE ON raw_file REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION unsettle_folders();
CREATE TRIGGER files_gone AFTER DELETE ON raw_file REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION unsettle_folders();
CREATE TRIGGER records_added AFTER INSERT ON source_record REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION unsettle_folders();
CREATE TRIGGER records_changed AFTER UPDATE ON source_record REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION unsettle_folders();
CREATE TRIGGER records_gone AFTER DELETE ON source_record REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION unsettle_folders();

-- The known URLs of a site with their state: the queue of a crawl, which resumes from it after a crash.
CREATE TABLE frontier (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    url text NOT NULL,                 -- in normal form
    role text NOT NULL DEFAULT 'page' CHECK (role IN ('start', 'list', 'page')),  -- list: a sitemap or an llms.txt
    listed boolean NOT NULL DEFAULT false,  -- named by the configuration, a sitemap or an llms.txt, not only by a link
    depth integer NOT NULL,            -- links from the start; 0 for the entries of a list, -1 for a list, -2 for a list it names
    parent text,                       -- the page or list with a link to it
    state text NOT NULL DEFAULT 'queued' CHECK (
        state IN ('queued', 'fetching', 'fetched', 'redirected', 'failed', 'gone', 'refused', 'beyond')),
    attempts integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz,
    last_error text,                   -- reason of the failure or refusal; of a list that was read, what it left out
    redirects_to text,
    lastmod text,                      -- as in the sitemap
    discovered_at timestamptz NOT NULL DEFAULT now(),
    attempted_at timestamptz,
    failure_class text,                -- class of the failure
    rule text,                         -- rule of the refusal
    seconds real,                      -- time of its last response, from the sent request to the last byte
    UNIQUE (source_id, url)
);
CREATE INDEX frontier_queue ON frontier (source_id, depth, id) WHERE state = 'queued';
CREATE INDEX frontier_lists ON frontier (source_id, depth DESC, id) WHERE state = 'queued' AND role <> 'page';
CREATE INDEX frontier_redirect ON frontier (url) WHERE redirects_to IS NOT NULL;
CREATE INDEX frontier_retry ON frontier (source_id, next_attempt_at) WHERE state = 'failed';

-- The start of a site and the redirect targets that it led to in the last round: an array of [URL, role].
CREATE FUNCTION starts_of(of_source bigint, start text) RETURNS jsonb
LANGUAGE sql STABLE
RETURN (
    WITH RECURSIVE way (url, role, redirects_to) AS (
        SELECT url, role, redirects_to FROM frontier
        WHERE source_id = of_source AND url = start AND role <> 'page'
        UNION
        SELECT following.url, following.role, following.redirects_to
        FROM way JOIN frontier following ON following.source_id = of_source AND following.url = way.redirects_to
    )
    SELECT coalesce(jsonb_agg(jsonb_build_array(url, role)), '[]') FROM way);

-- Results of parsing, by content: equal bytes are parsed once, in whichever file they are. A crawl stores the
-- main content of HTML pages here.
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
    nothing_to_read text,              -- reason why a document without an error has no text
    seal bigint,                       -- parsed_content_seal of the row
    attachments integer,               -- number of its attachments; NULL where it is not known
    PRIMARY KEY (sha256, parser)
);

-- The pages and linked documents of sites, as of their last successful fetch.
CREATE TABLE crawled_page (
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    url text NOT NULL,
    status integer NOT NULL,
    media_type text NOT NULL,
    etag text,
    last_modified text,
    lastmod text,                      -- as in the sitemap when the page was fetched
    title text,
    language text,                     -- as declared by the page
    metadata jsonb NOT NULL DEFAULT '{}',
    canonical_url text,                -- canonical link of the page, if it is another URL of the site
    content bytea,                     -- bytes of any content but HTML
    size bigint NOT NULL,
    sha256 bytea NOT NULL,             -- of the content, without parts that change at every request
    links text[] NOT NULL DEFAULT '{}',
    rendered boolean NOT NULL DEFAULT false,
    cleaner text NOT NULL,             -- version of the cleaner that made the Markdown
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    fetched_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz,
    excluded_at timestamptz,           -- when a person took it out with `sourcebook remove`; a crawl does not undo it
    parser text,                       -- with sha256: the parsed_content with the main content of an HTML page
    seal bigint,                       -- crawled_page_seal of the row
    tags text[] NOT NULL DEFAULT '{}', -- tags that the site's patterns give the page
    depth integer,                     -- of its URL in the frontier, as of the last round
    PRIMARY KEY (source_id, url),
    CHECK ((parser IS NULL) <> (content IS NULL)),
    FOREIGN KEY (sha256, parser) REFERENCES parsed_content (sha256, parser)
);
ALTER TABLE crawled_page ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX crawled_page_url ON crawled_page (url);
CREATE INDEX crawled_page_content ON crawled_page (sha256, parser);
CREATE INDEX crawled_page_sha256 ON crawled_page (source_id, sha256) WHERE removed_at IS NULL;
CREATE INDEX crawled_page_canonical ON crawled_page (source_id, canonical_url) WHERE canonical_url IS NOT NULL;

-- Files of sound or video, by the hash of their bytes: the findings of a probe, without transcription.
CREATE TABLE recording (
    sha256 bytea PRIMARY KEY,
    probe text NOT NULL,               -- version of the probe
    sound_sha256 bytea NOT NULL,       -- of the encoded sound alone, independent of tags and container
    duration double precision NOT NULL,  -- seconds
    title text,                        -- from its tags
    metadata jsonb NOT NULL,
    seal bigint                        -- recording_seal of the row
);

-- Transcripts by the hash of the encoded sound: files with equal sound share one.
CREATE TABLE transcript (
    sound_sha256 bytea NOT NULL,
    engine text NOT NULL,              -- engine, weights, language and decoding options
    language text,                     -- NULL where there is no speech
    language_probability real,
    finished_at timestamptz,           -- NULL until its last window is stored
    windows integer,                   -- number of its windows; NULL until it is finished
    seal bigint,                       -- transcript_seal of the row
    PRIMARY KEY (sound_sha256, engine)
);

-- A part of a transcript, stored when it is complete: a killed run resumes after the last window.
CREATE TABLE transcript_window (
    sound_sha256 bytea NOT NULL,
    engine text NOT NULL,
    starts_at double precision NOT NULL,  -- seconds
    ends_at double precision NOT NULL,
    segments jsonb NOT NULL,           -- rows of start, end, text, average log-probability, no-speech probability, language, its probability, channel
    seal bigint,                       -- transcript_window_seal of the row
    PRIMARY KEY (sound_sha256, engine, starts_at),
    FOREIGN KEY (sound_sha256, engine) REFERENCES transcript (sound_sha256, engine) ON DELETE CASCADE
);

-- The transcript of a file. One row for each file of sound or video.
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
    failure_class text,                -- class of the failure
    seal bigint,                       -- transcribed_file_seal of the row
    PRIMARY KEY (source_id, uri),
    FOREIGN KEY (source_id, uri) REFERENCES raw_file (source_id, uri) ON DELETE CASCADE,
    FOREIGN KEY (sound_sha256, engine) REFERENCES transcript (sound_sha256, engine),
    CHECK ((content_hash IS NULL) = (sha256 IS NULL) AND (content_hash IS NULL) = (engine IS NULL))
);
CREATE INDEX transcribed_file_sha256 ON transcribed_file (sha256);
CREATE INDEX transcribed_file_transcript ON transcribed_file (sound_sha256, engine);
CREATE INDEX transcribed_file_failed ON transcribed_file (source_id) WHERE failure IS NOT NULL;

-- The files within a parsed file, such as the attachments of a message. Their bytes stay in the container.
CREATE TABLE attachment (
    container_sha256 bytea NOT NULL,
    container_parser text NOT NULL,
    number integer NOT NULL,           -- place in the container, counted from 0
    path text NOT NULL,                -- its name, as the last part of its URI
    media_type text NOT NULL,
    size bigint NOT NULL,
    sha256 bytea NOT NULL,
    skip_reason text,                  -- reason why it becomes no document
    seal bigint,                       -- attachment_seal of the row
    PRIMARY KEY (container_sha256, container_parser, number),
    FOREIGN KEY (container_sha256, container_parser) REFERENCES parsed_content (sha256, parser) ON DELETE CASCADE
);
CREATE INDEX attachment_sha256 ON attachment (sha256);
CREATE INDEX attachment_skipped ON attachment (container_sha256, container_parser) WHERE skip_reason IS NOT NULL;

-- The first moment of a date in ISO 8601, from a year alone to a time with zone (UTC where it has none). NULL for any
-- other text, and for dates that do not exist.
CREATE FUNCTION moment(value text) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    whole text := CASE length(value) WHEN 4 THEN value || '-01-01Z' WHEN 7 THEN value || '-01Z' WHEN 10 THEN value || 'Z'
        ELSE value || CASE WHEN value ~ '(Z|[+-]\d\d(:?\d\d)?)$' THEN '' ELSE 'Z' END END;
BEGIN
    IF value ~ '^\d{4}(-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d(:?\d\d)?)?)?)?)?$'
            AND pg_input_is_valid(whole, 'timestamptz') THEN
        -- Programs that read it have no others, in whatever time zone.
        RETURN CASE WHEN whole::timestamptz BETWEEN '0001-01-02Z' AND '9999-12-31Z' THEN whole::timestamptz END;
    END IF;
    RETURN NULL;
END
$$;

-- A document's own date: the first of these metadata keys with a date.
CREATE FUNCTION own_date(metadata jsonb) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN coalesce(moment(metadata ->> 'date'), moment(metadata ->> 'published'), moment(metadata ->> 'sent'),
    moment(metadata ->> 'created'), moment(metadata ->> 'modified'), moment(metadata ->> 'updated'),
    moment(metadata ->> 'lastmod'));

-- The tags of a document: those of its source, then its own, from front matter, or from the keywords of an office file or
-- a PDF. The keywords of a web page are for search engines.
CREATE FUNCTION document_tags(of_source text[], metadata jsonb, media_type text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN NOT coalesce(metadata ?| ARRAY['tags', 'keywords'], false) THEN of_source ELSE of_source || ARRAY(
    SELECT word
    FROM (
        SELECT coalesce(metadata -> 'tags', CASE WHEN media_type NOT IN ('text/html', 'application/xhtml+xml')
                                                 THEN metadata -> 'keywords' END) AS words
    ) own
    CROSS JOIN LATERAL (
        SELECT btrim(word) AS word, min(place) AS place
        FROM (
            SELECT word, place
            FROM jsonb_array_elements_text(CASE jsonb_typeof(words) WHEN 'array' THEN words ELSE '[]' END)
                WITH ORDINALITY AS listed (word, place)
            UNION ALL
            SELECT word, place
            FROM regexp_split_to_table(CASE jsonb_typeof(words) WHEN 'string' THEN words #>> '{}' ELSE '' END, '[;,]')
                WITH ORDINALITY AS written (word, place)
        ) found
        GROUP BY 1
    ) counted
    WHERE word <> '' AND word <> ALL(of_source) AND octet_length(word) <= 2000  -- what is longer is prose, and fits no index
    ORDER BY place) END;

-- The link to a document in the web view of its Git repository, or of the checkout that its folder is in, at a commit; NULL
-- for other documents, and without a web view. An attachment has the link of the file that it is in.
CREATE FUNCTION web_link(document_uri text, document_source bigint) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN document_uri LIKE 'git+%' THEN (
    SELECT replace(replace(source.settings ->> 'link', '{commit}', source.git_commit),
                   '{path}', substr(file.uri, length(source.settings ->> 'root') + 2))
    FROM source
    JOIN raw_file file ON file.source_id = source.id AND file.uri = ANY(ARRAY(
        SELECT array_to_string((string_to_array(document_uri, '/'))[:part], '/')
        FROM generate_series(4, cardinality(string_to_array(document_uri, '/'))) AS part))
    WHERE source.removed_at IS NULL AND source.settings ->> 'link' IS NOT NULL AND source.git_commit IS NOT NULL
      AND starts_with(document_uri, source.location || '/')
    ORDER BY source.id = document_source DESC, length(file.uri) DESC
    LIMIT 1)
WHEN document_uri LIKE 'file:%' THEN (
    SELECT replace(source.web_view ->> 'link', '{path}', substr(file.uri, length(source.web_view ->> 'root') + 2))
    FROM source
    JOIN raw_file file ON file.source_id = source.id AND file.uri = ANY(ARRAY(
        SELECT array_to_string((string_to_array(document_uri, '/'))[:part], '/')
        FROM generate_series(4, cardinality(string_to_array(document_uri, '/'))) AS part))
    WHERE source.id = document_source AND source.web_view IS NOT NULL
      AND starts_with(file.uri, (source.web_view ->> 'root') || '/')
    ORDER BY length(file.uri) DESC
    LIMIT 1) END;

-- The link to a document: that of a record, or else web_link.
CREATE FUNCTION link_of(document_uri text, document_source bigint, metadata jsonb) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN starts_with(document_uri, 'record://') THEN substring(metadata ->> 'url' FROM '^https?://.*$')
            ELSE web_link(document_uri, document_source) END;

-- Whether a membership rule takes a document with some tags: it has one of `tags`, unless there are none, and all of
-- `tags_all`.
CREATE FUNCTION takes_tags(rule jsonb, tags text[]) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (rule -> 'tags' = '[]' OR rule -> 'tags' ?| tags) AND to_jsonb(tags) @> (rule -> 'tags_all');

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
    input_hash bytea NOT NULL,         -- sha256 of the bytes of the last attempt; empty before the first one
    config_hash text NOT NULL,         -- parser of the last attempt; empty before the first one
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
    dated_at timestamptz GENERATED ALWAYS AS (own_date(metadata)) STORED,
    failure_class text,                -- class of the failure
    seal bigint,                       -- document_seal of the row
    given_tags text[],                 -- tags that were given by hand; NULL where nothing was
    given_metadata jsonb,              -- metadata that were given by hand, likewise
    own_tags text[],                   -- tags without those given by hand; NULL where nothing was: `tags` are them
    own_metadata jsonb,                -- metadata without those given by hand, likewise
    document_type text,                -- name of a type in the settings; NULL where it has none
    lacking text[],                    -- promised fields that it lacks; NULL where it lacks none
    given_title text,                  -- title that was given by hand; NULL where none was
    own_title text,                    -- title without the one given by hand; NULL where none was: `title` is it
    audience_id integer NOT NULL DEFAULT 1,  -- who may see it
    boost real NOT NULL DEFAULT 1 CHECK (boost = 0 OR boost BETWEEN 0.25 AND 4),  -- by hand; 0: no search finds it
    curated_at timestamptz,            -- when `boost` was set by hand; NULL where it was not, or was taken back
    curated_by text,
    curated_because text,
    UNIQUE (collection, uri),
    FOREIGN KEY (content_sha256, content_parser) REFERENCES parsed_content (sha256, parser)
);
CREATE INDEX document_content ON document (content_sha256, content_parser);
CREATE INDEX document_source ON document (source_id);
CREATE INDEX document_audience ON document (audience_id, collection, id);
CREATE INDEX document_sight ON document (id) INCLUDE (audience_id);
CREATE INDEX document_failed ON document (collection) WHERE failure IS NOT NULL;
CREATE INDEX document_skipped ON document (collection) WHERE skip_reason IS NOT NULL;
CREATE INDEX document_curated ON document (collection) WHERE boost <> 1;
CREATE INDEX document_removed ON document (collection, removed_at) WHERE removed_at IS NOT NULL;
-- Documents whose text leaves something out.
CREATE INDEX document_left_out ON document (collection) WHERE removed_at IS NULL AND metadata ? 'left_out';
-- Documents whose front matter cannot be read.
CREATE INDEX document_front_matter ON document (collection) WHERE removed_at IS NULL AND metadata ? 'front_matter_error';
-- Indexes for the filters of a search.
CREATE INDEX document_dated_at ON document (dated_at);
CREATE INDEX document_tags ON document USING gin (tags);
CREATE INDEX document_metadata ON document USING gin (metadata jsonb_path_ops);
CREATE INDEX document_uri ON document (uri text_pattern_ops);
CREATE INDEX document_of_type ON document (collection, document_type) WHERE document_type IS NOT NULL;
CREATE INDEX document_lacking ON document (collection) WHERE lacking IS NOT NULL;

-- Lay the tags and metadata that were given by hand over a document's own. A statement that sets `tags` or `metadata` sets
-- both, to the document's own. Triggers run in the order of their names: this one before documents_sealed.
CREATE FUNCTION lay_given_over() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF NEW.given_tags IS NULL THEN
        NEW.own_tags := NULL;
        NEW.own_metadata := NULL;
    ELSE
        NEW.own_tags := NEW.tags;
        NEW.own_metadata := NEW.metadata;
        NEW.tags := NEW.tags || ARRAY(SELECT tag FROM unnest(NEW.given_tags) AS tag WHERE tag <> ALL(NEW.own_tags));
        NEW.metadata := NEW.metadata || NEW.given_metadata;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER documents_given_over BEFORE UPDATE OF tags, metadata, given_tags, given_metadata ON document
    FOR EACH ROW WHEN (NEW.given_tags IS NOT NULL OR OLD.given_tags IS NOT NULL) EXECUTE FUNCTION lay_given_over();

-- Lay the title that was given by hand over a document's own. A statement that sets one of them sets `title` to its own.
CREATE FUNCTION lay_title_over() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    NEW.own_title := CASE WHEN NEW.given_title IS NOT NULL THEN NEW.title END;
    NEW.title := coalesce(NEW.given_title, NEW.title);
    RETURN NEW;
END
$$;
CREATE TRIGGER documents_given_title BEFORE UPDATE OF title, given_title ON document
    FOR EACH ROW WHEN (NEW.given_title IS NOT NULL OR OLD.given_title IS NOT NULL) EXECUTE FUNCTION lay_title_over();

-- Collections with a document that was once hidden or boosted by hand: a search of others asks for none.
CREATE TABLE curated_collection (
    collection text PRIMARY KEY REFERENCES collection (name) ON DELETE CASCADE
);
CREATE FUNCTION note_curation() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    INSERT INTO curated_collection VALUES (NEW.collection) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER documents_noted_as_curated AFTER INSERT OR UPDATE OF boost ON document
    FOR EACH ROW WHEN (NEW.boost <> 1) EXECUTE FUNCTION note_curation();

-- Curation by hand: copies in collections that take a document follow it, new ones and those that are there.
CREATE FUNCTION take_curation() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    giver document;
BEGIN
    SELECT held.* INTO giver
    FROM source JOIN document held ON held.collection = source.location AND held.uri = NEW.uri
    WHERE source.id = NEW.source_id AND source.kind = 'collection';
    IF FOUND THEN
        NEW.boost := giver.boost;
        NEW.curated_at := giver.curated_at;
        NEW.curated_by := giver.curated_by;
        NEW.curated_because := giver.curated_because;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER documents_take_curation BEFORE INSERT ON document
    FOR EACH ROW EXECUTE FUNCTION take_curation();
CREATE FUNCTION follow_curation() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    UPDATE document copy
    SET boost = NEW.boost, curated_at = NEW.curated_at, curated_by = NEW.curated_by, curated_because = NEW.curated_because
    FROM source
    WHERE source.kind = 'collection' AND source.location = NEW.collection
      AND copy.collection = source.collection AND copy.uri = NEW.uri AND copy.source_id = source.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER documents_curated AFTER UPDATE OF boost, curated_at ON document
    FOR EACH ROW WHEN (ROW(OLD.boost, OLD.curated_at) IS DISTINCT FROM ROW(NEW.boost, NEW.curated_at))
    EXECUTE FUNCTION follow_curation();

-- Names of documents: what other documents call a live one. A relation means the document with its target as a name.
CREATE TABLE document_name (
    document_id bigint NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    collection text NOT NULL,
    name text COLLATE "C" NOT NULL,    -- in normal form
    rank smallint NOT NULL,            -- 0: its URI, then id, alias, file name, title
    exact text COLLATE "C",            -- its URI with the extension
    PRIMARY KEY (document_id, name)
);
CREATE INDEX document_name_name ON document_name (collection, name);

-- Relations as documents write them, each with the document that it means, where that is there.
CREATE TABLE document_relation (
    document_id bigint NOT NULL REFERENCES document (id) ON DELETE CASCADE,  -- the document that writes it
    collection text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('references', 'requires', 'implements', 'supersedes', 'creates', 'part_of')),
    is_inverse boolean NOT NULL,       -- whether the target is the one that supersedes, requires, …
    target text COLLATE "C" NOT NULL,  -- in normal form: a document_name of the same collection
    exact text COLLATE "C",            -- of a link: the URI with the extension
    written text NOT NULL,
    origin text NOT NULL CHECK (origin IN ('field', 'link', 'id', 'attachment')),
    resolved_id bigint REFERENCES document (id) ON DELETE SET NULL,
    PRIMARY KEY (document_id, kind, is_inverse, target)
);
CREATE INDEX document_relation_target ON document_relation (collection, target);
CREATE INDEX document_relation_resolved ON document_relation (resolved_id) WHERE resolved_id IS NOT NULL;
CREATE INDEX document_relation_superseding ON document_relation (document_id) WHERE kind = 'supersedes';

-- Abbreviations that documents explain, as in `General Data Protection Regulation (GDPR)`.
CREATE TABLE document_abbreviation (
    document_id bigint NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    collection text NOT NULL,
    short text COLLATE "C" NOT NULL,   -- as it is written
    folded text COLLATE "C" NOT NULL,  -- in small letters
    long text COLLATE "C" NOT NULL,    -- as it is written
    lexemes text COLLATE "C" NOT NULL, -- of the long form, in their order, in the document's language
    PRIMARY KEY (document_id, short, long)
);
CREATE INDEX document_abbreviation_folded ON document_abbreviation (collection, folded);
CREATE INDEX document_abbreviation_lexemes ON document_abbreviation (collection, lexemes);

-- Marks on documents whose relations are to be read; relation_rules says by which rules all others were read.
CREATE TABLE relation_mark (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL,
    document_id bigint NOT NULL
);
CREATE INDEX relation_mark_collection ON relation_mark (collection);

CREATE TABLE relation_rules (
    collection text PRIMARY KEY REFERENCES collection (name) ON DELETE CASCADE,
    digest text NOT NULL
);

-- Mark the documents that a statement changed in what decides their names and relations.
CREATE FUNCTION mark_relations() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO relation_mark (collection, document_id) SELECT collection, id FROM added;
    ELSE
        INSERT INTO relation_mark (collection, document_id)
        SELECT added.collection, added.id
        FROM gone FULL JOIN added ON added.id = gone.id  -- no nested loop, however few rows the plan was made for
        WHERE (gone.uri, gone.title, gone.metadata, gone.content_hash, gone.removed_at IS NULL)
            IS DISTINCT FROM (added.uri, added.title, added.metadata, added.content_hash, added.removed_at IS NULL)
            OR (gone.failure IS NOT NULL AND added.failure IS NULL);  -- they may be what could not be recorded
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER relations_added AFTER INSERT ON document REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION mark_relations();
CREATE TRIGGER relations_changed AFTER UPDATE ON document REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION mark_relations();

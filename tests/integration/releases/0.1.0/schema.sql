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
    written_settings jsonb             -- of a collection of the API: its settings as they were written, for patches
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
    next_fetch_at timestamptz,         -- of a repository: time of the next look; NULL: at once
    crawl_starts jsonb,                -- of a site: starts_of it after its last round
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
        RETURN whole::timestamptz;
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
    WHERE word <> '' AND word <> ALL(of_source)
    ORDER BY place) END;

-- The link to a document of a Git repository in the web view of its commit; NULL for other documents, and without a web
-- view. An attachment has the link of the file that it is in.
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
    LIMIT 1) END;

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
    dated_at timestamptz GENERATED ALWAYS AS (own_date(metadata)) STORED,
    failure_class text,                -- class of the failure
    seal bigint,                       -- document_seal of the row
    given_tags text[],                 -- tags that were given by hand; NULL where nothing was
    given_metadata jsonb,              -- metadata that were given by hand, likewise
    own_tags text[],                   -- tags without those given by hand; NULL where nothing was: `tags` are them
    own_metadata jsonb,                -- metadata without those given by hand, likewise
    document_type text,                -- name of a type in the settings; NULL where it has none
    lacking text[],                    -- promised fields that it lacks; NULL where it lacks none
    UNIQUE (collection, uri),
    FOREIGN KEY (content_sha256, content_parser) REFERENCES parsed_content (sha256, parser)
);
CREATE INDEX document_content ON document (content_sha256, content_parser);
CREATE INDEX document_source ON document (source_id);
CREATE INDEX document_failed ON document (collection) WHERE failure IS NOT NULL;
CREATE INDEX document_skipped ON document (collection) WHERE skip_reason IS NOT NULL;
CREATE INDEX document_removed ON document (collection, removed_at) WHERE removed_at IS NOT NULL;
-- Documents that lose much of their text as running heads.
CREATE INDEX document_left_out ON document (collection)
    WHERE removed_at IS NULL AND jsonb_typeof(metadata #> '{left_out,share}') = 'number'
      AND metadata #> '{left_out,share}' > '0.1';
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
        FROM gone JOIN added ON added.id = gone.id
        WHERE (gone.uri, gone.title, gone.metadata, gone.content_hash, gone.removed_at IS NULL)
            IS DISTINCT FROM (added.uri, added.title, added.metadata, added.content_hash, added.removed_at IS NULL);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER relations_added AFTER INSERT ON document REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION mark_relations();
CREATE TRIGGER relations_changed AFTER UPDATE ON document REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION mark_relations();

-- The index: generations, their passages and vectors, and both legs of a search.

-- An index of a collection, with settings that never change.
CREATE TABLE generation (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    chunking jsonb NOT NULL,
    embedding jsonb NOT NULL,
    model text NOT NULL,               -- identity of the embedding model: name and digest of its weights
    dimensions integer NOT NULL CHECK (dimensions > 0),
    created_at timestamptz NOT NULL DEFAULT now(),
    entry_count bigint NOT NULL DEFAULT 0,  -- of the keyword leg: entries, and their length in lexemes
    total_length bigint NOT NULL DEFAULT 0,
    average_length real,               -- average length that keyword_entry.weights were computed with
    averaged_entries bigint,           -- number of entries of that average
    prepared_with text,                -- chunking rules by which every unmarked document is published
    text_count bigint NOT NULL DEFAULT 0,  -- distinct texts among the entries
    failure text,                      -- reason why its passages cannot be cut or embedded now
    retired_at timestamptz,            -- start of its deletion
    storage text,                      -- storage_identity when its rows were last proven
    verdict jsonb,                     -- comparison with the active generation on judged questions
    scores jsonb,                      -- means of its measures on judged questions
    engine jsonb                       -- engine that computed its latest vectors, and the reason for it
);
CREATE INDEX generation_collection ON generation (collection);
ALTER TABLE collection ADD CONSTRAINT collection_active_generation
    FOREIGN KEY (active_generation_id) REFERENCES generation (id) ON DELETE SET NULL;
ALTER TABLE collection ADD CONSTRAINT collection_building_generation
    FOREIGN KEY (building_generation_id) REFERENCES generation (id) ON DELETE SET NULL;

-- The activations of generations, one row each, in their order.
CREATE TABLE activation (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    activated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX activation_collection ON activation (collection, id);
CREATE INDEX activation_generation ON activation (generation_id);

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
    embedding_hash bytea,              -- sha256 of context and text as embedded; NULL: of a generated index, without a vector
    start_seconds double precision,    -- of a recording: start and end of the passage
    end_seconds double precision,
    parts jsonb                        -- rows of start in the text, heading path, anchor, page, start and end in seconds; NULL: one place
);
CREATE INDEX chunk_document ON chunk (document_id, generation_id, ordinal);
CREATE INDEX chunk_generation ON chunk (generation_id);
CREATE INDEX chunk_embedding_hash ON chunk (embedding_hash);
CREATE INDEX chunk_without_vector ON chunk (generation_id, document_id) WHERE embedding_hash IS NULL;

-- The published and the prepared state of each document in the index.
CREATE TABLE indexed_document (
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    document_id bigint NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    input_hash bytea NOT NULL,         -- document.content_hash that the prepared chunks were cut from
    config_hash text NOT NULL,
    chunk_count integer NOT NULL,
    published_hash bytea,              -- input_hash that is searchable now; NULL if none is
    published_config text,
    published_version integer,
    published_title text,
    published_language text,
    published_at timestamptz,
    uncovered integer NOT NULL DEFAULT 0,  -- characters of content in no prepared chunk; more than 0 is a fault
    prepared_digest numeric,           -- sum of chunk_seal over the prepared chunks
    published_chunks integer,          -- number of entries that were published
    published_digest numeric,          -- sum of entry_seal over them
    damage text,                       -- reason why the document is to be prepared and published again
    seal bigint,                       -- indexed_document_seal of the row
    PRIMARY KEY (generation_id, document_id)
);
CREATE INDEX indexed_document_damaged ON indexed_document (generation_id) WHERE damage IS NOT NULL;
CREATE INDEX indexed_document_document ON indexed_document (document_id);
CREATE INDEX indexed_document_published ON indexed_document (generation_id, published_at);
CREATE INDEX indexed_document_uncovered ON indexed_document (generation_id) WHERE uncovered > 0;

-- Published passages with their documents, by the ids of their chunks. One plan is made per session: a page reads few
-- rows of three tables with twenty indexes, and planning it each time took four times as long as running it. Tables may
-- grow before they are analysed, so no plan of a session that began with empty ones may scan them.
-- Volatile, so that it reads as of now: a stable one that waits for the end of a restore would read the new tables as of
-- the moment before, when they were not there.
CREATE FUNCTION passages_of(chunks bigint[]) RETURNS TABLE (
    chunk_id bigint, generation_id bigint, document_id bigint, collection text, uri text, title text, language text,
    version integer, kind text, media_type text, tags text[], metadata jsonb, link text, heading_path text[],
    anchor text, page integer, start_char integer, end_char integer, start_seconds double precision,
    end_seconds double precision, ordinal integer, text text, sections jsonb)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT chunk.id, chunk.generation_id, document.id, document.collection, document.uri,
           indexed.published_title, indexed.published_language, indexed.published_version,
           document.kind, document.media_type, document.tags, document.metadata,
           CASE WHEN starts_with(document.uri, 'git+') THEN web_link(document.uri, document.source_id) END,
           chunk.heading_path, chunk.anchor, chunk.page, chunk.start_char, chunk.end_char,
           chunk.start_seconds, chunk.end_seconds, chunk.ordinal, chunk.text, chunk.parts
    FROM chunk
    JOIN indexed_document indexed
        ON indexed.generation_id = chunk.generation_id AND indexed.document_id = chunk.document_id
    JOIN document ON document.id = chunk.document_id
    WHERE chunk.id = ANY(chunks);
END
$$;

-- Vectors by content: a model embeds equal texts once.
CREATE TABLE embedding (
    model text NOT NULL,
    text_hash bytea NOT NULL,
    vector halfvec NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    seal bigint,                       -- embedding_seal of the row
    PRIMARY KEY (model, text_hash)
);
ALTER TABLE embedding ALTER COLUMN vector SET STORAGE PLAIN;

-- The searchable entries: one partition for each generation, with its own indexes.
CREATE TABLE search_entry (
    generation_id bigint NOT NULL,
    chunk_id bigint NOT NULL REFERENCES chunk (id) ON DELETE CASCADE,
    document_id bigint NOT NULL,
    vector halfvec,                    -- NULL where the chunk has no embedding_hash
    lexemes tsvector NOT NULL,
    configuration text NOT NULL DEFAULT 'simple',  -- text-search configuration that the lexemes were made with
    in_graph boolean NOT NULL DEFAULT true,  -- false: not in the HNSW index yet, compared exactly until index_upkeep enters it
    PRIMARY KEY (generation_id, chunk_id)
) PARTITION BY LIST (generation_id);
ALTER TABLE search_entry ALTER COLUMN vector SET STORAGE PLAIN;
CREATE INDEX search_entry_document ON search_entry (generation_id, document_id);
CREATE INDEX search_entry_chunk ON search_entry (chunk_id);
CREATE INDEX search_entry_outside ON search_entry (generation_id, chunk_id) WHERE NOT in_graph;

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

-- Letters of scripts that put no spaces between words (Han, kana, Hangul, Thai, Lao, Burmese, Khmer) become overlapping
-- pairs, each a word: `知識庫` is searched as `知識 識庫`.
CREATE FUNCTION paired_letters(content text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN content !~ '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff]'
THEN content ELSE (
    SELECT string_agg(
        CASE WHEN NOT is_unspaced THEN letter
             WHEN next_is_unspaced THEN ' ' || letter || next_letter
             WHEN last_is_unspaced THEN ' '  -- the end of a run stands in the pair before
             ELSE ' ' || letter || ' ' END, '' ORDER BY place)
    FROM (
        SELECT letter, place, is_unspaced, lead(letter) OVER in_order AS next_letter,
               coalesce(lead(is_unspaced) OVER in_order, false) AS next_is_unspaced,
               coalesce(lag(is_unspaced) OVER in_order, false) AS last_is_unspaced
        FROM (
            SELECT letter, place,
                   letter ~ '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff]' AS is_unspaced
            FROM string_to_table(content, NULL) WITH ORDINALITY AS letters (letter, place)
        ) letters
        WINDOW in_order AS (ORDER BY place)
    ) neighbours
) END;

-- A lexeme as a quoted literal of tsvector and tsquery.
CREATE FUNCTION quoted_lexeme(lexeme text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''';

-- A lexeme without the accents of Latin and Greek letters; `ё` is written `е` by most. Other scripts' marks are letters.
CREATE FUNCTION without_accents(lexeme text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN translate(
    normalize(regexp_replace(normalize(lexeme, NFD), '([A-Za-z\u0370-\u03ff])[\u0300-\u036f]+', '\1', 'g'), NFC),
    'ёøłđ', 'еold');

-- The lexemes of a text in the text-search configuration of its language. Before stemming, variants of a letter are
-- normalised (NFKC: ligatures, full-width letters, combining accents) and invisible characters are removed (soft
-- hyphens, zero-width spaces); after stemming, which may need them, accents are folded. Letters with marks that are
-- letters of their own in the language stay.
CREATE FUNCTION search_lexemes(configuration regconfig, content text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    found tsvector;
BEGIN
    -- Of ASCII no stemmer makes an accent that is folded, but the Serbian one, which writes `dj` as `đ`.
    IF octet_length(content) = length(content) AND configuration::text <> 'serbian' THEN
        RETURN to_tsvector(configuration, content);
    END IF;
    content := paired_letters(translate(normalize(content, NFKC), U&'\00AD\200B\2060\FEFF', ''));
    -- Nor do stemmers make an accent of quotation marks, dashes and scripts whose marks are letters.
    IF content !~ '[\u00c0-\u03ffёЁ\u1e00-\u1fff]' AND configuration::text <> 'serbian' THEN
        RETURN to_tsvector(configuration, content);
    END IF;
    IF configuration::text IN ('english', 'simple') THEN  -- whose stemmers know no accents: `résumé` is `resume`
        content := without_accents(content);
    END IF;
    found := to_tsvector(configuration, content);
    IF found::text !~ '[\u00c0-\u03ffёЁ\u1e00-\u1fff]' OR configuration::text IN
        ('danish', 'estonian', 'finnish', 'hungarian', 'norwegian', 'swedish', 'turkish') THEN
        RETURN found;
    END IF;
    RETURN (
        SELECT coalesce(string_agg(
            quoted_lexeme(without_accents(lexeme)) || ':' || array_to_string(positions, ','), ' '), '')::tsvector
        FROM unnest(found));
END
$$;

-- The lexemes of an entry: of its document's title (weight A), the headings above it (B) and its text.
CREATE FUNCTION entry_lexemes(configuration regconfig, title text, heading_path text[], content text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN setweight(search_lexemes(configuration, coalesce(title, '')), 'A')
    || setweight(search_lexemes(configuration, array_to_string(heading_path, ' ')), 'B')
    || search_lexemes(configuration, content);

-- The number of words of a text, repetitions included.
CREATE FUNCTION keyword_length(lexemes tsvector) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (SELECT coalesce(sum(cardinality(positions)), 0) FROM unnest(lexemes));

-- The keyword leg. BM25 of an entry = sum over the query's lexemes of idf * weight (Robertson & Zaragoza 2009, k1 1.2,
-- b 0.75). The weight depends on the entry alone: frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / average
-- length)). The idf is computed per query, so a new document rewrites no old row. Triggers on search_entry update these
-- tables in the same transaction.

-- The number of entries of a generation for each text-search configuration.
CREATE TABLE text_configuration (
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    name text NOT NULL,
    entries bigint NOT NULL,
    PRIMARY KEY (generation_id, name)
);

-- The vocabulary of a generation.
CREATE TABLE lexeme (
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    token text COLLATE "C" NOT NULL,
    id integer GENERATED ALWAYS AS IDENTITY,  -- its dimension in keyword_entry.weights
    entries integer NOT NULL,          -- document frequency: number of entries with it
    PRIMARY KEY (generation_id, token)
) WITH (fillfactor = 70);
-- Lexemes by their ending, for compounds and misspelt words.
CREATE INDEX lexeme_reversed ON lexeme (generation_id, reverse(token) COLLATE "C");

-- Lexemes of a query with document frequencies, ids by generation, and occurrences in the query.
-- Each text-search configuration in scope reads the query for the entries made with it. Lexemes of one position are one
-- word, as rare as all of them together. Where a configuration has the word as a stop word, all of its entries count as
-- holding it: otherwise `the` would be a rare word among English texts because of a few texts of unknown language. A
-- stop word for more than half of the entries is left out, and so is a lexeme that no entry holds where another lexeme
-- of its position is held.
-- One plan is made per session, as for passages_of: planning took as long as running.
CREATE FUNCTION query_words(content text, generations bigint[]) RETURNS TABLE (
    token text, entries bigint, ids jsonb, all_entries bigint, occurrences bigint)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH known AS (
        SELECT name, sum(entries) AS entries
        FROM text_configuration WHERE generation_id = ANY(generations) AND entries > 0 GROUP BY name
    ), reading AS MATERIALIZED (
        SELECT known.name, found.lexeme AS token, place
        FROM known
        CROSS JOIN LATERAL unnest(search_lexemes(known.name::regconfig, content)) AS found (lexeme, positions, weights)
        CROSS JOIN LATERAL unnest(positions) AS place
    ), lexeme_read AS MATERIALIZED (
        SELECT read.token, coalesce(sum(lexeme.entries), 0) AS entries,
               coalesce(jsonb_object_agg(lexeme.generation_id, lexeme.id) FILTER (WHERE lexeme.entries > 0), '{}') AS ids
        FROM (SELECT DISTINCT token FROM reading) read
        LEFT JOIN LATERAL (  -- word by word: the planner overestimates the query and would read the whole vocabulary
            SELECT generation_id, id, entries FROM lexeme
            WHERE generation_id = ANY(generations) AND token = read.token
            OFFSET 0
        ) lexeme ON true
        GROUP BY read.token
    ), word AS (
        SELECT place, (SELECT sum(entries) FROM known) - sum(known.entries) AS stopped
        FROM (SELECT DISTINCT place, name FROM reading) here JOIN known USING (name)
        GROUP BY place
    ), holding AS (
        SELECT place, sum(lexeme_read.entries) AS held
        FROM (SELECT DISTINCT place, token FROM reading) here JOIN lexeme_read USING (token)
        GROUP BY place
    ), every AS (
        SELECT sum(entry_count) AS entries FROM generation WHERE id = ANY(generations)
    )
    SELECT lexeme_read.token, least(min(word.stopped + held), every.entries)::bigint AS entries, lexeme_read.ids,
           every.entries::bigint AS all_entries, count(DISTINCT place) AS occurrences
    FROM reading
    JOIN word USING (place)
    JOIN holding USING (place)
    JOIN lexeme_read USING (token)
    CROSS JOIN every
    WHERE word.stopped * 2 <= every.entries AND (lexeme_read.ids <> '{}' OR held = 0)
    GROUP BY lexeme_read.token, lexeme_read.ids, every.entries
    ORDER BY lexeme_read.token;
END
$$;

-- The lexemes of an entry as one vector. Entries in a block are searched through the block first.
CREATE TABLE keyword_entry (
    generation_id bigint NOT NULL,
    chunk_id bigint NOT NULL,
    length integer NOT NULL,           -- in lexemes, repetitions counted
    weights sparsevec NOT NULL,        -- lexeme id → weight
    block integer,                     -- NULL: not in a block yet
    slot integer,                      -- place in the block, counted from 1
    seal bigint,                       -- keyword_entry_seal of the row
    PRIMARY KEY (generation_id, chunk_id)
) PARTITION BY LIST (generation_id);
ALTER TABLE keyword_entry ALTER COLUMN weights SET STORAGE EXTERNAL;
CREATE INDEX keyword_entry_loose ON keyword_entry (generation_id, chunk_id) WHERE block IS NULL;
CREATE UNIQUE INDEX keyword_entry_slot ON keyword_entry (generation_id, block, slot) WHERE block IS NOT NULL;

-- The inverse of keyword_entry for blocks of 8,000 entries: the weights of a lexeme in the entries of a block. Rows
-- never change; a deleted entry leaves its slot empty.
CREATE TABLE keyword_block (
    generation_id bigint NOT NULL,
    lexeme_id integer NOT NULL,
    block integer NOT NULL,
    weights sparsevec(8000) NOT NULL,  -- slot → weight
    PRIMARY KEY (generation_id, lexeme_id, block)
);
ALTER TABLE keyword_block ALTER COLUMN weights SET STORAGE EXTERNAL;

-- Delete the blocks of deleted generations. A foreign key would do it, too, and look up each of a block's 30,000 rows.
CREATE FUNCTION follow_generations() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    DELETE FROM keyword_block USING gone WHERE keyword_block.generation_id = gone.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER generations_gone AFTER DELETE ON generation REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION follow_generations();

-- The number of entries left in each block of keyword_block.
CREATE TABLE keyword_block_size (
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    block integer NOT NULL,
    entries integer NOT NULL,
    lexemes integer,                   -- rows of the block in keyword_block
    digest numeric,                    -- sum of keyword_block_seal over them
    PRIMARY KEY (generation_id, block)
);

-- The weight of each lexeme in entries of a generation.
CREATE FUNCTION keyword_postings(of_generation bigint, chunks bigint[])
RETURNS TABLE (chunk_id bigint, length integer, lexeme_id integer, weight real)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT word.chunk_id, word.length, lexeme.id,
           (word.frequency * 22 / 10::float8  -- 2.2 is a numeric, with which arithmetic takes ten times as long
            / (word.frequency + 1.2::float8 * (0.25::float8 + 0.75::float8 * word.length / generation.average_length)))::real
    FROM (
        SELECT entry.chunk_id, word.lexeme, cardinality(word.positions) AS frequency,
               (sum(cardinality(word.positions)) OVER (PARTITION BY entry.chunk_id))::integer AS length
        FROM search_entry entry CROSS JOIN LATERAL unnest(entry.lexemes) AS word
        WHERE entry.generation_id = of_generation AND entry.chunk_id = ANY(chunks)
    ) word
    JOIN generation ON generation.id = of_generation
    JOIN lexeme ON lexeme.generation_id = of_generation AND lexeme.token = word.lexeme;
END;

-- The weights of lexeme_weights, one row for each entry.
CREATE FUNCTION keyword_weights(of_generation bigint, chunks bigint[])
RETURNS TABLE (chunk_id bigint, length integer, weights sparsevec)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT posting.chunk_id, min(posting.length),
           ('{' || string_agg(posting.lexeme_id || ':' || posting.weight, ',') || '}/1000000000')::sparsevec
    FROM keyword_postings(of_generation, chunks) AS posting
    GROUP BY posting.chunk_id;
END;

-- The sum of vectors: applied to a block, it gives the scores of all its entries at once.
CREATE AGGREGATE vector_total (vector) (SFUNC = vector_add, STYPE = vector, PARALLEL = SAFE);

-- The entries in blocks with the highest scores: every entry with at least the score of the one at rank `depth`, and
-- some more. A lexeme of a block is added to the scores of its 8,000 entries as one vector, scaled by its idf; then the
-- function searches for the highest score that enough entries reach, with bit strings of the entries above it. Scores
-- here are sums of 4-byte floats: the caller computes them again, and the threshold is slightly lower to allow for
-- rounding.
--
-- The shape of the statements keeps the planner from three costs that grow with the blocks: OFFSET 0 from making a scale
-- for each block, unnest in the list of columns from storing all scores at each step, LIMIT 1 from reading whole blocks
-- to find some slots. The scores take 4 bytes an entry, which work_mem has to hold: else they go through a file.
CREATE FUNCTION block_candidates(of_generation bigint, lexeme_ids integer[], idfs real[], depth integer)
RETURNS TABLE (chunk_id bigint)
LANGUAGE plpgsql STABLE SET search_path = sourcebook, public SET work_mem = '256MB'
AS $$
DECLARE
    blocks integer[];
    scores vector[];
    sample vector[];
    wanted bigint := depth;
    low real;
    high real;
    middle real;
    share float8;
    above float8;
    above_low float8;
    above_high float8;
    cut vector;
    live integer;
BEGIN
    SELECT array_agg(part.block), array_agg(part.scores) INTO blocks, scores
    FROM (
        SELECT held.block, vector_total(held.weights::vector(8000) * term.scale) AS scores
        FROM (
            SELECT id, array_fill(idf, ARRAY[8000])::vector(8000) AS scale
            FROM unnest(lexeme_ids, idfs) AS given (id, idf)
            OFFSET 0
        ) term
        JOIN keyword_block held ON held.generation_id = of_generation AND held.lexeme_id = term.id
        GROUP BY held.block
    ) part;
    IF scores IS NULL THEN
        RETURN;
    END IF;
    IF cardinality(scores) >= 32 THEN
        SELECT array_agg(held) INTO sample
        FROM (SELECT unnest(scores) AS held, generate_subscripts(scores, 1) AS place) block WHERE place % 8 = 0;
    END IF;
    LOOP
        -- Of many blocks, every eighth tells about which score it is, and all of them are counted from there.
        above := NULL;
        FOR step IN CASE WHEN sample IS NULL THEN 1 ELSE -11 END..24 LOOP
            CONTINUE WHEN step < 1 AND above BETWEEN wanted * 1.25 AND wanted * 1.75;
            IF step IN (-11, 1) THEN
                low := 0;
                above_low := 8000.0 * cardinality(scores);
                high := 2.3 * (SELECT sum(idf) FROM unnest(idfs) AS idf);
                above_high := 0.5;
            END IF;
            -- How many reach a score falls about exponentially with it; every third step halves, whatever it does.
            share := CASE WHEN step % 3 = 0 THEN 0.5 ELSE ln(above_low / (wanted * 1.4)) / ln(above_low / above_high) END;
            IF step <> 1 OR sample IS NULL THEN
                middle := low + (high - low) * least(greatest(share, 0.02), 0.98);
            END IF;
            cut := array_fill(middle, ARRAY[8000])::vector(8000);
            IF step < 1 THEN
                SELECT sum(bit_count(binary_quantize(held - cut))) * cardinality(scores)::float8 / cardinality(sample) INTO above
                FROM (SELECT unnest(sample) AS held) block;
            ELSE
                SELECT sum(bit_count(binary_quantize(held - cut))) INTO above FROM (SELECT unnest(scores) AS held) block;
            END IF;
            IF above >= wanted THEN
                low := middle;
                above_low := above;
            ELSE
                high := middle;
                above_high := greatest(above, 0.5);
            END IF;
            EXIT WHEN step >= 1 AND above BETWEEN wanted AND wanted * 2;
        END LOOP;
        cut := array_fill(low * 0.99999::real, ARRAY[8000])::vector(8000);
        RETURN QUERY
        SELECT entry.chunk_id
        FROM (SELECT unnest(blocks) AS block, unnest(scores) AS scores) held
        CROSS JOIN LATERAL (
            SELECT (sum(length(gap) + 1) OVER (ORDER BY place))::integer AS slot, place, count(*) OVER () AS places
            FROM string_to_table(binary_quantize(held.scores - cut)::text, '1') WITH ORDINALITY AS gaps (gap, place)
        ) reached
        CROSS JOIN LATERAL (
            SELECT held_entry.chunk_id FROM keyword_entry held_entry
            WHERE held_entry.generation_id = of_generation AND held_entry.block = held.block AND held_entry.slot = reached.slot
            LIMIT 1
        ) entry
        WHERE reached.place < reached.places;
        GET DIAGNOSTICS live = ROW_COUNT;
        EXIT WHEN live >= depth OR low = 0;
        -- Some were of entries that are gone.
        wanted := wanted * 4;
    END LOOP;
END
$$;

-- What follows the published entries of a generation in the transaction that publishes or removes them: its counts, its
-- vocabulary and its weights. A trigger hands its function the rows as `changed`, and 1 where they were added, -1 where
-- they are gone. Planning a statement costs up to a millisecond, which a change of no rows need not pay.

-- Count entries and their length in lexemes. The generation's row comes first: who holds it is alone with the rest, and
-- so nobody waits in a circle. The first entries decide on the average length, until index_upkeep renews it.
CREATE FUNCTION count_entries() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    step integer := TG_ARGV[0];
BEGIN
    IF EXISTS (SELECT FROM changed) THEN
        UPDATE generation
        SET entry_count = entry_count + step * part.entries, total_length = total_length + step * part.length,
            average_length = CASE WHEN average_length IS NULL AND step > 0
                THEN nullif(part.length, 0)::real / part.entries ELSE average_length END,
            averaged_entries = CASE WHEN average_length IS NULL AND step > 0
                THEN part.entries ELSE averaged_entries END
        FROM (SELECT generation_id, count(*) AS entries, sum(words.length) AS length
              FROM changed
              CROSS JOIN LATERAL (SELECT coalesce(sum(cardinality(positions)), 0) AS length FROM unnest(lexemes)) words
              GROUP BY 1) part
        WHERE id = part.generation_id;
    END IF;
    RETURN NULL;
END
$$;

-- Count the entries of each lexeme.
CREATE FUNCTION count_lexemes() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    step integer := TG_ARGV[0];
BEGIN
    IF EXISTS (SELECT FROM changed) THEN
        WITH word AS (
            SELECT generation_id, word.lexeme AS token, count(*) AS entries
            FROM changed CROSS JOIN LATERAL unnest(lexemes) AS word GROUP BY 1, 2
        ), known AS (
            UPDATE lexeme SET entries = lexeme.entries + step * word.entries
            FROM word WHERE lexeme.generation_id = word.generation_id AND lexeme.token = word.token
        )
        INSERT INTO lexeme (generation_id, token, entries)
        SELECT generation_id, token, entries FROM word
        WHERE step > 0 AND NOT EXISTS (
            SELECT FROM lexeme WHERE lexeme.generation_id = word.generation_id AND lexeme.token = word.token);
    END IF;
    RETURN NULL;
END
$$;

-- Count the entries of each text-search configuration.
CREATE FUNCTION count_configurations() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    step integer := TG_ARGV[0];
BEGIN
    IF EXISTS (SELECT FROM changed) THEN
        WITH part AS (
            SELECT generation_id, configuration AS name, count(*) AS entries FROM changed GROUP BY 1, 2
        ), known AS (
            UPDATE text_configuration SET entries = text_configuration.entries + step * part.entries
            FROM part
            WHERE text_configuration.generation_id = part.generation_id AND text_configuration.name = part.name
        )
        INSERT INTO text_configuration (generation_id, name, entries)
        SELECT generation_id, name, entries FROM part
        WHERE step > 0 AND NOT EXISTS (
            SELECT FROM text_configuration other
            WHERE other.generation_id = part.generation_id AND other.name = part.name);
    END IF;
    RETURN NULL;
END
$$;

-- Delete the weights of entries, and count those that are left in their blocks.
CREATE FUNCTION delete_weights() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF EXISTS (SELECT FROM changed) THEN
        WITH lost AS (
            DELETE FROM keyword_entry USING changed
            WHERE keyword_entry.generation_id = changed.generation_id AND keyword_entry.chunk_id = changed.chunk_id
            RETURNING keyword_entry.generation_id, keyword_entry.block
        )
        UPDATE keyword_block_size held SET entries = held.entries - lost.entries
        FROM (SELECT generation_id, block, count(*) AS entries FROM lost WHERE block IS NOT NULL GROUP BY 1, 2) lost
        WHERE held.generation_id = lost.generation_id AND held.block = lost.block;
    END IF;
    RETURN NULL;
END
$$;

-- Insert the weights of entries, whose lexemes are counted.
CREATE FUNCTION insert_weights() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    part record;
BEGIN
    FOR part IN SELECT generation_id, array_agg(chunk_id) AS chunks FROM changed GROUP BY 1 LOOP
        INSERT INTO keyword_entry (generation_id, chunk_id, length, weights)
        SELECT part.generation_id, chunk_id, length, weights FROM keyword_weights(part.generation_id, part.chunks);
    END LOOP;
    RETURN NULL;
END
$$;

-- Count distinct texts: those of which no other passage has an entry. The chunks of gone entries are deleted later.
CREATE FUNCTION count_texts() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    part record;
BEGIN
    FOR part IN SELECT generation_id, array_agg(chunk_id) AS chunks FROM changed GROUP BY 1 LOOP
        UPDATE generation SET text_count = text_count + TG_ARGV[0]::integer * (
            SELECT count(*)
            FROM (SELECT DISTINCT embedding_hash FROM chunk
                  WHERE id = ANY(part.chunks) AND embedding_hash IS NOT NULL) text
            WHERE (  -- with LIMIT, so that one entry is looked for and not all of them joined
                SELECT true FROM chunk other
                JOIN search_entry entry ON entry.generation_id = part.generation_id AND entry.chunk_id = other.id
                WHERE other.embedding_hash = text.embedding_hash AND other.generation_id = part.generation_id
                  AND other.id <> ALL(part.chunks)  -- of the array, which is hashed: `changed` would be scanned
                LIMIT 1) IS NULL)
        WHERE id = part.generation_id;
    END LOOP;
    RETURN NULL;
END
$$;

-- They run in the order of their names.
CREATE TRIGGER added_1_entries AFTER INSERT ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_entries('1');
CREATE TRIGGER added_2_lexemes AFTER INSERT ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_lexemes('1');
CREATE TRIGGER added_3_configurations AFTER INSERT ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_configurations('1');
CREATE TRIGGER added_4_weights AFTER INSERT ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION insert_weights();
CREATE TRIGGER added_5_texts AFTER INSERT ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_texts('1');

CREATE TRIGGER gone_1_entries AFTER DELETE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_entries('-1');
CREATE TRIGGER gone_2_lexemes AFTER DELETE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_lexemes('-1');
CREATE TRIGGER gone_3_configurations AFTER DELETE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_configurations('-1');
CREATE TRIGGER gone_4_weights AFTER DELETE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION delete_weights();
CREATE TRIGGER gone_5_texts AFTER DELETE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_texts('-1');

CREATE TRIGGER updated_1_entries_gone AFTER UPDATE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_entries('-1');
CREATE TRIGGER updated_2_entries_added AFTER UPDATE ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_entries('1');
CREATE TRIGGER updated_3_lexemes_gone AFTER UPDATE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_lexemes('-1');
CREATE TRIGGER updated_4_lexemes_added AFTER UPDATE ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_lexemes('1');
CREATE TRIGGER updated_5_configurations_gone AFTER UPDATE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_configurations('-1');
CREATE TRIGGER updated_6_configurations_added AFTER UPDATE ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_configurations('1');
CREATE TRIGGER updated_7_weights_gone AFTER UPDATE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION delete_weights();
CREATE TRIGGER updated_8_weights_added AFTER UPDATE ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION insert_weights();

-- Views of items: what sources have that becomes a document, and what became of it. Those of a checkout before 0.1.0 are
-- replaced as they are.

-- The pages that become documents: where several URLs of a site have equal content, the canonical URL, or else the one
-- that was found first; `also_at` lists the others.
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

-- The attachments of live messages; if a changed message cannot be read, the attachments of its last readable version.
CREATE OR REPLACE VIEW present_attachment AS
SELECT document.collection, document.uri || '/' || attachment.path AS uri, file.source_id, attachment.sha256,
    attachment.media_type, attachment.size, source.tags || file.tags AS tags, attachment.skip_reason, document.uri AS container, attachment.number
FROM attachment
JOIN document ON document.content_sha256 = attachment.container_sha256
             AND document.content_parser = attachment.container_parser
JOIN source ON source.collection = document.collection
JOIN raw_file file ON file.source_id = source.id AND file.uri = document.uri
WHERE file.removed_at IS NULL
  AND file.skip_reason IS NULL
  AND file.excluded_at IS NULL
  AND source.removed_at IS NULL;

-- The items of sources that become documents, without attachments. An item in two overlapping sources has two rows.
-- `format` selects the parser: the media type, `page` for an HTML page that a crawl has converted to Markdown, or
-- `transcript` for a recording. A document of another collection, which a membership rule takes, is one of `taken`: it
-- has the parsed content of that document, by `parser`.
CREATE OR REPLACE VIEW present_source_item AS
SELECT source.collection, raw_file.uri, raw_file.source_id, raw_file.sha256, raw_file.media_type, raw_file.size,
    source.tags || raw_file.tags AS tags, 'file' AS kind, raw_file.media_type AS format, NULL::jsonb AS metadata,
    NULL AS container, NULL::integer AS number, NULL AS parser
FROM raw_file
JOIN source ON source.id = raw_file.source_id
WHERE raw_file.removed_at IS NULL
  AND raw_file.sha256 IS NOT NULL
  AND raw_file.skip_reason IS NULL
  AND raw_file.excluded_at IS NULL
  AND source.removed_at IS NULL
  AND is_recording(raw_file.media_type) IS NOT TRUE
UNION ALL
SELECT source.collection, file.uri, file.source_id, transcribed.content_hash, file.media_type, file.size,
    source.tags || file.tags,
    'recording', 'transcript',
    recording.metadata || jsonb_strip_nulls(jsonb_build_object('language_probability', transcript.language_probability)),
    NULL, NULL, NULL
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
    metadata, NULL, NULL, NULL
FROM present_page
UNION ALL
SELECT rule.collection, document.uri, rule.id, document.content_sha256, document.media_type, 0, document.tags, document.kind,
    'taken', document.metadata, NULL, NULL, document.content_parser
FROM source rule
JOIN document ON document.collection = rule.location
WHERE rule.kind = 'collection'
  AND rule.removed_at IS NULL
  AND document.removed_at IS NULL
  AND document.content_hash IS NOT NULL
  AND takes_tags(rule.settings, document.tags);

-- The items of a collection that become documents, with the attachments of messages, one row for each URI: all of them,
-- or those at some URIs with the attachments there. The first source with an item provides it, and the collection's own
-- before those that it takes. In an object store an attachment and a file may have one URI: the file is chosen.
CREATE FUNCTION items_in(of_collection text, of_uris text[]) RETURNS SETOF present_source_item
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
          AND (of_uris IS NULL OR held.container = ANY(of_uris))
    ) item
    ORDER BY item.uri, item.parser IS NOT NULL, item.source_id, item.container NULLS FIRST
$$;

-- The state of each file and of each URL of a site that may be, or may have become, a document.
CREATE OR REPLACE VIEW source_item AS
SELECT file.source_id, file.uri, CASE WHEN is_recording(file.media_type) THEN 'recording' ELSE 'file' END AS kind,
    file.media_type, coalesce(file.failure, transcribed.failure) AS failure, file.skip_reason, file.excluded_at,
    greatest(file.attempts, transcribed.attempts) AS attempts,
    greatest(file.next_retry_at, transcribed.next_retry_at) AS next_retry_at,
    CASE WHEN file.failure IS NOT NULL THEN coalesce(file.failure_class, 'other')
         WHEN transcribed.failure IS NOT NULL THEN coalesce(transcribed.failure_class, 'other') END AS failure_class
FROM raw_file file
LEFT JOIN transcribed_file transcribed
    ON transcribed.source_id = file.source_id AND transcribed.uri = file.uri AND is_recording(file.media_type)
WHERE file.removed_at IS NULL
UNION ALL
SELECT frontier.source_id, frontier.url, 'page', page.media_type,
    CASE WHEN frontier.state = 'failed' THEN frontier.last_error END,
    CASE WHEN frontier.state = 'refused' THEN frontier.last_error END,
    page.excluded_at, frontier.attempts, frontier.next_attempt_at,
    CASE WHEN frontier.state = 'failed' THEN coalesce(frontier.failure_class, 'other') END
FROM frontier
LEFT JOIN crawled_page page ON page.source_id = frontier.source_id AND page.url = frontier.url
WHERE frontier.state IN ('failed', 'refused') OR page.excluded_at IS NOT NULL
UNION ALL
SELECT source_id, uri, 'file', media_type, NULL, skip_reason, NULL, 0, NULL, NULL
FROM present_attachment
WHERE skip_reason IS NOT NULL;

-- The items of `sourcebook documents`: documents, and files and pages that did not become one.
CREATE OR REPLACE VIEW item AS
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
    greatest(source_item.attempts, document.attempts) AS attempts,
    CASE WHEN document.removed_at IS NULL THEN coalesce(
        source_item.failure_class, CASE WHEN document.failure IS NOT NULL THEN coalesce(document.failure_class, 'other') END)
    END AS failure_class,
    -- A failed item that no time will try again.
    document.removed_at IS NULL AND coalesce(source_item.failure, document.failure) IS NOT NULL
        AND source_item.next_retry_at IS NULL AND document.next_retry_at IS NULL AS parked,
    document.removed_at
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
    coalesce(source_item.failure, source_item.skip_reason), source_item.next_retry_at, source_item.attempts,
    source_item.failure_class,
    source_item.excluded_at IS NULL AND source_item.failure IS NOT NULL AND source_item.next_retry_at IS NULL,
    source_item.excluded_at
FROM source_item
JOIN source ON source.id = source_item.source_id
WHERE source.removed_at IS NULL
  AND NOT EXISTS (
      SELECT FROM document
      WHERE document.collection = source.collection AND document.uri = source_item.uri
        AND (document.removed_at IS NULL OR source_item.excluded_at IS NOT NULL)
  );

-- What changed since a run compared it: marks and kept counts, by triggers on the ledger.

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
        WHERE (gone.sha256, gone.media_type, gone.skip_reason, gone.removed_at IS NULL, gone.excluded_at IS NULL, gone.tags)
            IS DISTINCT FROM
            (added.sha256, added.media_type, added.skip_reason, added.removed_at IS NULL, added.excluded_at IS NULL,
             added.tags)
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

-- Mark every item of a source that got other tags, left the configuration or returned to it, and the documents that a
-- new or changed membership rule takes or took.
CREATE FUNCTION follow_sources() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    PERFORM mark_items(array_agg(source_id), array_agg(uri)) FROM raw_file WHERE source_id = NEW.id;
    INSERT INTO changed_item (collection, uri) SELECT NEW.collection, url FROM crawled_page WHERE source_id = NEW.id;
    IF NEW.kind = 'collection' THEN
        INSERT INTO changed_item (collection, uri)
        SELECT NEW.collection, uri FROM document WHERE source_id = NEW.id AND removed_at IS NULL
        UNION
        SELECT NEW.collection, uri FROM document
        WHERE collection = NEW.location AND removed_at IS NULL AND content_hash IS NOT NULL AND NEW.removed_at IS NULL
          AND takes_tags(NEW.settings, tags);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER sources_follow AFTER UPDATE ON source
    FOR EACH ROW WHEN (OLD.tags IS DISTINCT FROM NEW.tags OR (OLD.removed_at IS NULL) <> (NEW.removed_at IS NULL)
        OR NEW.kind = 'collection' AND OLD.settings IS DISTINCT FROM NEW.settings)
    EXECUTE FUNCTION follow_sources();
CREATE TRIGGER rules_added AFTER INSERT ON source
    FOR EACH ROW WHEN (NEW.kind = 'collection') EXECUTE FUNCTION follow_sources();

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

-- Mark the documents of every collection whose parsed content was replaced by another one. An attachment is marked with
-- the messages and archives that hold it, in whichever folder of these it is.
CREATE FUNCTION follow_parsed_contents() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    INSERT INTO changed_item (collection, uri)
    SELECT held.collection, marked.uri
    FROM document held
    CROSS JOIN LATERAL (
        SELECT held.uri
        UNION ALL
        SELECT container.uri
        FROM (SELECT string_to_array(held.uri, '/') AS parts) AS split
        CROSS JOIN LATERAL generate_series(1, cardinality(parts) - 1) AS place
        JOIN document container
            ON container.collection = held.collection AND container.uri = array_to_string(parts[:place], '/')
        WHERE EXISTS (
            SELECT FROM attachment
            WHERE attachment.container_sha256 = container.content_sha256
              AND attachment.container_parser = container.content_parser)
    ) AS marked (uri)
    WHERE held.content_sha256 = NEW.sha256 AND held.content_parser = NEW.parser
      AND held.content_hash IS DISTINCT FROM NEW.content_hash;
    RETURN NULL;
END
$$;
CREATE TRIGGER contents_replaced AFTER UPDATE ON parsed_content
    FOR EACH ROW WHEN (OLD.content_hash IS DISTINCT FROM NEW.content_hash) EXECUTE FUNCTION follow_parsed_contents();

-- Mark the documents that a statement changed in each collection that takes them, or took them, by their tags.
CREATE FUNCTION follow_taken_documents() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM source WHERE kind = 'collection') THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' THEN
        INSERT INTO changed_item (collection, uri)
        SELECT rule.collection, added.uri
        FROM added JOIN source rule ON rule.kind = 'collection' AND rule.location = added.collection
        WHERE rule.removed_at IS NULL AND added.removed_at IS NULL AND added.content_hash IS NOT NULL
          AND takes_tags(rule.settings, added.tags);
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO changed_item (collection, uri)
        SELECT rule.collection, gone.uri
        FROM gone JOIN source rule ON rule.kind = 'collection' AND rule.location = gone.collection
        WHERE rule.removed_at IS NULL AND gone.removed_at IS NULL AND gone.content_hash IS NOT NULL
          AND takes_tags(rule.settings, gone.tags);
    ELSE
        INSERT INTO changed_item (collection, uri)
        SELECT DISTINCT rule.collection, held.uri
        FROM gone
        JOIN added ON added.id = gone.id
        CROSS JOIN LATERAL (VALUES
            (gone.collection, gone.uri, gone.tags, gone.removed_at, gone.content_hash),
            (added.collection, added.uri, added.tags, added.removed_at, added.content_hash)
        ) AS held (collection, uri, tags, removed_at, content_hash)
        JOIN source rule ON rule.kind = 'collection' AND rule.location = held.collection
        WHERE rule.removed_at IS NULL AND held.removed_at IS NULL AND held.content_hash IS NOT NULL
          AND takes_tags(rule.settings, held.tags)
          AND (gone.uri, gone.kind, gone.media_type, gone.tags, gone.metadata, gone.content_sha256, gone.content_parser,
               gone.removed_at IS NULL)
              IS DISTINCT FROM
              (added.uri, added.kind, added.media_type, added.tags, added.metadata, added.content_sha256,
               added.content_parser, added.removed_at IS NULL);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER taken_added AFTER INSERT ON document REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION follow_taken_documents();
CREATE TRIGGER taken_changed AFTER UPDATE ON document REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION follow_taken_documents();
CREATE TRIGGER taken_gone AFTER DELETE ON document REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION follow_taken_documents();

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

-- The proof. Sums over what each transaction of the library published are kept beside it, and a statement of anybody else
-- leaves a mark: while there is no mark, and the tables are stored where they were, the sums need not be compared.

-- Marks of statements that were not the library's, one for each collection; a run deletes those that it read once
-- everything is compared.
CREATE TABLE foreign_change (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL,
    relation text NOT NULL,              -- the table, or the partition
    operation text NOT NULL,
    compared boolean NOT NULL DEFAULT false,  -- whether sources, inventory and documents were compared since
    made_by text NOT NULL DEFAULT session_user,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX foreign_change_collection ON foreign_change (collection);

-- Digests of rows. The functions that hash a record are those of hash partitions, which no version of PostgreSQL changes.
-- JSON is hashed as it is sent: its own hash takes an empty object and an empty array for equal.
CREATE FUNCTION chunk_seal(held chunk) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN held.parts IS NULL THEN hash_record_extended(ROW(
    held.ordinal, held.text, held.context, held.heading_path, held.anchor, held.page, held.start_char, held.end_char,
    held.token_count, held.hash, held.embedding_hash, held.start_seconds, held.end_seconds), 0)
ELSE hash_record_extended(ROW(
    held.ordinal, held.text, held.context, held.heading_path, held.anchor, held.page, held.start_char, held.end_char,
    held.token_count, held.hash, held.embedding_hash, held.start_seconds, held.end_seconds, held.parts), 0) END;

CREATE FUNCTION entry_seal(held search_entry, passage chunk) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    chunk_seal(passage), halfvec_send(held.vector), tsvectorsend(held.lexemes), held.configuration), 0);

CREATE FUNCTION embedding_seal(held embedding) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(held.model, held.text_hash, halfvec_send(held.vector)), 0);

CREATE FUNCTION keyword_entry_seal(held keyword_entry) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(held.chunk_id, held.length, sparsevec_send(held.weights), held.block, held.slot), 0);

CREATE FUNCTION keyword_block_seal(held keyword_block) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(held.lexeme_id, held.block, sparsevec_send(held.weights)), 0);

CREATE FUNCTION indexed_document_seal(held indexed_document) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.generation_id, held.document_id, held.input_hash, held.config_hash, held.chunk_count, held.published_hash,
    held.published_config, held.published_version, held.published_title, held.published_language, held.published_at,
    held.uncovered, held.prepared_digest, held.published_chunks, held.published_digest), 0);

CREATE FUNCTION raw_file_seal(held raw_file) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.source_id, held.uri, held.size, held.modified, held.sha256, held.media_type, held.skip_reason, held.failure), 0);

CREATE FUNCTION parsed_content_seal(held parsed_content) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.sha256, held.parser, held.markdown, jsonb_send(held.blocks), held.title, held.page_count, held.language,
    jsonb_send(held.metadata), held.content_hash, held.nothing_to_read), 0);

CREATE FUNCTION document_seal(held document) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN held.given_tags IS NULL THEN hash_record_extended(ROW(
    held.id, held.collection, held.source_id, held.uri, held.kind, held.media_type, held.tags, held.title, held.language,
    jsonb_send(held.metadata), held.input_hash, held.config_hash, held.content_sha256, held.content_parser,
    held.content_hash, held.version), 0)
ELSE hash_record_extended(ROW(
    held.id, held.collection, held.source_id, held.uri, held.kind, held.media_type, held.tags, held.title, held.language,
    jsonb_send(held.metadata), held.input_hash, held.config_hash, held.content_sha256, held.content_parser,
    held.content_hash, held.version, held.given_tags, jsonb_send(held.given_metadata), held.own_tags,
    jsonb_send(held.own_metadata)), 0) END;

CREATE FUNCTION attachment_seal(held attachment) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.container_sha256, held.container_parser, held.number, held.path, held.media_type, held.size, held.sha256,
    held.skip_reason), 0);

CREATE FUNCTION crawled_page_seal(held crawled_page) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.source_id, held.url, held.status, held.media_type, held.title, held.language, jsonb_send(held.metadata),
    held.canonical_url, held.content, held.size, held.sha256, held.links, held.rendered, held.parser, held.removed_at IS NULL), 0);

CREATE FUNCTION recording_seal(held recording) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.sha256, held.sound_sha256, held.duration, held.title, jsonb_send(held.metadata)), 0);

CREATE FUNCTION transcript_seal(held transcript) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.sound_sha256, held.engine, held.language, held.language_probability, held.windows), 0);

CREATE FUNCTION transcript_window_seal(held transcript_window) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.sound_sha256, held.engine, held.starts_at, held.ends_at, jsonb_send(held.segments)), 0);

CREATE FUNCTION transcribed_file_seal(held transcribed_file) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW(
    held.source_id, held.uri, held.sha256, held.sound_sha256, held.engine, held.content_hash), 0);

-- Whether a message has the attachments that were found in it.
CREATE FUNCTION attachments_are_whole(held parsed_content) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT count(*) = coalesce(held.attachments, count(*))
           AND coalesce(bool_and(part.seal IS NOT DISTINCT FROM attachment_seal(part)), true)
    FROM attachment part
    WHERE part.container_sha256 = held.sha256 AND part.container_parser = held.parser);

-- Whether a transcript is the one that was made, as far as it goes.
CREATE FUNCTION transcript_is_whole(held transcript) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT held.seal IS NOT DISTINCT FROM transcript_seal(held)
           AND count(*) = coalesce(held.windows, count(*))
           AND coalesce(bool_and(part.seal IS NOT DISTINCT FROM transcript_window_seal(part)), true)
    FROM transcript_window part
    WHERE part.sound_sha256 = held.sound_sha256 AND part.engine = held.engine);

-- Seal rows that the library writes into tables of what was read from sources.
CREATE FUNCTION seal_source_row() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_ARGV[0] = 'attachment' THEN
        NEW.seal := attachment_seal(NEW);
    ELSIF TG_ARGV[0] = 'crawled_page' THEN
        NEW.seal := crawled_page_seal(NEW);
    ELSIF TG_ARGV[0] = 'recording' THEN
        NEW.seal := recording_seal(NEW);
    ELSIF TG_ARGV[0] = 'transcript' THEN
        NEW.seal := transcript_seal(NEW);
    ELSIF TG_ARGV[0] = 'transcript_window' THEN
        NEW.seal := transcript_window_seal(NEW);
    ELSE
        NEW.seal := transcribed_file_seal(NEW);
    END IF;
    RETURN NEW;
END
$$;

-- Seal rows that the library writes. A row that anybody else changes keeps its old seal, which no longer fits.
CREATE FUNCTION seal_row() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_ARGV[0] = 'embedding' THEN
        NEW.seal := embedding_seal(NEW);
    ELSIF TG_ARGV[0] = 'keyword_entry' THEN
        NEW.seal := keyword_entry_seal(NEW);
    ELSIF TG_ARGV[0] = 'raw_file' THEN
        NEW.seal := raw_file_seal(NEW);
    ELSIF TG_ARGV[0] = 'parsed_content' THEN
        NEW.seal := parsed_content_seal(NEW);
    ELSIF TG_ARGV[0] = 'document' THEN
        NEW.seal := document_seal(NEW);
    ELSE
        NEW.seal := indexed_document_seal(NEW);
    END IF;
    RETURN NEW;
END
$$;

-- Mark a statement that is not the library's. A function that runs as its owner has the schema of temporary tables last:
-- else a table of the session would come before the one that is meant.
CREATE FUNCTION note_foreign_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = sourcebook, public, pg_temp
AS $$
BEGIN
    INSERT INTO foreign_change (collection, relation, operation) SELECT name, TG_TABLE_NAME, TG_OP FROM collection;
    RETURN NULL;
END
$$;

-- Whether this session is one of the library's connections.
CREATE FUNCTION is_library() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN current_setting('sourcebook.writer', true) IS NOT DISTINCT FROM 'library';

-- Mark the statements on a table that are not the library's; those of triggers and cascades follow from a marked one.
CREATE FUNCTION watch_table(watched regclass) RETURNS void
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    EXECUTE format(
        'CREATE TRIGGER foreign_changes AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s FOR EACH STATEMENT '
        'WHEN (pg_trigger_depth() = 0 AND NOT is_library()) EXECUTE FUNCTION note_foreign_change()', watched);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER foreign_changes', watched);
END
$$;

-- A digest of where the tables of a generation are stored, and of the triggers that watch them: another one after a
-- restore, after TRUNCATE, and after a trigger was disabled and enabled again.
CREATE FUNCTION storage_identity(of_generation bigint) RETURNS text
LANGUAGE sql STABLE
RETURN (
    SELECT md5((SELECT oid FROM pg_database WHERE datname = current_database())::text
        || string_agg(concat_ws(' ', held.oid, held.relfilenode, watch.oid, watch.xmin, watch.tgenabled), ',' ORDER BY held.oid))
    FROM pg_class held JOIN pg_trigger watch ON watch.tgrelid = held.oid AND watch.tgname = 'foreign_changes'
    WHERE held.relnamespace = 'sourcebook'::regnamespace
      AND (held.relname !~ '_[0-9]+$'  -- partitions, attached or not
           OR held.relname IN ('search_entry_' || of_generation, 'keyword_entry_' || of_generation)));

SELECT watch_table(name::regclass) FROM unnest(ARRAY[
    'collection', 'source', 'raw_file', 'listed_folder', 'parsed_content', 'crawled_page', 'recording', 'transcript',
    'transcript_window', 'transcribed_file', 'attachment', 'document', 'tally', 'changed_item', 'changed_document',
    'generation', 'chunk', 'indexed_document', 'embedding', 'search_entry', 'text_configuration', 'lexeme',
    'keyword_entry', 'keyword_block', 'keyword_block_size']) AS name;

-- A statement that writes none of the sealed columns leaves the seal, and so the damage of the row, as it is.
CREATE TRIGGER raw_files_sealed BEFORE INSERT OR UPDATE OF
    source_id, uri, size, modified, sha256, media_type, skip_reason, failure
    ON raw_file FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('raw_file');
CREATE TRIGGER parsed_contents_sealed BEFORE INSERT OR UPDATE ON parsed_content
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('parsed_content');
CREATE TRIGGER documents_sealed BEFORE INSERT OR UPDATE OF
    id, collection, source_id, uri, kind, media_type, tags, title, language, metadata, input_hash, config_hash,
    content_sha256, content_parser, content_hash, version, given_tags, given_metadata, own_tags, own_metadata
    ON document FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('document');
CREATE TRIGGER embeddings_sealed BEFORE INSERT OR UPDATE ON embedding
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('embedding');
CREATE TRIGGER keyword_entries_sealed BEFORE INSERT OR UPDATE ON keyword_entry
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('keyword_entry');
CREATE TRIGGER indexed_documents_sealed BEFORE INSERT OR UPDATE ON indexed_document
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_row('indexed_document');
CREATE TRIGGER attachments_sealed BEFORE INSERT OR UPDATE ON attachment
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('attachment');
CREATE TRIGGER pages_sealed BEFORE INSERT OR UPDATE OF
    status, media_type, title, language, metadata, canonical_url, content, size, sha256, links, rendered, parser, removed_at
    ON crawled_page FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('crawled_page');
CREATE TRIGGER recordings_sealed BEFORE INSERT OR UPDATE ON recording
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('recording');
CREATE TRIGGER transcripts_sealed BEFORE INSERT OR UPDATE ON transcript
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('transcript');
CREATE TRIGGER transcript_windows_sealed BEFORE INSERT OR UPDATE ON transcript_window
    FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('transcript_window');
CREATE TRIGGER transcribed_files_sealed BEFORE INSERT OR UPDATE OF sha256, sound_sha256, engine, content_hash
    ON transcribed_file FOR EACH ROW WHEN (is_library()) EXECUTE FUNCTION seal_source_row('transcribed_file');

-- Let the next crawl of the sites whose URLs a statement changed that is not the library's find them again.
CREATE FUNCTION distrust_urls() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = sourcebook, public, pg_temp
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE source SET crawl_scope = '' WHERE crawl_scope <> '' AND id IN (SELECT source_id FROM added);
    ELSIF TG_OP = 'DELETE' THEN
        UPDATE source SET crawl_scope = '' WHERE crawl_scope <> '' AND id IN (SELECT source_id FROM gone);
    ELSIF TG_OP = 'UPDATE' THEN
        UPDATE source SET crawl_scope = ''
        WHERE crawl_scope <> '' AND id IN (SELECT source_id FROM gone UNION ALL SELECT source_id FROM added);
    ELSE
        UPDATE source SET crawl_scope = '' WHERE crawl_scope <> '';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER urls_added_by_others AFTER INSERT ON frontier REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 AND NOT is_library()) EXECUTE FUNCTION distrust_urls();
CREATE TRIGGER urls_changed_by_others AFTER UPDATE ON frontier REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 AND NOT is_library()) EXECUTE FUNCTION distrust_urls();
CREATE TRIGGER urls_deleted_by_others AFTER DELETE ON frontier REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 AND NOT is_library()) EXECUTE FUNCTION distrust_urls();
CREATE TRIGGER urls_emptied_by_others AFTER TRUNCATE ON frontier
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 AND NOT is_library()) EXECUTE FUNCTION distrust_urls();
ALTER TABLE frontier ENABLE ALWAYS TRIGGER urls_added_by_others;
ALTER TABLE frontier ENABLE ALWAYS TRIGGER urls_changed_by_others;
ALTER TABLE frontier ENABLE ALWAYS TRIGGER urls_deleted_by_others;
ALTER TABLE frontier ENABLE ALWAYS TRIGGER urls_emptied_by_others;

-- Work and its records: runs, requests, keys, logs, figures, limits of providers, retries and shards.

-- Small changes that are done and not yet recorded as runs of Dagster.
CREATE TABLE finished_run (
    run_id uuid PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    reports jsonb NOT NULL,            -- reports of the stages by asset
    outcomes jsonb NOT NULL,           -- outcomes of the checks
    finished_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempts smallint NOT NULL DEFAULT 0,
    error text                         -- reason why the last attempt to record it failed
);

-- The last evaluation of a collection on its judged questions: an unchanged index is not evaluated again.
CREATE TABLE evaluation_outcome (
    collection text PRIMARY KEY REFERENCES collection (name) ON DELETE CASCADE,
    version text NOT NULL,             -- digest over everything that decides the result
    passed boolean NOT NULL,
    description text NOT NULL,
    figures jsonb NOT NULL,
    evaluated_at timestamptz NOT NULL DEFAULT now()
);

-- Judgments that people record while they search: the questions of an evaluation without files.
CREATE TABLE judgment (
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    query text NOT NULL,
    uri text NOT NULL,                 -- of the judged document
    grade integer NOT NULL,            -- above 0: relevant, the higher the more
    judged_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (collection, query, uri)
);

-- The query log: searches of collections with the setting `retention.queries`, for that long.
CREATE TABLE logged_query (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    query text NOT NULL,               -- without addresses, long numbers and keys
    results integer NOT NULL,          -- passages on the first page, of all searched collections
    asked_at timestamptz NOT NULL
);
CREATE INDEX logged_query_asked_at ON logged_query (collection, asked_at);

-- The log of language models: requests of `sourcebook ask` over collections with `answering.log`, and imported ones.
CREATE TABLE llm_call (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session text NOT NULL,             -- one question, or one conversation of an imported log
    turn integer NOT NULL,             -- counted from 1
    origin text NOT NULL,              -- ask, or import
    imported_id text UNIQUE,           -- id in the log that it was imported from
    collections text[] NOT NULL,       -- collections that were asked; none of an imported one
    provider text NOT NULL,            -- name or host of the service
    model text NOT NULL,
    prompt text NOT NULL,              -- messages that this turn added; redacted
    answer text NOT NULL,              -- redacted
    prompt_tokens bigint,              -- null where nobody counted them, as of the following two
    answer_tokens bigint,
    cost double precision,             -- US dollars; null where unknown
    ok boolean NOT NULL,
    failure text,                      -- sentence where there was no answer
    redacted boolean NOT NULL,         -- whether something was replaced by a placeholder
    seconds double precision,
    asked_at timestamptz NOT NULL,
    expires_at timestamptz             -- null: kept until it is deleted by hand
);
CREATE INDEX llm_call_asked_at ON llm_call (asked_at);
CREATE INDEX llm_call_session ON llm_call (session);
CREATE INDEX llm_call_expires_at ON llm_call (expires_at) WHERE expires_at IS NOT NULL;

-- Keys of programs, agents and people that reach the knowledge base over a network; of a key only its SHA-256.
CREATE TABLE access_key (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,                -- what a person calls it
    beginning text NOT NULL,           -- first characters of the key, by which a person recognises it
    sha256 bytea NOT NULL UNIQUE,
    scopes text[] NOT NULL,            -- read, write, admin, unredacted
    collections text[],                -- names of the only collections that it sees; null: every collection
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    used_at timestamptz,               -- last use, to the minute
    revoked_at timestamptz,
    requests_a_minute integer CHECK (requests_a_minute > 0),  -- null: the limit of the server
    CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'write', 'admin', 'unredacted'])
);
-- Two living keys have different names.
CREATE UNIQUE INDEX access_key_name ON access_key (name) WHERE revoked_at IS NULL;

-- What was changed through a key, the command or a page, by whom and when. Rows outlive the keys.
CREATE TABLE audit_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    happened_at timestamptz NOT NULL,
    actor text NOT NULL,               -- `key NAME`, or the account of the operating system
    action text NOT NULL,              -- such as key.create
    subject text NOT NULL,             -- what it was done to
    details jsonb NOT NULL
);
CREATE INDEX audit_event_happened_at ON audit_event (happened_at);

-- Answers to requests that were sent with an Idempotency-Key: the same request again is answered with the same answer.
CREATE TABLE idempotent_answer (
    caller text NOT NULL,              -- `key` and its id, or `local caller`
    key text NOT NULL,                 -- the caller's own name of the request
    request text NOT NULL,             -- method, path and query
    body_sha256 bytea NOT NULL,
    claim uuid NOT NULL,               -- the attempt that may write the answer
    asked_at timestamptz NOT NULL DEFAULT now(),
    status integer,                    -- of the answer; null as long as the request runs
    headers jsonb,                     -- those that matter
    body bytea,
    PRIMARY KEY (caller, key)
);
CREATE INDEX idempotent_answer_asked_at ON idempotent_answer (asked_at);

-- Work that a person, a program or an agent asked for: one row a request, which every face reads.
CREATE TABLE work_request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    kind text NOT NULL,                -- sync
    arguments jsonb NOT NULL,          -- the part of the collection, as a selection
    idempotency_key text,              -- the asker's own; the same one again is the same request
    state text NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'running', 'succeeded', 'failed', 'cancelled')),
    stage text,                        -- name of the asset that works now, or worked last
    done bigint NOT NULL DEFAULT 0,    -- items of that stage: done, known so far, failed
    total bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    error text,                        -- reason of a failed request
    run_id text,                       -- the Dagster run that does it
    worker text,                       -- host and process that does it
    asked_by text NOT NULL,            -- `key NAME`, or the account of the operating system
    cancel_asked boolean NOT NULL DEFAULT false,
    revision bigint NOT NULL DEFAULT 1,  -- number of the last change, from 1
    asked_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    changed_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    attempts integer NOT NULL DEFAULT 0  -- times that a worker has taken it
);
CREATE UNIQUE INDEX work_request_idempotency ON work_request (asked_by, collection, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX work_request_open ON work_request (id) WHERE state IN ('waiting', 'running');
CREATE INDEX work_request_collection ON work_request (collection, id);

-- Count a change of a request, and tell those who listen on the channel sourcebook_work its id.
CREATE FUNCTION note_work_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        NEW.revision := OLD.revision + 1;
        NEW.changed_at := now();
    END IF;
    PERFORM pg_notify('sourcebook_work', NEW.id::text);
    RETURN NEW;
END
$$;
CREATE TRIGGER work_request_noted BEFORE INSERT OR UPDATE ON work_request
    FOR EACH ROW EXECUTE FUNCTION note_work_request();

-- Totals that processes have counted: searches, embedded tokens, cache hits. A histogram has a row for each bucket.
CREATE TABLE measurement (
    name text NOT NULL,                -- metric without its prefix
    labels text NOT NULL,              -- values in the order of the metric's labels, joined by tabs
    part text NOT NULL,                -- `total`, `sum`, or the upper bound of a bucket
    total double precision NOT NULL,
    PRIMARY KEY (name, labels, part)
) WITH (fillfactor = 50);

-- Use of models by day in UTC; of a collection that was purged, too, as what was spent stays spent.
CREATE TABLE usage (
    day date NOT NULL,
    collection text NOT NULL,          -- its name; no reference: it may have been purged
    provider text NOT NULL,            -- `local`, or the name or the host of a service
    model text NOT NULL,
    operation text NOT NULL,           -- embed_passages, embed_query, embed_sentences, rerank, transcribe, answer
    texts bigint NOT NULL,             -- asked for; cached ones included
    cached bigint NOT NULL,            -- of these, answered by a cache
    tokens bigint,                     -- that the model read; NULL: nobody counted them all
    seconds double precision NOT NULL, -- that the model took
    sound_seconds double precision NOT NULL DEFAULT 0,  -- that the model heard
    processor_seconds double precision,  -- that the model took of processors; NULL: nobody measured it
    answer_tokens bigint DEFAULT 0,    -- that the model wrote; NULL: nobody counted them all
    PRIMARY KEY (day, collection, provider, model, operation)
) WITH (fillfactor = 50);

-- The items that a stage works on now; a crawl has one row, for its site. A row counts while the session that wrote it
-- lives. Unlogged: nothing of it outlives the server.
CREATE UNLOGGED TABLE processing (
    collection text NOT NULL,
    stage text NOT NULL,
    uri text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    process text NOT NULL,             -- host and id of the process
    run text,                          -- Dagster's run
    backend integer NOT NULL,          -- session: its process in the server, with the time of its start
    backend_start timestamptz,
    PRIMARY KEY (collection, stage, uri)
);

-- The nights on which retention looked for old rows: by the clock alone, one that is ahead makes everything old.
CREATE TABLE retention_night (
    night date PRIMARY KEY
);

-- The last comparison of each collection with its sources.
CREATE TABLE freshness (
    collection text PRIMARY KEY REFERENCES collection (name) ON DELETE CASCADE,
    compared_at timestamptz NOT NULL,
    behind_since timestamptz           -- first comparison that found the oldest waiting change; NULL where none waits
) WITH (fillfactor = 50);

-- Whether a time is due: it is past, or further ahead than the longest wait, as a clock that was wrong has recorded it.
-- Retries and pauses that a site asks for end within 24 hours; an hour more allows for a clock that is a little slow.
CREATE FUNCTION is_due(moment timestamptz, longest interval DEFAULT '24 hours') RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT moment <= now() OR moment > now() + longest + interval '1 hour' $$;

-- Whether the next crawl of a site is due: after its `refresh` in seconds, or after a pause; NULL before the first one.
CREATE FUNCTION crawl_is_due(site source) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT is_due(site.next_crawl_at, interval '24 hours'
        + make_interval(secs => coalesce((site.settings ->> 'refresh')::double precision, 86400)))
$$;

-- The time of the next attempt after an attempt that failed: 1, 2, 4 … minutes later, at most a day; with `at_once` the
-- first retry follows at once. NULL parks the item: after `most` attempts in a row, or after those that the collection's
-- setting `retries.attempts` allows.
CREATE FUNCTION next_retry(of_collection text, attempt integer, most integer DEFAULT NULL, at_once boolean DEFAULT false)
RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN attempt >= least(most, coalesce(
            (SELECT (settings #>> '{retries,attempts}')::integer FROM sourcebook.collection WHERE name = of_collection), 15))
            THEN NULL
        WHEN at_once AND attempt = 1 THEN now()
        ELSE now() + least(
            interval '1 minute' * power(2, least(attempt - 1 - at_once::integer, 20)), interval '24 hours')
    END
$$;

-- Stages that did work, with its amount: the past runs from which a plan forecasts the next one.
CREATE TABLE stage_run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    machine text NOT NULL,             -- host name
    stage text NOT NULL,               -- an asset; `run` for the time of a run outside its stages
    kind text NOT NULL,                -- of `embeddings` the model; of `run` how it was executed; else empty
    work double precision NOT NULL,    -- seconds at built-in rates
    seconds double precision NOT NULL, -- seconds that it took
    finished_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX stage_run_kind ON stage_run (machine, stage, kind, id);

-- Models of providers: the vector of a fixed text shows whether a provider still answers with the same model.
CREATE TABLE provider_model (
    identity text PRIMARY KEY,         -- as generation.model, up to the slash
    model text NOT NULL,               -- the provider's name of it
    settings jsonb NOT NULL,           -- settings that its vectors depend on
    probe real[] NOT NULL,             -- vector of the fixed text, of length 1
    first_used_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX provider_model_model ON provider_model (model);
-- Requests to providers with limits a minute; a row is deleted a minute after its request has ended.
CREATE TABLE provider_request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider text NOT NULL,            -- address of the server and name of the key's variable
    collection text NOT NULL,
    tokens bigint NOT NULL,            -- the most it can have until the provider has counted them
    taken_at timestamptz NOT NULL,
    ended_at timestamptz               -- NULL while it goes on
);
CREATE INDEX provider_request_provider ON provider_request (provider, ended_at);

-- Let a request begin, or return the seconds until it may. A request counts from its beginning until a minute after its
-- end: the provider has counted it at some moment in between, so that no minute of the provider's holds more.
CREATE FUNCTION take_provider_request(
    of_provider text, of_collection text, wanted bigint,
    requests_limit bigint, tokens_limit bigint, collection_requests_limit bigint, collection_tokens_limit bigint,
    OUT request_id bigint, OUT seconds float8)
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    present timestamptz;
    reserved bigint := least(wanted, tokens_limit, collection_tokens_limit);
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('provider ' || of_provider, 0));
    present := clock_timestamp();
    UPDATE provider_request known
    SET taken_at = least(known.taken_at, present), ended_at = least(known.ended_at, present)
    WHERE known.provider = of_provider
      AND (known.taken_at > present OR known.ended_at > present);  -- the clock was set back
    DELETE FROM provider_request known
    WHERE known.provider = of_provider
      AND (known.ended_at < present - interval '1 minute'
           OR known.ended_at IS NULL AND known.taken_at < present - interval '15 minutes');  -- its process was killed
    WITH counted AS (
        SELECT known.id, known.ended_at,
               count(*) OVER latest AS requests, sum(known.tokens) OVER latest AS tokens,
               count(*) FILTER (WHERE known.collection = of_collection) OVER latest AS own_requests,
               coalesce(sum(known.tokens) FILTER (WHERE known.collection = of_collection) OVER latest, 0) AS own_tokens
        FROM provider_request known
        WHERE known.provider = of_provider
        WINDOW latest AS (ORDER BY known.ended_at DESC NULLS FIRST, known.id ROWS UNBOUNDED PRECEDING)
    )
    -- The request has to wait for the latest of the others with which a limit would be passed.
    SELECT CASE WHEN ended_at IS NULL THEN 0.2
                ELSE greatest(extract(epoch FROM ended_at - present) + 60.001, 0.001) END
    INTO seconds
    FROM counted
    WHERE requests + 1 > requests_limit OR tokens + reserved > tokens_limit
       OR own_requests + 1 > collection_requests_limit OR own_tokens + reserved > collection_tokens_limit
    ORDER BY ended_at DESC NULLS FIRST, id
    LIMIT 1;
    IF seconds IS NULL THEN
        seconds := 0;
        INSERT INTO provider_request AS request (provider, collection, tokens, taken_at)
        VALUES (of_provider, of_collection, reserved, present)
        RETURNING request.id INTO request_id;
    END IF;
END
$$;

-- Shards: parts of a collection that several workers bring up to date at once. An item's shard follows from its URI
-- alone, by functions that are evaluated where a collection has several shards: no row is rewritten.

-- The bucket of a URI, from 0 to 4095. Everything of a web host is in one bucket. `bucket_of` in the library agrees.
-- A call costs a microsecond as part of a statement, and fifty of them on its own: so it is one expression, no query, and
-- no more strictly immutable than `convert_to`.
CREATE FUNCTION item_bucket(uri text) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN ('x' || substr(encode(sha256(convert_to(
    coalesce('//' || lower(substring(uri FROM '^https?://([^/?#]*)')), uri), 'UTF8')), 'hex'), 1, 3))::bit(12)::integer;

-- The item that decides on the shard of an item: an attachment is where its message or archive is.
CREATE FUNCTION root_item(of_collection text, uri text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN EXISTS (SELECT FROM attachment) AND uri !~ '^https?://' THEN coalesce((
    SELECT container.uri
    FROM (SELECT string_to_array(uri, '/') AS parts) AS split
    CROSS JOIN LATERAL generate_series(1, cardinality(parts) - 1) AS place
    JOIN document container
        ON container.collection = of_collection AND container.uri = array_to_string(parts[:place], '/')
    WHERE EXISTS (
        SELECT FROM attachment
        WHERE attachment.container_sha256 = container.content_sha256
          AND attachment.container_parser = container.content_parser
          AND attachment.path = array_to_string(parts[place + 1:], '/'))
    ORDER BY place LIMIT 1), uri) ELSE uri END;

-- The attachments of a collection with the items that decide on their shards, as `root_item` does for one of them.
CREATE FUNCTION attachment_roots(of_collection text) RETURNS TABLE (uri text, root text)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT DISTINCT ON (1) container.uri || '/' || attachment.path, container.uri
    FROM attachment
    JOIN document container
        ON container.content_sha256 = attachment.container_sha256
        AND container.content_parser = attachment.container_parser
    WHERE container.collection = of_collection AND container.uri !~ '^https?://'
    ORDER BY 1, length(container.uri)
$$;

-- Settled states of the shards of a collection, by the number of shards that it had. What every shard has settled is
-- the collection's, and its rows here are deleted.
CREATE TABLE shard_state (
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    shards integer NOT NULL,
    shard integer NOT NULL,
    compared_with text,                -- as collection.compared_with
    checked_at timestamptz,            -- as collection.checked_at
    foreign_mark bigint,               -- newest foreign_change whose consequences were looked for
    PRIMARY KEY (collection, shards, shard)
);

-- Shards whose unmarked documents are published in a generation; see generation.prepared_with.
CREATE TABLE shard_preparation (
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    shards integer NOT NULL,
    shard integer NOT NULL,
    prepared_with text NOT NULL,
    PRIMARY KEY (generation_id, shards, shard)
);

-- Listings of a source by the workers of its shards: each may be on another machine. The source has the oldest time and
-- the first error of them.
CREATE TABLE shard_listing (
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    shards integer NOT NULL,
    shard integer NOT NULL,
    listed_at timestamptz,
    error text,
    error_class text,
    PRIMARY KEY (source_id, shards, shard)
);

INSERT INTO schema_migration (version, name) VALUES (1, '0.1.0');

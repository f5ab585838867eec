-- The ledger: collections, sources, raw files, parsed contents, documents.

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
    kind text NOT NULL CHECK (kind IN ('files')),
    location text NOT NULL,
    include text[] NOT NULL,
    exclude text[] NOT NULL,
    tags text[] NOT NULL,
    max_bytes bigint NOT NULL,
    listed_at timestamptz,
    listing_error text,
    removed_at timestamptz,
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
    PRIMARY KEY (sha256, parser)
);

CREATE TABLE document (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    uri text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('file')),
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

-- The files that ought to be documents now. A file that two overlapping sources hold is there twice.
CREATE VIEW present_file AS
SELECT source.collection, raw_file.uri, raw_file.source_id, raw_file.sha256, raw_file.media_type, raw_file.size,
    source.tags
FROM raw_file
JOIN source ON source.id = raw_file.source_id
WHERE raw_file.removed_at IS NULL
  AND raw_file.sha256 IS NOT NULL
  AND raw_file.skip_reason IS NULL
  AND raw_file.excluded_at IS NULL
  AND source.removed_at IS NULL;

-- The same, one row a collection and URI: the first source that holds a file provides it.
CREATE VIEW live_file AS
SELECT DISTINCT ON (collection, uri) * FROM present_file ORDER BY collection, uri, source_id;

-- The index: generations, chunks, embeddings, search entries, and what a person may ask about.

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
    embedding_hash bytea NOT NULL      -- sha256 of context and text as embedded
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

-- Everything a person may ask about: documents, and files that did not become one.
CREATE VIEW item AS
SELECT
    document.id AS document_id, document.collection, document.source_id, document.uri, document.title, document.kind,
    document.media_type, document.language, document.version, document.tags,
    CASE
        WHEN document.removed_at IS NOT NULL THEN 'removed'
        WHEN raw_file.failure IS NOT NULL OR document.failure IS NOT NULL THEN 'failed'
        WHEN document.skip_reason IS NOT NULL THEN 'skipped'
        WHEN indexed.published_hash = document.content_hash THEN 'ready'
        ELSE 'pending'
    END AS state,
    coalesce(raw_file.failure, document.failure, document.skip_reason) AS error,
    greatest(raw_file.next_retry_at, document.next_retry_at) AS next_retry_at,
    greatest(raw_file.attempts, document.attempts) AS attempts
FROM document
JOIN collection ON collection.name = document.collection
LEFT JOIN raw_file ON raw_file.source_id = document.source_id AND raw_file.uri = document.uri
LEFT JOIN indexed_document indexed
    ON indexed.document_id = document.id AND indexed.generation_id = collection.active_generation_id
UNION ALL
SELECT
    NULL, source.collection, raw_file.source_id, raw_file.uri, NULL, 'file', raw_file.media_type, NULL, 0, source.tags,
    CASE
        WHEN raw_file.excluded_at IS NOT NULL THEN 'removed'
        WHEN raw_file.failure IS NOT NULL THEN 'failed'
        WHEN raw_file.skip_reason IS NOT NULL THEN 'skipped'
        ELSE 'pending'
    END,
    coalesce(raw_file.failure, raw_file.skip_reason), raw_file.next_retry_at, raw_file.attempts
FROM raw_file
JOIN source ON source.id = raw_file.source_id
WHERE raw_file.removed_at IS NULL
  AND source.removed_at IS NULL
  AND NOT EXISTS (
      SELECT FROM document
      WHERE document.collection = source.collection AND document.uri = raw_file.uri
        AND (document.removed_at IS NULL OR raw_file.excluded_at IS NOT NULL)
  );

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

-- The lexemes of a text in their order, with spaces between them; a hyphen parts words.
CREATE FUNCTION lexemes_in_order(configuration regconfig, content text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = sourcebook, public
RETURN (
    SELECT coalesce(string_agg(lexeme, ' ' ORDER BY place, lexeme), '')
    FROM query_lexemes(configuration, translate(content, '-‐‑', '   ')) WHERE NOT is_further);

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
    failure text,                      -- reason why the prepared chunks cannot be stored, embedded or published
    failure_class text,                -- class of the failure
    awaits_vectors boolean NOT NULL DEFAULT false,  -- entries have no vector yet, and the keyword leg alone finds them
    words_version integer,             -- words_version() that the lexemes of its entries were made with
    PRIMARY KEY (generation_id, document_id)
);
CREATE INDEX indexed_document_failed ON indexed_document (generation_id) WHERE failure IS NOT NULL;
CREATE INDEX indexed_document_awaiting ON indexed_document (generation_id, document_id) WHERE awaits_vectors;
CREATE INDEX indexed_document_damaged ON indexed_document (generation_id) WHERE damage IS NOT NULL;
CREATE INDEX indexed_document_document ON indexed_document (document_id);
CREATE INDEX indexed_document_published ON indexed_document (generation_id, published_at);
CREATE INDEX indexed_document_uncovered ON indexed_document (generation_id) WHERE uncovered > 0;

-- The lasting name of a passage: its document, and the first half of the hash that is its identity within it.
CREATE FUNCTION passage_id(document_id bigint, hash bytea) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN document_id || '-' || encode(substr(hash, 1, 8), 'hex');

-- Published passages with their documents, by the ids of their chunks. One plan is made per session: a page reads few
-- rows of three tables with twenty indexes, and planning it each time took four times as long as running it. Tables may
-- grow before they are analysed, so no plan of a session that began with empty ones may scan them.
-- Volatile, so that it reads as of now: a stable one that waits for the end of a restore would read the new tables as of
-- the moment before, when they were not there.
CREATE FUNCTION passages_of(chunks bigint[]) RETURNS TABLE (
    chunk_id bigint, generation_id bigint, document_id bigint, collection text, uri text, title text, language text,
    version integer, kind text, media_type text, tags text[], metadata jsonb, link text, heading_path text[],
    anchor text, page integer, start_char integer, end_char integer, start_seconds double precision,
    end_seconds double precision, ordinal integer, text text, sections jsonb, passage_id text, tokens integer,
    total_chunks integer, created_at timestamptz, updated_at timestamptz, indexed_at timestamptz)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT chunk.id, chunk.generation_id, document.id, document.collection, document.uri,
           coalesce(document.given_title, indexed.published_title), indexed.published_language, indexed.published_version,
           document.kind, document.media_type, document.tags, document.metadata,
           CASE WHEN starts_with(document.uri, 'git+') OR starts_with(document.uri, 'record://')
                  OR EXISTS (SELECT FROM source WHERE id = document.source_id AND web_view IS NOT NULL)
               THEN link_of(document.uri, document.source_id, document.metadata) END,
           chunk.heading_path, chunk.anchor, chunk.page, chunk.start_char, chunk.end_char,
           chunk.start_seconds, chunk.end_seconds, chunk.ordinal, chunk.text, chunk.parts,
           passage_id(document.id, chunk.hash), chunk.token_count, indexed.published_chunks, document.created_at,
           document.updated_at, indexed.published_at
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
    vector halfvec,                    -- NULL where the chunk has no embedding_hash, or while its document awaits_vectors
    lexemes tsvector NOT NULL,
    configuration text NOT NULL DEFAULT 'simple',  -- text-search configuration that the lexemes were made with
    in_graph boolean NOT NULL DEFAULT true,  -- false: not in the HNSW index yet, compared exactly until index_upkeep enters it
    PRIMARY KEY (generation_id, chunk_id)
) PARTITION BY LIST (generation_id);
ALTER TABLE search_entry ALTER COLUMN vector SET STORAGE PLAIN;
CREATE INDEX search_entry_document ON search_entry (generation_id, document_id) INCLUDE (chunk_id);
CREATE INDEX search_entry_chunk ON search_entry (chunk_id) INCLUDE (generation_id, document_id);
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
-- of its position is held, or where it is a further one of words.
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
        SELECT known.name, lexeme AS token, place, is_further
        FROM known CROSS JOIN LATERAL query_lexemes(known.name::regconfig, content)
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
    WHERE word.stopped * 2 <= every.entries
      AND (lexeme_read.ids <> '{}' OR held = 0 AND (NOT is_further OR NOT EXISTS (SELECT FROM reading WHERE NOT is_further)))
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
    count_id integer NOT NULL DEFAULT 0,  -- audience_count of those who see it; 0: everyone does, -1: nobody
    PRIMARY KEY (generation_id, chunk_id)
) PARTITION BY LIST (generation_id);
ALTER TABLE keyword_entry ALTER COLUMN weights SET STORAGE EXTERNAL;
CREATE INDEX keyword_entry_loose ON keyword_entry (generation_id, chunk_id) WHERE block IS NULL;
CREATE UNIQUE INDEX keyword_entry_slot ON keyword_entry (generation_id, block, slot) INCLUDE (chunk_id, count_id)
    WHERE block IS NOT NULL;

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

-- A score for each of the 8,000 entries of a block, all equal: joined from a short vector, as an array of 8,000 numbers
-- takes eight times as long to become one.
CREATE FUNCTION equal_scores(score real) RETURNS vector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    scores vector := array_fill(score, ARRAY[125])::vector(125);
BEGIN
    FOR doubling IN 1..6 LOOP
        scores := scores || scores;
    END LOOP;
    RETURN scores;
END
$$;

-- The entries in blocks with the highest scores: every entry with at least the score of the one at rank `depth`, and
-- some more: of those that stand under some counts, where these are given. A lexeme of a block is added to the scores of its 8,000 entries as one vector, scaled by its idf; then the
-- function searches for the highest score that enough entries reach, with bit strings of the entries above it. Scores
-- here are sums of 4-byte floats: the caller computes them again, and the threshold is slightly lower to allow for
-- rounding.
--
-- The shape of the statements keeps the planner from three costs that grow with the blocks: OFFSET 0 from making a scale
-- for each block, unnest in the list of columns from storing all scores at each step, LIMIT 1 from reading whole blocks
-- to find some slots. The scores take 4 bytes an entry, which work_mem has to hold: else they go through a file.
CREATE FUNCTION block_candidates(of_generation bigint, lexeme_ids integer[], idfs real[], depth integer,
                                 further integer DEFAULT NULL, counts integer[] DEFAULT NULL)
RETURNS TABLE (chunk_id bigint)
LANGUAGE plpgsql STABLE SET search_path = sourcebook, public SET work_mem = '256MB'
AS $$
DECLARE
    blocks integer[];
    scores vector[];
    sample vector[];
    wanted bigint := coalesce(further, depth);  -- so many of all are looked at first for `depth` under these counts
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
            SELECT id, equal_scores(idf) AS scale
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
            cut := equal_scores(middle);
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
        cut := equal_scores(low * 0.99999::real);
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
              AND (counts IS NULL OR held_entry.count_id = ANY(counts))
            LIMIT 1
        ) entry
        WHERE reached.place < reached.places;
        GET DIAGNOSTICS live = ROW_COUNT;
        EXIT WHEN live >= depth OR low = 0;
        -- Some were of entries that are gone, or under other counts.
        wanted := wanted * 4;
    END LOOP;
END
$$;

-- Search: BM25 whose statistics follow what is published, and words of any language.

-- The moment that a text names in ISO 8601, from a lone year to a time with zone (UTC where it has none): the first
-- moment of what it names. NULL for any other text, and for dates that no calendar has.
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

-- A document's own date: the first of these keys of its metadata that holds one.
CREATE FUNCTION own_date(metadata jsonb) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN coalesce(moment(metadata ->> 'date'), moment(metadata ->> 'published'), moment(metadata ->> 'sent'),
    moment(metadata ->> 'created'), moment(metadata ->> 'modified'), moment(metadata ->> 'updated'),
    moment(metadata ->> 'lastmod'));

ALTER TABLE document ADD COLUMN dated_at timestamptz GENERATED ALWAYS AS (own_date(metadata)) STORED;
CREATE INDEX document_dated_at ON document (dated_at);
CREATE INDEX document_tags ON document USING gin (tags);
CREATE INDEX document_metadata ON document USING gin (metadata jsonb_path_ops);
CREATE INDEX document_uri ON document (uri text_pattern_ops);

ALTER TABLE generation ADD COLUMN entry_count bigint NOT NULL DEFAULT 0;  -- of the keyword leg: entries, and their length in lexemes
ALTER TABLE generation ADD COLUMN total_length bigint NOT NULL DEFAULT 0;
ALTER TABLE generation ADD COLUMN average_length real;  -- that keyword_entry.weights were computed with
ALTER TABLE generation ADD COLUMN averaged_entries bigint;  -- of how many entries that was the average

ALTER TABLE generation DROP COLUMN configurations;
ALTER TABLE search_entry ADD COLUMN configuration text NOT NULL DEFAULT 'simple';  -- text-search configuration of the lexemes

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

-- What a text is found by: its lexemes in the text-search configuration of its language. Before, what is another way to
-- write a letter becomes that letter (NFKC: ligatures, full-width letters, loose accents) and what nobody sees goes (soft
-- hyphens, spaces of no width); behind the stemmer, which may need them, accents are folded. Where letters with marks are
-- letters of their own, they stay.
CREATE FUNCTION search_lexemes(configuration regconfig, content text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    found tsvector;
BEGIN
    IF content ~ '[^\x01-\x7f]' THEN
        content := paired_letters(translate(normalize(content, NFKC), U&'\00AD\200B\2060\FEFF', ''));
        IF configuration::text IN ('english', 'simple') THEN  -- whose stemmers know no accents: `résumé` is `resume`
            content := without_accents(content);
        END IF;
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

-- What an entry is found by: its document's title (weight A), the headings above it (B), its text.
CREATE FUNCTION entry_lexemes(configuration regconfig, title text, heading_path text[], content text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN setweight(search_lexemes(configuration, coalesce(title, '')), 'A')
    || setweight(search_lexemes(configuration, array_to_string(heading_path, ' ')), 'B')
    || search_lexemes(configuration, content);

-- How many words a text has, those that repeat counted.
CREATE FUNCTION keyword_length(lexemes tsvector) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (SELECT coalesce(sum(cardinality(positions)), 0) FROM unnest(lexemes));

-- The keyword leg. BM25 of an entry = sum over the query's lexemes of idf * weight (Robertson & Zaragoza 2009, k1 1.2,
-- b 0.75). The weight is the entry's alone: frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / average length)).
-- The idf is the query's: so a new document rewrites no old row. Triggers on search_entry keep all of this in the same
-- transaction.

-- How many entries of a generation were made with each text-search configuration.
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
    id integer GENERATED ALWAYS AS IDENTITY,  -- its place in keyword_entry.weights
    entries integer NOT NULL,          -- document frequency: how many entries hold it
    PRIMARY KEY (generation_id, token)
) WITH (fillfactor = 70);
-- What ends with a text: of compounds and of misspelt words.
CREATE INDEX lexeme_reversed ON lexeme (generation_id, reverse(token) COLLATE "C");

-- The lexemes of an entry as one vector. Entries that stand in a block are found there first.
CREATE TABLE keyword_entry (
    generation_id bigint NOT NULL,
    chunk_id bigint NOT NULL,
    length integer NOT NULL,           -- in lexemes, repetitions counted
    weights sparsevec NOT NULL,        -- lexeme id → weight
    block integer,                     -- NULL: in none yet
    slot integer,                      -- place in the block, counted from 1
    PRIMARY KEY (generation_id, chunk_id)
) PARTITION BY LIST (generation_id);
ALTER TABLE keyword_entry ALTER COLUMN weights SET STORAGE EXTERNAL;
CREATE INDEX keyword_entry_loose ON keyword_entry (generation_id, chunk_id) WHERE block IS NULL;
CREATE UNIQUE INDEX keyword_entry_slot ON keyword_entry (generation_id, block, slot) WHERE block IS NOT NULL;

-- The other way round, of 8,000 entries at a time: which of them hold a lexeme, with what weight. Never changed; an entry
-- that is gone leaves its slot empty.
CREATE TABLE keyword_block (
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    lexeme_id integer NOT NULL,
    block integer NOT NULL,
    weights sparsevec(8000) NOT NULL,  -- slot → weight
    PRIMARY KEY (generation_id, lexeme_id, block)
);
ALTER TABLE keyword_block ALTER COLUMN weights SET STORAGE EXTERNAL;

-- The weight of each lexeme in entries of a generation.
CREATE FUNCTION keyword_postings(of_generation bigint, chunks bigint[])
RETURNS TABLE (chunk_id bigint, length integer, lexeme_id integer, weight real)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT word.chunk_id, word.length, lexeme.id,
           (word.frequency * 2.2 / (word.frequency + 1.2 * (0.25 + 0.75 * word.length / generation.average_length)))::real
    FROM (
        SELECT entry.chunk_id, word.lexeme, cardinality(word.positions) AS frequency,
               (sum(cardinality(word.positions)) OVER (PARTITION BY entry.chunk_id))::integer AS length
        FROM search_entry entry CROSS JOIN LATERAL unnest(entry.lexemes) AS word
        WHERE entry.generation_id = of_generation AND entry.chunk_id = ANY(chunks)
    ) word
    JOIN generation ON generation.id = of_generation
    JOIN lexeme ON lexeme.generation_id = of_generation AND lexeme.token = word.lexeme;
END;

-- The same, one row an entry.
CREATE FUNCTION keyword_weights(of_generation bigint, chunks bigint[])
RETURNS TABLE (chunk_id bigint, length integer, weights sparsevec)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT posting.chunk_id, min(posting.length),
           ('{' || string_agg(posting.lexeme_id || ':' || posting.weight, ',') || '}/1000000000')::sparsevec
    FROM keyword_postings(of_generation, chunks) AS posting
    GROUP BY posting.chunk_id;
END;

-- What is known of words follows what is published, in the same transaction, whatever publishes or removes it.
CREATE FUNCTION follow_search_entries() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    part record;
BEGIN
    -- The generation's row comes first: who holds it is alone with the rest, and so nobody waits in a circle.
    IF TG_OP <> 'INSERT' THEN
        UPDATE generation SET entry_count = entry_count - lost.entries, total_length = total_length - lost.length
        FROM (SELECT generation_id, count(*) AS entries, sum(keyword_length(lexemes)) AS length FROM gone GROUP BY 1) lost
        WHERE id = lost.generation_id;
        UPDATE lexeme SET entries = lexeme.entries - word.entries
        FROM (SELECT generation_id, word.lexeme AS token, count(*) AS entries
              FROM gone CROSS JOIN LATERAL unnest(lexemes) AS word GROUP BY 1, 2) word
        WHERE lexeme.generation_id = word.generation_id AND lexeme.token = word.token;
        UPDATE text_configuration known SET entries = known.entries - lost.entries
        FROM (SELECT generation_id, configuration, count(*) AS entries FROM gone GROUP BY 1, 2) lost
        WHERE known.generation_id = lost.generation_id AND known.name = lost.configuration;
        DELETE FROM keyword_entry USING gone
        WHERE keyword_entry.generation_id = gone.generation_id AND keyword_entry.chunk_id = gone.chunk_id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        UPDATE generation
        SET entry_count = entry_count + won.entries, total_length = total_length + won.length,
            average_length = coalesce(average_length, nullif(won.length, 0)::real / won.entries),
            averaged_entries = CASE WHEN average_length IS NULL THEN won.entries ELSE averaged_entries END
        FROM (SELECT generation_id, count(*) AS entries, sum(keyword_length(lexemes)) AS length FROM added GROUP BY 1) won
        WHERE id = won.generation_id;
        WITH word AS (
            SELECT generation_id, word.lexeme AS token, count(*) AS entries
            FROM added CROSS JOIN LATERAL unnest(lexemes) AS word GROUP BY 1, 2
        ), known AS (
            UPDATE lexeme SET entries = lexeme.entries + word.entries
            FROM word WHERE lexeme.generation_id = word.generation_id AND lexeme.token = word.token
        )
        INSERT INTO lexeme (generation_id, token, entries)
        SELECT generation_id, token, entries FROM word
        WHERE NOT EXISTS (
            SELECT FROM lexeme WHERE lexeme.generation_id = word.generation_id AND lexeme.token = word.token);
        INSERT INTO text_configuration AS known (generation_id, name, entries)
        SELECT generation_id, configuration, count(*) FROM added GROUP BY 1, 2
        ON CONFLICT (generation_id, name) DO UPDATE SET entries = known.entries + excluded.entries;
        FOR part IN SELECT generation_id, array_agg(chunk_id) AS chunks FROM added GROUP BY 1 LOOP
            INSERT INTO keyword_entry (generation_id, chunk_id, length, weights)
            SELECT part.generation_id, chunk_id, length, weights FROM keyword_weights(part.generation_id, part.chunks);
        END LOOP;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER entries_added AFTER INSERT ON search_entry REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION follow_search_entries();
CREATE TRIGGER entries_changed AFTER UPDATE ON search_entry REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION follow_search_entries();
CREATE TRIGGER entries_gone AFTER DELETE ON search_entry REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION follow_search_entries();

-- Adds up vectors: of a block, the scores of all its entries at once.
CREATE AGGREGATE vector_total (vector) (SFUNC = vector_add, STYPE = vector, PARALLEL = SAFE);

-- The entries in blocks that score highest: those with at least the score of the one at `depth`, and some more.
-- A lexeme of a block is added to the scores of its 8,000 entries as one vector, scaled by its idf; the score that enough
-- entries reach is searched for, counting in bits which ones exceed it. Scores here are sums of 4-byte floats: who
-- calls computes them anew, and for their rounding the line is drawn a little lower.
CREATE FUNCTION block_candidates(of_generation bigint, lexeme_ids integer[], idfs real[], depth integer)
RETURNS TABLE (chunk_id bigint)
LANGUAGE plpgsql STABLE SET search_path = sourcebook, public
AS $$
DECLARE
    blocks integer[];
    scores vector[];
    wanted bigint := depth;
    low real;
    high real;
    middle real;
    share float8;
    above bigint;
    above_low float8;
    above_high float8;
    cut vector;
    live integer;
BEGIN
    SELECT array_agg(part.block ORDER BY part.block), array_agg(part.scores ORDER BY part.block) INTO blocks, scores
    FROM (
        SELECT held.block, vector_total(held.weights::vector(8000) * term.scale) AS scores
        FROM (SELECT id, array_fill(idf, ARRAY[8000])::vector(8000) AS scale FROM unnest(lexeme_ids, idfs) AS given (id, idf)) term
        JOIN keyword_block held ON held.generation_id = of_generation AND held.lexeme_id = term.id
        GROUP BY held.block
    ) part;
    IF scores IS NULL THEN
        RETURN;
    END IF;
    LOOP
        low := 0;
        above_low := 8000.0 * cardinality(scores);
        high := 2.3 * (SELECT sum(idf) FROM unnest(idfs) AS idf);
        above_high := 0.5;
        FOR step IN 1..24 LOOP
            -- How many reach a score falls about exponentially with it; every third step halves, whatever it does.
            share := CASE WHEN step % 3 = 0 THEN 0.5 ELSE ln(above_low / (wanted * 1.2)) / ln(above_low / above_high) END;
            middle := low + (high - low) * least(greatest(share, 0.02), 0.98);
            cut := array_fill(middle, ARRAY[8000])::vector(8000);
            SELECT sum(bit_count(binary_quantize(held - cut))) INTO above FROM unnest(scores) AS held;
            IF above >= wanted THEN
                low := middle;
                above_low := above;
            ELSE
                high := middle;
                above_high := greatest(above, 0.5);
            END IF;
            EXIT WHEN above BETWEEN wanted AND wanted * 2;
        END LOOP;
        RETURN QUERY
        SELECT entry.chunk_id
        FROM unnest(blocks, scores) AS held (block, scores)
        CROSS JOIN LATERAL (
            SELECT (sum(length(gap) + 1) OVER (ORDER BY place))::integer AS slot, place, count(*) OVER () AS places
            FROM string_to_table(
                binary_quantize(held.scores - array_fill(low * 0.99999::real, ARRAY[8000])::vector(8000))::text, '1')
            WITH ORDINALITY AS gaps (gap, place)
        ) reached
        JOIN keyword_entry entry
            ON entry.generation_id = of_generation AND entry.block = held.block AND entry.slot = reached.slot
        WHERE reached.place < reached.places;
        GET DIAGNOSTICS live = ROW_COUNT;
        EXIT WHEN live >= depth OR low = 0;
        -- Some were of entries that are gone.
        wanted := wanted * 4;
    END LOOP;
END
$$;

-- What is searchable now is taken in with its words as they are found from now on.
DO $$
DECLARE
    made record;
BEGIN
    FOR made IN SELECT id FROM generation LOOP
        EXECUTE format('CREATE TABLE keyword_entry_%s PARTITION OF keyword_entry FOR VALUES IN (%s)', made.id, made.id);
    END LOOP;
END
$$;
UPDATE generation SET entry_count = held.entries, total_length = held.length  -- which the trigger takes away again
FROM (SELECT generation_id, count(*) AS entries, sum(keyword_length(lexemes)) AS length FROM search_entry GROUP BY 1) held
WHERE id = held.generation_id;
UPDATE search_entry entry
SET configuration = text_search_configuration(indexed.published_language)::text,
    lexemes = entry_lexemes(text_search_configuration(indexed.published_language), indexed.published_title, chunk.heading_path, chunk.text)
FROM chunk, indexed_document indexed
WHERE chunk.id = entry.chunk_id
  AND indexed.generation_id = entry.generation_id AND indexed.document_id = entry.document_id;

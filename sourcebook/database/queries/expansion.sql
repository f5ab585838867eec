-- name: lexemes_of_texts
-- Return the lexemes of texts in their order, in each of some text-search configurations.
-- They are those of lexemes_in_order, whose statements would be planned again at each call: ten times as long as this.
SELECT asked.text, (
    SELECT coalesce(string_agg(lexeme, ' ' ORDER BY place, lexeme), '')
    FROM unnest(stemmed(name, paired_letters(plain_words(in_one_spelling(name, translate(asked.text, '-‐‑', '   '))))))
        AS held (lexeme, positions, weights)
    CROSS JOIN unnest(positions) AS place)
FROM unnest(%(texts)s::text[]) AS asked (text)
CROSS JOIN unnest(%(configurations)s::text[]::regconfig[]) AS configuration (name);

-- name: explained_abbreviations
-- Return the abbreviations of some collections that a query has or spells out.
-- With each the number of documents that explain it, one of them, and whether the query spells it out; of the commonest,
-- the first 200 count. The lexemes of the query are those of lexemes_of_texts.
WITH read AS MATERIALIZED (
    SELECT ARRAY(
        SELECT lexeme
        FROM unnest(stemmed(name, paired_letters(plain_words(in_one_spelling(name, translate(%(text)s, '-‐‑', '   '))))))
            AS held (lexeme, positions, weights)
        CROSS JOIN unnest(positions) AS place
        ORDER BY place, lexeme LIMIT %(most)s) AS lexemes
    FROM unnest(%(configurations)s::text[]::regconfig[]) AS configuration (name)
), spelt AS MATERIALIZED (
    SELECT DISTINCT array_to_string(lexemes[first:first + further], ' ') AS sequence
    FROM read  -- arrays, of whose series the planner expects few: generate_series made it plan for millions of sequences
    CROSS JOIN unnest(lexemes) WITH ORDINALITY AS word (lexeme, first)
    JOIN unnest(%(further)s::integer[]) AS further ON first + further <= cardinality(lexemes)
)
SELECT collection, short, folded, lexemes, min(long), count(*), min(document_id), bool_or(is_spelt)
FROM (
    SELECT held.*, false AS is_spelt FROM unnest(%(words)s::text[]) AS word CROSS JOIN LATERAL (
        SELECT collection, short, folded, lexemes, long, document_id FROM document_abbreviation
        WHERE collection = ANY(%(collections)s) AND folded = word LIMIT 200) held
    UNION ALL
    SELECT held.*, true FROM spelt CROSS JOIN LATERAL (
        SELECT collection, short, folded, lexemes, long, document_id FROM document_abbreviation
        WHERE collection = ANY(%(collections)s) AND lexemes = sequence LIMIT 200) held
) explained
GROUP BY collection, short, folded, lexemes
ORDER BY count(*) DESC, short, lexemes;

-- name: explaining_documents
-- Return title and URI of documents that explain abbreviations.
SELECT id, coalesce(title, ''), uri FROM document WHERE id = ANY(%(documents)s::bigint[]);

-- name: holds_letters
-- Return a row where an entry holds letters side by side, as `R & D`, and not as the name that joins them.
SELECT 1
FROM (SELECT string_agg(quoted_lexeme(letter), ' <-> ' ORDER BY place) AS run
      FROM unnest(%(letters)s::text[]) WITH ORDINALITY AS held (letter, place)) beside
WHERE EXISTS (
    SELECT FROM search_entry entry
    WHERE entry.generation_id = ANY(%(generations)s)
      AND entry.lexemes @@ ('(' || run || ') & !' || quoted_lexeme(%(name)s))::tsquery);

-- name: lexemes_of_texts
-- Return the lexemes of texts in their order, in each of some text-search configurations.
SELECT text, lexemes_in_order(configuration::regconfig, text)
FROM unnest(%(texts)s::text[]) AS text CROSS JOIN unnest(%(configurations)s::text[]) AS configuration;

-- name: explained_abbreviations
-- Return the abbreviations of some collections that a query has or spells out.
-- With each the number of documents that explain it, and one of them; of the commonest, the first 200 count.
SELECT collection, short, folded, lexemes, min(long), count(*), min(document_id)
FROM (
    SELECT held.* FROM unnest(%(words)s::text[]) AS word CROSS JOIN LATERAL (
        SELECT collection, short, folded, lexemes, long, document_id FROM document_abbreviation
        WHERE collection = ANY(%(collections)s) AND folded = word LIMIT 200) held
    UNION ALL
    SELECT held.* FROM unnest(%(sequences)s::text[]) AS sequence CROSS JOIN LATERAL (
        SELECT collection, short, folded, lexemes, long, document_id FROM document_abbreviation
        WHERE collection = ANY(%(collections)s) AND lexemes = sequence LIMIT 200) held
) explained
GROUP BY collection, short, folded, lexemes
ORDER BY count(*) DESC, short, lexemes;

-- name: explaining_documents
-- Return title and URI of documents that explain abbreviations.
SELECT id, coalesce(title, ''), uri FROM document WHERE id = ANY(%(documents)s::bigint[]);
